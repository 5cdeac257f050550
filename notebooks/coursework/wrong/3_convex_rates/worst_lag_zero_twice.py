"""Counts lag 0 twice.

caught by: cr-worst-check
says: how often does lag 0 count
"""


# %% cr-worst
def worst_price(chain):
    P, pi = chain.transition, chain.stationary
    root = np.sqrt(pi)
    form = root[:, None] * 2 * (np.linalg.inv(np.eye(len(pi)) - P + pi) - pi) / root
    return np.linalg.eigvalsh((form + form.T) / 2)[-1]
