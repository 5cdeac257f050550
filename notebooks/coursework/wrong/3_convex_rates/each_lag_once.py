"""Missing factor 2: takes each lag once.

caught by: cr-price-check
says: forwards and backwards
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = pi @ (noise * summed)
    r = np.asarray(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
