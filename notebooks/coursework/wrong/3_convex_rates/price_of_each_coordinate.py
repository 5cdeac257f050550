"""Does not sum over the coordinates.

caught by: cr-price-check
says: the price is one number
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = pi @ (noise * (2 * summed - noise))
    r = np.asarray(a) / mu
    return variance * 16 * r / (48 * r - 21) / mu
