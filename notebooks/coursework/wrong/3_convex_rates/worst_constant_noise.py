"""Allows noise that is the same in all states.

caught by: cr-worst-check
says: noise that is the same in all states
"""


# %% cr-worst
def worst_price(chain):
    P, pi = chain.transition, chain.stationary
    root = np.sqrt(pi)
    form = root[:, None] * (2 * np.linalg.inv(np.eye(len(pi)) - P + pi) - np.eye(len(pi))) / root
    return np.linalg.eigvalsh((form + form.T) / 2)[-1]
