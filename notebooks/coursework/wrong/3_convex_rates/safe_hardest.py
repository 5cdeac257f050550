"""Gives the hardest slope where all lines are safe.

caught by: cr-safe-check
says: leaves no gap above 2
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    return (D - np.sqrt(max(D**2 - mean_way * epsilon, 0))) / mean_way
