"""Off by one in k: gives the distance after k + 1 steps.

caught by: sc-distance-check
says: distance after k + 1 steps
"""


# %% sc-distance
def distance(P, k):
    difference = np.linalg.matrix_power(P, k + 1) - stationary_law(P)
    return 0.5 * abs(difference).sum(axis=1).max()
