"""Gives the bias the wrong sign.

caught by: sc-mean-square-check
says: the wrong sign
"""


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    difference = np.linalg.matrix_power(P, k) - law
    size = np.sqrt((difference**2 / law).sum(axis=1))
    start = int(size.argmax())
    return start, -M * difference[start] / law / size[start]
