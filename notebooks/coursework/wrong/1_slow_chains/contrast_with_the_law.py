"""Compares each start with the stationary law.

caught by: sc-contrast-check
says: compare with the stationary law
"""


# %% sc-contrast
def contrast(P, k):
    return 0.5 * abs(np.linalg.matrix_power(P, k) - stationary_law(P)).sum(axis=1).max()
