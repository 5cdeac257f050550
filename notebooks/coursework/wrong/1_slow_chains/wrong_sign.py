"""Gives the gradient with the opposite sign.

caught by: sc-worst-check
says: the wrong sign
"""


# %% sc-worst
def worst_case(P, k, M):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    start = int(abs(difference).sum(axis=1).argmax())
    return start, np.where(difference[start] >= 0, -M, M)
