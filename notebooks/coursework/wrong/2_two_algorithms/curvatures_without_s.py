"""Takes s for 1.

caught by: ta-curvatures-check
says: your curvatures do not scale
"""


# %% ta-curvatures
def curvatures(r, s):
    return (1 - 3 * r**2) / (1 + r**2) ** 3, 1 / (1 + r**2) ** 2


def lonely_problem():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0, sticky([0.8, 0.1, 0.1], 0.2).transition
