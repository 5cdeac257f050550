"""Adds up the differences and then takes the distance.

caught by: sc-parting-check
says: a distance is never negative
"""


# %% sc-parting
def parting_sum(P, i, j):
    law = stationary_law(P)
    Z = np.linalg.inv(np.eye(len(P)) - P + law)
    return 0.5 * abs(Z[i] - Z[j]).sum()
