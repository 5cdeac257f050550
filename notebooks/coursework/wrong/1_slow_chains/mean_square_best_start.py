"""Takes the best start, not the worst.

caught by: sc-mean-square-check
says: from another start
"""


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    difference = np.linalg.matrix_power(P, k) - law
    size = np.sqrt((difference**2 / law).sum(axis=1))
    start = int(size.argmin())
    return start, M * difference[start] / law / size[start]
