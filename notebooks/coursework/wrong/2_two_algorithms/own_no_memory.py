"""Chooses independent draws, whose mixing sum is 0.

caught by: ta-own-check
says: the mixing sum of your walk
"""


# %% ta-own
def constants(s):
    return 1.0, 3 * np.sqrt(3) / 16 * s


def own_problem():
    places = np.array([[0.0, 0.0], [1.0, 0.5], [6.0, 0.0], [5.0, 4.0], [0.0, 5.0]])
    n = len(places)
    return places, 1.0, np.full((n, n), 1 / n)
