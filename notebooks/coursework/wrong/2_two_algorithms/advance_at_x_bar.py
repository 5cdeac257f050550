"""Takes the gradient at x_bar.

caught by: ta-advance-check
says: you take the gradient at x_bar
"""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = gradient(x + e)
    return x - gamma * G, (1 - alpha) * e + (gamma - beta) * G


def read_points(x, e, alpha_next):
    return x + (1 - alpha_next) * e, x + e
