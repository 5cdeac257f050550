"""Pushes the buffer by gamma, as if x_bar stood still.

caught by: ta-update-check
says: too much of the gradient
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = (1 - alpha) * e + gamma * G
    return y - beta * G - alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
