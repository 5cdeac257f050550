"""Maximises the gap of x_K, not of x_bar_K.

caught by: cr-slope-check
says: you make x_K hard to move
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.sum(gamma)
    return D / mean_way
