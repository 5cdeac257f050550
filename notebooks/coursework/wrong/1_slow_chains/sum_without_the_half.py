"""Forgets the factor 1/2 in the sum only.

caught by: sc-mixing-sum-check
says: your sum is twice as large
"""


# %% sc-mixing-sum
def mixing_sum(P):
    law = stationary_law(P)
    powers = [np.linalg.matrix_power(P, t) for t in range(1, 300)]
    return sum(abs(power - law).sum(axis=1).max() for power in powers)
