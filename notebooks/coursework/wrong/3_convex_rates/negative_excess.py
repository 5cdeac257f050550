"""Lets negative excesses lower the sum.

caught by: cr-factor-check
says: a negative excess must not lower
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1] + mu * k[:-1])
    return 2 / (k * (k + 1)) * np.cumsum(now - before)
