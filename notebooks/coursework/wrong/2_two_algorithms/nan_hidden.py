"""Divides by a product that is 0 because alpha_1 = 1, and hides the NaN with nansum.

caught by: ta-gap-check
says: is a 0/0 hidden
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    left = np.cumprod(1 - np.asarray(alpha))
    with np.errstate(all="ignore"):
        weights = left[-1] / left
    difference = np.asarray(gamma) - beta
    return np.where(difference >= 0, 1.0, -1.0), np.nansum(weights * abs(difference))
