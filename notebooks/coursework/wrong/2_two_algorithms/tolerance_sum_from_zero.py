"""Begins the sum of the last term with d(0).

caught by: ta-tolerance-check
says: yours has d(0) in it
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    tau = np.arange(1, 500)
    early = np.append(0.0, np.cumsum(chain.tv_distance(tau - 1)))[np.minimum(tau, K)] * (tau > 1)
    noise = L / np.sqrt(K) * (1.5 + 20 / 3 * (tau - 1)) + 2 * chain.tv_distance(tau) + 4 / K * early
    return np.sqrt(left / noise.min())
