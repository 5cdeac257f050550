"""Gives x_bar first and y second.

caught by: ta-advance-check
says: read_points gives y first
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + (1 - alpha) * e)
    return x - gamma * G, (1 - alpha) * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + e, x + (1 - alpha_next) * e
