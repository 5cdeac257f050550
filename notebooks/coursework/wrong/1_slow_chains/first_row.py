"""Gives the law after one step from state 0.

caught by: sc-stationary-check
says: changes in one step
"""


# %% sc-stationary
def stationary_law(P):
    return P[0]
