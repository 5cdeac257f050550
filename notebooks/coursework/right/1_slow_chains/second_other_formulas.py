"""Answers the second variants with the fundamental matrix, with eigenvalues and with other chains."""


# %% sc-hitting
def hitting_times(P, target):
    speed = 1 - np.diag(P).min()  # a slow chain is made faster first, else digits are lost
    Q = np.asarray(P) / speed
    Q[np.diag_indices(len(P))] = 0
    Q[np.diag_indices(len(P))] = 1 - Q.sum(axis=1)
    law = np.linalg.solve(np.ones_like(Q) + np.eye(len(P)) - Q.T, np.ones(len(P)))
    Z = np.linalg.inv(np.eye(len(P)) - Q + law)
    return (Z[target, target] - Z[:, target]) / law[target] / speed


# %% sc-contrast
def contrast(P, k):
    power = np.linalg.matrix_power(P, k)
    return 1 - np.minimum(power[:, None], power[None]).sum(axis=2).min()


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final = stationary_law(P)

    def close(k):
        return 0.5 * abs(start @ np.linalg.matrix_power(P, k) - final).sum() <= delta + 1e-12

    if close(0):
        return 0
    low, high = 0, 1  # the distance never grows, so halving is allowed
    while not close(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if close(middle) else (middle, high)
    return np.int64(high)


# %% sc-parting
def parting_sum(P, i, j):
    values, vectors = np.linalg.eig(P.T)
    begin = np.linalg.solve(vectors, np.eye(len(P))[i] - np.eye(len(P))[j])
    t = np.arange(5000)
    rest = abs(values - 1) > 1e-12
    laws = (values[rest][None] ** t[:, None] * begin[rest]) @ vectors.T[rest]
    return 0.5 * abs(laws.real).sum()


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    law = stationary_law(P)
    counts = rng.multinomial(replicates, law / law.sum())
    total = 0.0
    for start, count in enumerate(counts):  # all chains with the same start move together
        places = np.zeros(len(P), int)
        places[start] = count
        for _ in range(k):
            places = rng.multinomial(places, P).sum(axis=0)
        total += g[start] * (places @ g)
    return total / replicates - (law @ g) ** 2


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law = stationary_law(P)
    root = np.sqrt(law)
    scaled = (np.linalg.matrix_power(P, k) - law) / root
    lengths = np.linalg.norm(scaled, axis=1)
    i = np.argmax(lengths)
    return i, M * scaled[i] / lengths[i] / root


# %% sc-order
def to_order(law, T):
    stay = T / (T + 1 - np.min(law))
    P = np.outer(np.ones(len(law)), law) * (1 - stay)
    P[np.diag_indices(len(law))] += stay
    return P
