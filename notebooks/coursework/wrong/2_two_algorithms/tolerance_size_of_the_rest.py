"""Takes the size of what is left, also where nothing is.

caught by: ta-tolerance-check
says: if the first term alone is larger than epsilon
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = abs(epsilon - gap / np.sqrt(K))
    return np.sqrt(left / bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain))
