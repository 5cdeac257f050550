"""Gives the same chain for each C.

caught by: sc-misleading-hidden
"""


# %% sc-misleading
def misleading(C):
    rare = 1 / 60
    back = rare * (1 - rare)
    return np.array([[0, 1, 0], [rare, 0, 1 - rare], [0, back, 1 - back]])
