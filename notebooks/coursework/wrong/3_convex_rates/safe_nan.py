"""Takes the root of a negative number where all lines are safe.

caught by: cr-safe-check
says: where all lines are safe
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    with np.errstate(invalid="ignore"):
        return (D - np.sqrt(D**2 - mean_way * epsilon)) / mean_way
