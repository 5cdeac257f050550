"""Takes the rarest state as the worst start, without a look at k.

caught by: sc-mean-square-hidden
"""


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    difference = np.linalg.matrix_power(P, k) - law
    start = int(law.argmin())
    ratio = difference[start] / law
    return start, M * ratio / np.sqrt(law @ ratio**2)
