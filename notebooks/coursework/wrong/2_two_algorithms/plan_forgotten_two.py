"""Missing factor 2: has M^2 delta for the bias that is left.

caught by: ta-plan-hidden
"""


# %% ta-plan
def plan(epsilon, L, M, gap, chain):
    d = chain.tv_distance(np.arange(1, 3000))

    def bound(K):
        tau, beta = np.arange(1, 3000), K**-0.5
        waited = np.cumsum(np.append(0, d))[np.minimum(tau - 1, K)]
        noise = L * M**2 * beta * (3 / 2 + 20 / 3 * (tau - 1))
        return (gap / (beta * K) + noise + M**2 * d + 4 * M**2 / K * waited).min()

    low, high = 0, 1
    while bound(high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= epsilon else (middle, high)
    return high
