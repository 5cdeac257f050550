"""Pushes the buffer by beta - gamma.

caught by: ta-update-check
says: gradient with the wrong sign
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = (1 - alpha) * e + (beta - gamma) * G
    return y - beta * G - alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
