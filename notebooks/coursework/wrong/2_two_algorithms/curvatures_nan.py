"""Divides the slope by a distance that may be 0.

caught by: ta-curvatures-check
says: what is its limit
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    with np.errstate(invalid="ignore"):
        return (1 - 3 * square) / (1 + square) ** 3, r / (1 + square) ** 2 / r


def lonely_problem():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
