"""Multiplies each excess by its own Gamma_t.

caught by: cr-factor-check
says: by its own Gamma_t
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1] + mu * k[:-1])
    return np.cumsum(2 / (k * (k + 1)) * np.maximum(now - before, 0))
