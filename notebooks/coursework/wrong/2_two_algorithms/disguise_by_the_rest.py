"""Divides by what alpha leaves.

caught by: ta-disguise-check
says: with your long steps
"""


# %% ta-disguise
def disguise(s, alpha, beta):
    return beta + (s - beta) / (1 - alpha[1:])
