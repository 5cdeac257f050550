"""Gives independent draws with a rare state, whose C* is small.

caught by: sc-misleading-check
says: is only
"""


# %% sc-misleading
def misleading(C):
    return np.tile([1 / C, 1 / C, 1 - 2 / C], (3, 1))
