"""Takes the gap at x_K.

caught by: cr-safe-check
says: the gap is taken at x_bar_K
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    way = sum(gamma)
    rest = D**2 - way * epsilon
    return (D - np.sqrt(rest)) / way if rest > 0 else np.inf
