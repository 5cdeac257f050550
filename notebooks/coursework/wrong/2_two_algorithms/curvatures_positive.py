"""Gives the size of the curvature along the ray.

caught by: ta-curvatures-check
says: the cost bends downwards along the ray
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    return abs(1 - 3 * square) / (1 + square) ** 3, 1 / (1 + square) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
