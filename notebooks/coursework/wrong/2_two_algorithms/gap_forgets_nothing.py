"""Adds up all differences of the steps.

caught by: ta-gap-check
says: forgets nothing
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = gap + abs(g - b)
    return np.where(np.asarray(gamma) >= beta, 1.0, -1.0), gap
