"""Gives the slope for the curvature across the ray.

caught by: ta-curvatures-check
says: across the ray you give the slope itself
"""


# %% ta-curvatures
def curvatures(r, s):
    square = r**2 / s**2
    return (1 - 3 * square) / (1 + square) ** 3, r / (1 + square) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
