"""Lets x make the short step.

caught by: ta-advance-check
says: your x makes the short step
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + (1 - alpha) * e)
    return x - beta * G, (1 - alpha) * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
