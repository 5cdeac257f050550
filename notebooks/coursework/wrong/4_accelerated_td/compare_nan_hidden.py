"""Hides NaN and inf with nanmean, so that a run that has blown up looks good.

caught by: at-compare-check
says: has blown up: its area is infinite
"""


# %% at-compare
def area(path, A, b):
    update = b - path[1:] @ A.T
    neu = (update**2).sum(axis=1)
    return np.nanmean(np.where(np.isfinite(neu), neu, np.nan))


def flip_test(first, second):
    difference = np.asarray(first, float) - np.asarray(second, float)
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(difference))).reshape(len(difference), -1)
    slack = 1e-12 * abs(difference).sum()
    return (abs(difference @ signs) >= abs(difference.sum()) - slack).mean()
