"""Gives the wanted steps themselves.

caught by: ta-disguise-check
says: you give s itself
"""


# %% ta-disguise
def disguise(s, alpha, beta):
    return np.array(s)
