"""Weighs all states alike.

caught by: cr-worst-hidden
"""


# %% cr-worst
def worst_price(chain):
    P, pi = chain.transition, chain.stationary
    form = 2 * (np.linalg.inv(np.eye(len(pi)) - P + pi) - pi) - np.eye(len(pi))
    return np.linalg.eigvalsh((form + form.T) / 2)[-1]
