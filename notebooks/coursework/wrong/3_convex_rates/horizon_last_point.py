"""Takes the gap at x_K.

caught by: cr-horizon-check
says: your K is too small
"""


# %% cr-horizon
def horizon(p, level):
    K = 1
    while True:
        gamma = np.arange(1.0, K + 1) ** p / 4
        g = hard_slope(gamma, 1.0)
        if g * (2 - g * gamma.sum()) <= level:
            return K
        K += 1
