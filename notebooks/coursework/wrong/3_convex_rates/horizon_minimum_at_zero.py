"""Takes 0 for the least value of f.

caught by: cr-horizon-check
says: is your gap f(x_bar) alone
"""


# %% cr-horizon
def horizon(p, level):
    K = 1
    while True:
        k = np.arange(1.0, K + 1)
        g = hard_slope(k**p / 4, 1.0)
        if g * np.average(1 - g * np.cumsum(k**p / 4), weights=k) <= level:
            return K
        K += 1
