"""Computes the autocovariance.

caught by: sc-lag-check
says: do not compute it
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    law = stationary_law(P)
    return (law * g) @ np.linalg.matrix_power(P, k) @ g - (law @ g) ** 2
