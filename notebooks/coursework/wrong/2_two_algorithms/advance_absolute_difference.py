"""Takes for granted that gamma is larger than beta.

caught by: ta-advance-hidden
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + (1 - alpha) * e)
    return x - gamma * G, (1 - alpha) * e + abs(gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
