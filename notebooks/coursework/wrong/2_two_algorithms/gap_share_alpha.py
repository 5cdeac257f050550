"""Keeps the share alpha of the gap.

caught by: ta-gap-check
says: keeps the share alpha
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = a * gap + abs(g - b)
    return np.where(np.asarray(gamma) >= beta, 1.0, -1.0), gap
