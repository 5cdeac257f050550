"""Gives the sum of the excesses, without Gamma_k.

caught by: cr-factor-check
says: the factor Gamma_k is missing
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1] + mu * k[:-1])
    return np.cumsum(np.maximum(now - before, 0))
