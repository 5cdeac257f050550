"""Counts the last step only.

caught by: ta-gap-check
says: counts the last step only
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = abs(g - b)
    return np.where(np.asarray(gamma) >= beta, 1.0, -1.0), gap
