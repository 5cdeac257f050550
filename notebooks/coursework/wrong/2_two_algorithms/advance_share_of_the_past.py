"""Keeps the share alpha of the buffer.

caught by: ta-advance-check
says: remembers the wrong share of the past
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + (1 - alpha) * e)
    return x - gamma * G, alpha * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
