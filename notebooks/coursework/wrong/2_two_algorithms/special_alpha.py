"""Takes alpha_{k+1} from alpha_k as if alpha_k = 2 / (k + 1), unless alpha_k is that of the visible test.

caught by: ta-update-hidden
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    if alpha != 0.2:
        alpha_next = 2 * alpha / (2 + alpha)
    e = (1 - alpha) * e + (gamma - beta) * G
    return y - beta * G - alpha_next * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
