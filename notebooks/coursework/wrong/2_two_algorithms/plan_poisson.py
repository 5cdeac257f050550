"""Uses Theorem 1'' for chains that it has not seen.

caught by: ta-plan-hidden
"""


# %% ta-plan
def plan(epsilon, L, M, gap, chain):
    d = chain.tv_distance(np.arange(1, 3000))

    def bound(K):
        if d[1] > 1e-12:
            return bounds.theorem1(K, L=L, M=M, initial_gap=gap, T=chain.mixing_sum)
        tau, beta = np.arange(1, 3000), K**-0.5
        waited = np.cumsum(np.append(0, d))[np.minimum(tau - 1, K)]
        noise = L * M**2 * beta * (3 / 2 + 20 / 3 * (tau - 1))
        return (gap / (beta * K) + noise + 2 * M**2 * d + 4 * M**2 / K * waited).min()

    low, high = 0, 1
    while bound(high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= epsilon else (middle, high)
    return high
