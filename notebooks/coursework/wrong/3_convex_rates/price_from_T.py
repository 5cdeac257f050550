"""Multiplies by 1 + 4 T.

caught by: cr-price-check
says: T adds absolute values
"""


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    summed = np.linalg.solve(np.eye(len(pi)) - P + pi, noise)
    variance = (1 + 4 * chain.mixing_sum) * (pi @ noise**2)
    r = np.asarray(a) / mu
    return (variance * 16 * r / (48 * r - 21)).sum() / mu
