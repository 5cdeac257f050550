"""Gives the relay of the book, which is not reversible.

caught by: sc-misleading-check
says: not reversible
"""


# %% sc-misleading
def misleading(C):
    return np.array([[0, 1, 0], [0, 0, 1], [1 / C, 0, 1 - 1 / C]])
