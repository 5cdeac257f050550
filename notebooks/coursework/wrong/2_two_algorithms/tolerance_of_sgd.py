"""Uses the constants of SGD.

caught by: ta-tolerance-check
says: you use the constants of SGD
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    noise = bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain) - L / np.sqrt(K)
    return np.sqrt(left / noise)
