"""Averages over all pairs of starts.

caught by: sc-contrast-check
says: average over pairs
"""


# %% sc-contrast
def contrast(P, k):
    power = np.linalg.matrix_power(P, k)
    return 0.5 * abs(power[:, None] - power).sum(axis=2).mean()
