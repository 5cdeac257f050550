"""Ignores the size of the interval.

caught by: cr-slope-check
says: does not use D
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    mean_way = 2 * (k * np.cumsum(gamma)).sum() / (len(k) * (len(k) + 1))
    return 1 / mean_way
