"""Forgets mu in the excess.

caught by: cr-factor-check
says: your excess does not use mu
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1])
    return 2 / (k * (k + 1)) * np.cumsum(np.maximum(now - before, 0))
