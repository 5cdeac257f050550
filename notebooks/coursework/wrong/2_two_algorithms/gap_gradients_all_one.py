"""Has the right gap, and gradients that are all 1.

caught by: ta-gap-check
says: your gradients only reach
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = (1 - a) * gap + abs(g - b)
    return np.ones(len(alpha)), gap
