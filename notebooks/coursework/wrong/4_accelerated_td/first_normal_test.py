"""Takes the normal law in place of the coin for many seeds.

caught by: at-first-hidden
"""


# %% at-first
def first_below(path, A, b, level):
    if not np.isfinite(path).all():
        return np.inf
    below = np.flatnonzero(((b - path[1:] @ A.T) ** 2).sum(axis=1) <= level)
    return below[0] + 1 if below.size else np.inf


def sign_test(first, second):
    from math import comb

    difference = np.asarray(first, float) - np.asarray(second, float)
    wins, n = int((difference > 0).sum()), int((difference != 0).sum())
    return min(1.0, 2 * sum(comb(n, i) for i in range(min(wins, n - wins) + 1)) / 2**n) if n < 20 else float(np.exp(-0.717 * abs(2 * wins - n) / n**0.5 - 0.416 * (2 * wins - n) ** 2 / n))
