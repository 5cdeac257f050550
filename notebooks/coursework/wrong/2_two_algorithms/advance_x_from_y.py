"""Lets the long step start at y.

caught by: ta-advance-check
says: it starts at x_(k-1), not at y_k
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    y = x + (1 - alpha) * e
    G = gradient(y)
    return y - gamma * G, (1 - alpha) * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
