"""Doubles K until the gap is small.

caught by: cr-horizon-check
says: you double, and do not look in between
"""


# %% cr-horizon
def horizon(p, level):
    K = 1
    while hard_slope(np.arange(1.0, K + 1) ** p / 4, 1.0) > level:
        K *= 2
    return K
