"""Forgets the first term of the bound.

caught by: ta-tolerance-check
says: the first term of the bound does not depend on M
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    return np.sqrt(epsilon / bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain))
