"""Takes the largest sum so far, not the sum of the positive parts.

caught by: cr-factor-hidden
"""


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    now = k / gamma
    before = np.append(0.0, now[:-1] + mu * k[:-1])
    return 2 / (k * (k + 1)) * np.maximum.accumulate(np.cumsum(now - before))
