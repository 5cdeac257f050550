"""Puts the factor 2 of the bound into the gradient.

caught by: sc-worst-check
says: no gradient may be longer
"""


# %% sc-worst
def worst_case(P, k, M):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    start = int(abs(difference).sum(axis=1).argmax())
    return start, np.where(difference[start] >= 0, 2 * M, -2 * M)
