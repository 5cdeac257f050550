"""Counts lag 0 twice.

caught by: cr-price-check
says: how often does lag 0 count
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = 2 * pi @ (noise * summed)
    r = np.asarray(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
