"""Takes L / mu for the ratio of every coordinate.

caught by: cr-price-hidden
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = pi @ (noise * (2 * summed - noise))
    r = max(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
