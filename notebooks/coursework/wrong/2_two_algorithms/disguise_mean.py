"""Gives the mean of s and beta that the optimizer would make of s.

caught by: ta-disguise-check
says: you mix s with beta
"""


# %% ta-disguise
def disguise(s, alpha, beta):
    return alpha[1:] * s + (1 - alpha[1:]) * beta
