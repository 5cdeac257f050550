"""Constant output: M does not depend on s.

caught by: ta-own-check
says: your M does not change
"""


# %% ta-own
def constants(s):
    return 1.0, 3 * np.sqrt(3) / 16


def own_problem():
    places = np.array([[0.0, 0.0], [1.0, 0.5], [6.0, 0.0], [5.0, 4.0], [0.0, 5.0]])
    n = len(places)
    return places, 1.0, sticky(np.full(n, 1 / n), 0.2).transition
