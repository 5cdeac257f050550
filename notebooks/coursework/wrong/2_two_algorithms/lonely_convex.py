"""Has its places so close that the function bends upwards at all of them.

caught by: ta-curvatures-check
says: how far must a place be from the others
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    return (1 - 3 * square) / (1 + square) ** 3, 1 / (1 + square) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
