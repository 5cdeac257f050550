"""Counts each lag once.

caught by: cr-worst-check
says: you took it once
"""


# %% cr-worst
def worst_price(chain):
    P, pi = chain.transition, chain.stationary
    root = np.sqrt(pi)
    form = root[:, None] * (np.linalg.inv(np.eye(len(pi)) - P + pi) - pi) / root
    return np.linalg.eigvalsh((form + form.T) / 2)[-1]
