"""Lets the gradient be M in the start and -M elsewhere.

caught by: sc-worst-hidden
"""


# %% sc-worst
def worst_case(P, k, M):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    start = int(abs(difference).sum(axis=1).argmax())
    return start, np.where(np.arange(len(P)) == start, M, -M)
