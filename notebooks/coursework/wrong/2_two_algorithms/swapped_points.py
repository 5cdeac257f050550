"""Gives x_bar first and x second.

caught by: ta-update-check
says: yours are swapped
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = (1 - alpha) * e + (gamma - beta) * G
    return y - beta * G - alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar, x_bar - e
