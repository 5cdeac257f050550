"""Gives the square of M.

caught by: ta-tolerance-check
says: you give the square of M
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    return left / bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain)
