"""Takes 0 for the minimum of the line.

caught by: cr-slope-check
says: the minimum of f is not 0
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    mean_way = 2 * (k * np.cumsum(gamma)).sum() / (len(k) * (len(k) + 1))
    return D / (2 * mean_way)
