"""Moves y along the buffer of the step before.

caught by: ta-update-check
says: moves along the old buffer
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    new = (1 - alpha) * e + (gamma - beta) * G
    return y - beta * G - alpha_next * e, new


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
