"""Takes M = s, a bound that no gradient reaches.

caught by: ta-own-check
says: no gradient comes near
"""


# %% ta-own
def constants(s):
    return 1.0, s


def own_problem():
    places = np.array([[0.0, 0.0], [1.0, 0.5], [6.0, 0.0], [5.0, 4.0], [0.0, 5.0]])
    n = len(places)
    return places, 1.0, sticky(np.full(n, 1 / n), 0.2).transition
