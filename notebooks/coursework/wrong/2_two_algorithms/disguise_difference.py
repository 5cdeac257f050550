"""Gives gamma minus beta.

caught by: ta-disguise-check
says: where s is beta the buffer must get nothing
"""


# %% ta-disguise
def disguise(s, alpha, beta):
    return (s - beta) / alpha[1:]
