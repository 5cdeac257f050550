"""Compares sums without allowing for rounding.

caught by: at-compare-hidden
"""


# %% at-compare
def area(path, A, b):
    if not np.isfinite(path).all():
        return np.inf
    update = b - path[1:] @ A.T
    return (update**2).sum(axis=1).mean()


def flip_test(first, second):
    difference = np.asarray(first, float) - np.asarray(second, float)
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(difference))).reshape(len(difference), -1)
    slack = 1e-12 * abs(difference).sum()
    return (abs(difference @ signs) >= abs(difference.sum())).mean()
