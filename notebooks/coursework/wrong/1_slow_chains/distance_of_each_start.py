"""Gives the distance of each start, not the worst one.

caught by: sc-distance-check
says: take the worst start
"""


# %% sc-distance
def distance(P, k):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    return 0.5 * abs(difference).sum(axis=1)
