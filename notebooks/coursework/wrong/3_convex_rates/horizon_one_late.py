"""Gives one step more than needed.

caught by: cr-horizon-check
says: your K is off by one
"""


# %% cr-horizon
def horizon(p, level):
    K = 1
    while hard_slope(np.arange(1.0, K + 1) ** p / 4, 1.0) > level:
        K += 1
    return K + 1
