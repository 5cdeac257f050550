"""Keeps the share alpha of the buffer, not 1 - alpha.

caught by: ta-update-check
says: wrong share of the past
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = alpha * e + (gamma - beta) * G
    return y - beta * G - alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
