"""Takes 0 for the least value of f.

caught by: cr-safe-check
says: the minimum of f is not 0
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    rest = D**2 - 4 * mean_way * epsilon
    return (D - np.sqrt(rest)) / (2 * mean_way) if rest > 0 else np.inf
