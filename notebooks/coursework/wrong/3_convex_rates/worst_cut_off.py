"""Adds up the first thousand lags.

caught by: cr-worst-hidden
"""


# %% cr-worst
def worst_price(chain):
    P, pi = chain.transition - chain.stationary, chain.stationary
    root, lags, power = np.sqrt(pi), np.eye(len(pi)) - 2 * pi, np.eye(len(pi))
    for _ in range(1000):
        power = power @ P
        lags = lags + 2 * power
    form = root[:, None] * lags / root
    return np.linalg.eigvalsh((form + form.T) / 2)[-1]
