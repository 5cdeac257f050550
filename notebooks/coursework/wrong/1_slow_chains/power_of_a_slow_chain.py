"""Takes a row of P^1000 for the stationary law, which a slow chain has not reached.

caught by: sc-stationary-hidden
"""


# %% sc-stationary
def stationary_law(P):
    return np.linalg.matrix_power(P, 1000)[0]
