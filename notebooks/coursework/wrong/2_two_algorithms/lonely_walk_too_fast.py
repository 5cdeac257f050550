"""Draws each place anew, so that the walk has no memory.

caught by: ta-curvatures-check
says: the mixing sum of your walk
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    return (1 - 3 * square) / (1 + square) ** 3, 1 / (1 + square) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0, np.tile([0.8, 0.1, 0.1], (3, 1))
