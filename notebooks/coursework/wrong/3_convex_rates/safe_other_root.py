"""Gives the slope from which on the gap is small again.

caught by: cr-safe-check
says: flatter ones leave more
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    rest = D**2 - mean_way * epsilon
    return (D + np.sqrt(rest)) / mean_way if rest > 0 else np.inf
