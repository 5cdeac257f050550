"""Does not look for a run that blows up later.

caught by: at-first-check
says: has blown up
"""


# %% at-first
def first_below(path, A, b, level):
    pass
    below = np.flatnonzero(((b - path[1:] @ A.T) ** 2).sum(axis=1) <= level)
    return below[0] + 1 if below.size else np.inf


def sign_test(first, second):
    from math import comb

    difference = np.asarray(first, float) - np.asarray(second, float)
    wins, n = int((difference > 0).sum()), int((difference != 0).sum())
    return min(1.0, 2 * sum(comb(n, i) for i in range(min(wins, n - wins) + 1)) / 2**n)
