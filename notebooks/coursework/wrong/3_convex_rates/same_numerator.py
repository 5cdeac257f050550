"""Has t, not t - 1, above gamma_{t-1}.

caught by: cr-factor-check
says: which numerator goes with
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, k[1:] / gamma[:-1] * (1 + mu * gamma[:-1]))
    return 2 / (k * (k + 1)) * np.cumsum(np.maximum(now - before, 0))
