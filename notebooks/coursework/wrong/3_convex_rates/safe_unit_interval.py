"""Takes D for 1.

caught by: cr-safe-check
says: your slope does not use D
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    rest = 1 - mean_way * epsilon
    return (1 - np.sqrt(rest)) / mean_way if rest > 0 else np.inf
