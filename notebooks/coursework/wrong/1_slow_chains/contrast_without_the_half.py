"""Forgets the factor 1/2 of total variation.

caught by: sc-contrast-check
says: twice as large
"""


# %% sc-contrast
def contrast(P, k):
    power = np.linalg.matrix_power(P, k)
    return abs(power[:, None] - power).sum(axis=2).max()
