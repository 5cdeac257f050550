"""Maximises the gap of the plain mean.

caught by: cr-slope-check
says: plain mean of the x_k: look
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.cumsum(gamma).mean()
    return D / mean_way
