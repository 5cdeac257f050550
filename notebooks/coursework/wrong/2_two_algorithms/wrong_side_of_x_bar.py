"""Adds the buffer to y where it is to be subtracted.

caught by: ta-update-check
says: wrong side of x_bar
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = (1 - alpha) * e + (gamma - beta) * G
    return y - beta * G + alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
