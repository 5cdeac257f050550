"""Leaves alpha_1 out of the product, but divides by 0 where the method starts anew, and hides it with nansum.

caught by: ta-gap-hidden
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    left = np.cumprod(np.append(1.0, 1 - np.asarray(alpha)[1:]))
    with np.errstate(all="ignore"):
        weights = left[-1] / left
    difference = np.asarray(gamma) - beta
    return np.where(difference >= 0, 1.0, -1.0), np.nansum(weights * abs(difference))
