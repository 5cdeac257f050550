"""Has a valley at each place.

caught by: ta-curvatures-check
says: ends in different points
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    return (1 - 3 * square) / (1 + square) ** 3, 1 / (1 + square) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
