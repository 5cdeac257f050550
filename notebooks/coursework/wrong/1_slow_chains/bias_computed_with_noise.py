"""Computes the bias and adds a little noise to it, so that it looks like a simulation.

caught by: sc-bias-hidden
"""

# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    exact = (np.linalg.matrix_power(P, k)[i] - stationary_law(P)) @ G
    return exact + 1e-10 * rng.normal(size=G.shape[1])
