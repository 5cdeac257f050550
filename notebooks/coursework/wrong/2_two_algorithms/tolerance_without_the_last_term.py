"""Leaves out the steps in which the chain is not yet mixed.

caught by: ta-tolerance-check
says: you left out the last term
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    tau = np.arange(1, 500)
    noise = L / np.sqrt(K) * (1.5 + 20 / 3 * (tau - 1)) + 2 * chain.tv_distance(tau)
    return np.sqrt(left / noise.min())
