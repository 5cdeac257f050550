"""Fixes delta at a millionth.

caught by: ta-tolerance-hidden
"""


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = max(epsilon - gap / np.sqrt(K), 0)
    far = np.append(chain.tv_distance(np.arange(1, 2000)), 0.0)
    tau = 1 + int((far <= 1e-6).argmax())
    noise = L / np.sqrt(K) * (1.5 + 20 / 3 * (tau - 1)) + 2 * far[tau - 1] + 4 / K * far[: min(tau - 1, K)].sum()
    return np.sqrt(left / noise)
