"""Off by one in k: uses alpha_k in the look-ahead, not alpha_{k+1}.

caught by: ta-update-check
says: uses alpha_k where
"""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e = (1 - alpha) * e + (gamma - beta) * G
    return y - beta * G - alpha * e, e


def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    return x_bar - e, x_bar
