"""Computes the autocovariance and adds a little noise.

caught by: sc-lag-hidden
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    law = stationary_law(P)
    return (law * g) @ np.linalg.matrix_power(P, k) @ g - (law @ g) ** 2 + rng.normal(scale=1e-12)
