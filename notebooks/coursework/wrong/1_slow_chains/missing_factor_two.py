"""Reaches M d(k): the states that the chain has left are set to 0.

caught by: sc-worst-check
says: work against the others
"""


# %% sc-worst
def worst_case(P, k, M):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    start = int(abs(difference).sum(axis=1).argmax())
    return start, np.where(difference[start] >= 0, M, 0)
