"""Takes the plain mean of the x_k.

caught by: cr-safe-check
says: your x_bar is the plain mean
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    mean_way = np.cumsum(gamma).mean()
    rest = D**2 - mean_way * epsilon
    return (D - np.sqrt(rest)) / mean_way if rest > 0 else np.inf
