"""Takes the root of a negative number where there is no promise.

caught by: ta-tolerance-check
says: where the bound is too large for each M
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = epsilon - gap / np.sqrt(K)
    with np.errstate(invalid="ignore"):
        return np.sqrt(left / bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain))
