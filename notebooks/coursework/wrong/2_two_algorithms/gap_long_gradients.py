"""Takes the differences of the steps themselves for gradients.

caught by: ta-gap-check
says: no gradient may be longer
"""


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gap = 0.0
    for a, b, g in zip(alpha, beta, gamma):
        gap = (1 - a) * gap + abs(g - b)
    return np.asarray(gamma) - beta, gap
