"""Leaves out the excess of the first step.

caught by: cr-factor-check
says: the first step has an excess too
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(now[0], now[:-1] + mu * k[:-1])
    return 2 / (k * (k + 1)) * np.cumsum(np.maximum(now - before, 0))
