"""Looks at tau = 1 and tau = 2 only, which is enough for the chain of two coins.

caught by: ta-tolerance-hidden
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    tau = np.array([1, 2])
    early = np.array([0.0, chain.tv_distance(1)])
    noise = L / np.sqrt(K) * (1.5 + 20 / 3 * (tau - 1)) + 2 * chain.tv_distance(tau) + 4 / K * early
    return np.sqrt(left / noise.min())
