"""Forgets the factor 1/2 of total variation.

caught by: sc-distance-check
says: twice as large
"""


# %% sc-distance
def distance(P, k):
    return abs(np.linalg.matrix_power(P, k) - stationary_law(P)).sum(axis=1).max()
