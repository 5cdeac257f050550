"""Weighs all states alike, not by the stationary law.

caught by: cr-price-hidden
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = (noise * (2 * summed - noise)).mean(axis=0)
    r = np.asarray(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
