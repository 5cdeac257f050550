"""Adds 2000 lags whatever the chain.

caught by: cr-price-hidden
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, later, total = chain.transition, noise, noise
    for _ in range(2000):
        later = P @ later
        total = total + 2 * later
    variance = chain.stationary @ (noise * total)
    r = np.asarray(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
