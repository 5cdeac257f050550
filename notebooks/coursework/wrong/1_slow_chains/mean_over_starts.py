"""Takes the mean over the starts, not the worst start.

caught by: sc-distance-check
says: mean over the starts
"""


# %% sc-distance
def distance(P, k):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    return 0.5 * abs(difference).sum(axis=1).mean()
