"""Asks for the gradient twice.

caught by: ta-advance-check
says: your step asks for two gradients
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    y = x + (1 - alpha) * e
    return x - gamma * gradient(y), (1 - alpha) * e + (gamma - beta) * gradient(y)


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
