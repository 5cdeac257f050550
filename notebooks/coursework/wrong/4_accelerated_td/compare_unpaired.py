"""Mixes the seeds.

caught by: at-compare-check
says: you mix the seeds
"""


# %% at-compare
def area(path, A, b):
    if not np.isfinite(path).all():
        return np.inf
    update = b - path[1:] @ A.T
    return (update**2).sum(axis=1).mean()


def flip_test(first, second):
    from itertools import combinations

    both, half = np.append(first, second), len(first)
    sums = np.array([2 * both[list(c)].sum() - both.sum() for c in combinations(range(2 * half), half)])
    return (abs(sums) >= abs(np.sum(first) - np.sum(second)) - 1e-12).mean()
