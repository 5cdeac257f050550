"""Makes the line so steep that it is run down.

caught by: cr-slope-check
says: so steep that one step
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    mean_way = 2 * (k * np.cumsum(gamma)).sum() / (len(k) * (len(k) + 1))
    return 2 * D / mean_way
