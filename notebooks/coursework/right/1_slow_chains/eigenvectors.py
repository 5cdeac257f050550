"""Takes the law from an eigenvector, powers from repeated squaring, and finds the mixing time by halving an interval."""


# %% sc-stationary
def stationary_law(P):
    values, vectors = np.linalg.eig(P.T)
    law = vectors[:, abs(values - 1).argmin()].real
    return law / law.sum()


# %% sc-distance
def distance(P, k):
    power, square = np.identity(len(P)), P
    while k > 0:
        if k % 2:
            power = power @ square
        square, k = square @ square, k // 2
    return max(np.maximum(row - stationary_law(P), 0).sum() for row in power)


# %% sc-mixing-time
def mixing_time(P, delta):
    low, high = 0, 1  # d never grows, so halving is allowed
    while distance(P, high) > delta + 1e-12:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if distance(P, middle) > delta + 1e-12:
            low = middle
        else:
            high = middle
    return high


# %% sc-mixing-sum
def mixing_sum(P):
    law, block = stationary_law(P), 64
    powers = [P]
    for _ in range(block - 1):
        powers.append(powers[-1] @ P)
    powers, jump, total = np.array(powers), powers[-1], 0.0
    while True:
        d = abs(powers - law).sum(axis=2).max(axis=1) / 2
        total += d.sum()
        if d[-1] < 1e-12:
            return np.float64(total)
        powers = powers @ jump


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    counts = np.zeros(len(P), dtype=int)
    counts[i] = replicates
    for _ in range(k):  # all chains in the same state move together
        counts = rng.multinomial(counts, P).sum(axis=0)
    return (counts / replicates - stationary_law(P)) @ G


# %% sc-worst
def worst_case(P, k, M):
    D = np.linalg.matrix_power(P, k) - np.outer(np.ones(len(P)), stationary_law(P))
    signs = np.where(D > 0, 1, -1)
    i = np.einsum("ij,ij->i", D, signs).argmax()
    return int(i), M * signs[i]


# %% sc-misleading
def misleading(C):
    # a walk on three places in a row with whole-number weights of the ways
    N = int(np.ceil(C))
    ways = np.array([[0, 1, 0], [1, 0, N], [0, N, N**2]])
    return ways / ways.sum(axis=1, keepdims=True)
