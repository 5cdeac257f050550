"""Off by one in k: uses Gamma_{k+1}.

caught by: cr-factor-check
says: is that of k + 1
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1] + mu * k[:-1])
    return 2 / ((k + 1) * (k + 2)) * np.cumsum(np.maximum(now - before, 0))
