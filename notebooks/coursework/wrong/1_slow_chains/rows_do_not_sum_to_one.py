"""Forgets to put the rest of a row on the diagonal.

caught by: sc-misleading-check
says: are not laws
"""


# %% sc-misleading
def misleading(C):
    return np.array([[0, 1, 0], [1 / C, 0, 1 - 1 / C], [0, 1 / C, 1]])
