"""Gives a slow chain: C* is large because T is.

caught by: sc-misleading-check
says: forgets too slowly
"""


# %% sc-misleading
def misleading(C):
    return (1 - 1 / C) * np.eye(3) + np.full((3, 3), 1 / (3 * C))
