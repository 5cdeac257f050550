"""Bounds the plain sum of the squares.

caught by: sc-mean-square-check
says: plain sum of the squares
"""


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    difference = np.linalg.matrix_power(P, k) - law
    size = np.sqrt((difference**2).sum(axis=1))
    start = int(size.argmax())
    return start, M * difference[start] / size[start]
