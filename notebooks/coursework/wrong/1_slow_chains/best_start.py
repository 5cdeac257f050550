"""Takes the best start, not the worst.

caught by: sc-worst-check
says: another start has a larger bias
"""


# %% sc-worst
def worst_case(P, k, M):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    start = int(abs(difference).sum(axis=1).argmin())
    return start, np.where(difference[start] >= 0, M, -M)
