"""Gives a high power of the matrix, not one of its rows.

caught by: sc-stationary-check
says: a law on 2 states has shape
"""


# %% sc-stationary
def stationary_law(P):
    return np.linalg.matrix_power(P, 1000)
