"""Forgets that gamma may be below beta.

caught by: ta-gap-check
says: works against himself
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = (1 - a) * gap + (g - b)
    return np.ones(len(alpha)), gap
