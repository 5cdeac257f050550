"""Looks at sixty thousand slopes only, which is too coarse for flat lines.

caught by: cr-safe-hidden
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    mean_way = np.average(np.cumsum(gamma), weights=k)
    if epsilon > D**2 / mean_way:
        return np.inf
    slopes = np.linspace(0, D / mean_way, 60_001)
    return slopes[slopes * (2 * D - slopes * mean_way) <= epsilon * (1 + 1e-12)][-1]
