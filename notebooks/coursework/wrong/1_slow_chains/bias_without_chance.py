"""Computes the bias where a simulation is asked for.

caught by: sc-bias-check
says: estimate the bias by a simulation with rng
"""

# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    return (np.linalg.matrix_power(P, k)[i] - stationary_law(P)) @ G
