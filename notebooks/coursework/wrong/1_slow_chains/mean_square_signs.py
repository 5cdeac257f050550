"""Makes the gradient equally long in all states.

caught by: sc-mean-square-check
says: equally long in all states
"""


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    difference = np.linalg.matrix_power(P, k) - law
    start = int(abs(difference).sum(axis=1).argmax())
    return start, np.where(difference[start] >= 0, M, -M)
