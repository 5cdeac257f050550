"""Answers the second variants in plain loops, and finds the hitting times by elimination."""


# %% sc-hitting
def hitting_times(P, target):
    n = len(P)
    ways = [[float(P[i][j]) for j in range(n)] for i in range(n)]
    cost = [1.0] * n
    left = [i for i in range(n) if i != target]
    removed = []
    while left:  # a state that is taken out hands its ways and its cost to the others
        s = left.pop()
        leave = sum(ways[s][j] for j in [*left, target])
        for j in [*left, target]:
            ways[s][j] /= leave
        cost[s] /= leave
        removed.append((s, list(left)))
        for i in left:
            through = ways[i][s]
            cost[i] += through * cost[s]
            for j in [*left, target]:
                ways[i][j] += through * ways[s][j]
    times = [0.0] * n
    for s, others in reversed(removed):
        times[s] = cost[s] + sum(ways[s][j] * times[j] for j in others)
    return times


# %% sc-contrast
def contrast(P, k):
    laws = np.eye(len(P))
    for _ in range(k):
        laws = laws @ P
    largest = 0.0
    for a in laws:
        for b in laws:
            largest = max(largest, sum(max(x - y, 0.0) for x, y in zip(a, b)))
    return largest


# %% sc-forgetting
def forgetting_time(P, start, delta):
    law, final = list(start), stationary_law(P)
    steps = 0
    while sum(abs(a - b) for a, b in zip(law, final)) / 2 > delta + 1e-12:
        law = [sum(law[i] * P[i][j] for i in range(len(law))) for j in range(len(law))]
        steps += 1
    return float(steps)


# %% sc-parting
def parting_sum(P, i, j):
    one, other = np.zeros(len(P)), np.zeros(len(P))
    one[i] = other[j] = 1.0
    total = 0.0
    for _ in range(6000):
        total += np.maximum(one - other, 0).sum()
        one, other = one @ P, other @ P
    return total


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    law = stationary_law(P)
    total = 0.0
    state = rng.choice(len(P), size=replicates, p=law / law.sum())
    first = state
    edges = np.cumsum(P, axis=1)
    for _ in range(k):
        state = (rng.random((replicates, 1)) >= edges[state, :-1]).sum(axis=1)
    for a, b in zip(first, state):
        total += g[a] * g[b]
    return total / replicates - sum(p * x for p, x in zip(law, g)) ** 2


# %% sc-mean-square
def worst_in_mean(P, k, M):
    law, power = stationary_law(P), np.linalg.matrix_power(P, k)
    best = (-1.0, 0, None)
    for i, row in enumerate(power):
        g = [(row[j] - law[j]) / law[j] for j in range(len(law))]
        size = sum(p * x * x for p, x in zip(law, g)) ** 0.5
        if size > best[0]:
            best = (size, i, [M * x / size for x in g])
    return best[1], best[2]


# %% sc-order
def to_order(law, T):
    n = len(law)
    leave = (1 - min(law)) / (T + 1 - min(law))
    return [[leave * law[j] + (1 - leave) * (i == j) for j in range(n)] for i in range(n)]
