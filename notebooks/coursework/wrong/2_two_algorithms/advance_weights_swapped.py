"""Swaps the weights of x and x_bar in y.

caught by: ta-advance-check
says: weights of x and x_bar swapped
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + alpha * e)
    return x - gamma * G, (1 - alpha) * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + alpha_next * e, x + e
