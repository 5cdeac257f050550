"""Uses alpha_k for alpha_{k+1}.

caught by: ta-disguise-check
says: your gamma has the wrong alpha
"""


# %% ta-disguise
def disguise(s, alpha, beta):
    return beta + (s - beta) / alpha[:-1]
