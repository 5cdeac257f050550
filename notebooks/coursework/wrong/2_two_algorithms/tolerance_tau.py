"""Counts tau steps where the theorem has tau - 1.

caught by: ta-tolerance-check
says: for independent samples tau is 1
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    noise = bounds.theorem1_lag(K, L=L, M=1.0, initial_gap=0.0, chain=chain) + 20 / 3 * L / np.sqrt(K)
    return np.sqrt(left / noise)
