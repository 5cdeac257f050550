"""Squares the lazy chain until it has forgotten its start, and works with rows of laws instead of powers."""


# %% sc-stationary
def stationary_law(P):
    power = (np.eye(len(P)) + P) / 2  # lazy: also right when P is periodic
    for _ in range(60):
        power = power @ power
        power = power / power.sum(axis=1, keepdims=True)
    return power.mean(axis=0)


# %% sc-distance
def half_l1(laws, law):
    """Total variation distance of each row."""
    return np.linalg.norm(laws - law, ord=1, axis=-1) / 2


def distance(P, k):
    laws = np.eye(len(P))
    for _ in range(k):
        laws = laws @ P
    return half_l1(laws, stationary_law(P)).max()


# %% sc-mixing-time
def mixing_time(P, delta):
    law, laws = stationary_law(P), np.eye(len(P))
    for k in range(1, 10**9):
        laws = laws @ P
        if np.all(half_l1(laws, law) <= delta + 1e-12):
            return np.int64(k)


# %% sc-mixing-sum
def mixing_sum(P):
    law = stationary_law(P)
    difference, total = P - law, 0.0
    for _ in range(10**6):
        term = half_l1(difference, 0).max()
        total += term
        if term <= 1e-9 * total or total < 1e-12:
            break
        difference = difference @ P
    return total


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    state = np.full(replicates, i)
    for _ in range(k):
        moved = np.empty_like(state)
        for s in range(len(P)):
            here = state == s
            moved[here] = rng.choice(len(P), size=here.sum(), p=P[s] / P[s].sum())
        state = moved
    return np.average(G[state] - np.average(G, axis=0, weights=stationary_law(P)), axis=0)


# %% sc-worst
def worst_case(P, k, M):
    laws = np.eye(len(P))
    for _ in range(k):
        laws = laws @ P
    law = stationary_law(P)
    start = np.argmax(half_l1(laws, law))
    return start, [M if p >= q else -M for p, q in zip(laws[start], law)]


# %% sc-misleading
def misleading(C):
    small = 0.9 / C
    law = np.array([small**2, small, 1 - small - small**2])
    flow = np.zeros((3, 3))  # flow[i, j] = law[i] * P[i, j] is symmetric
    flow[0, 1] = flow[1, 0] = law[0]
    flow[1, 2] = flow[2, 1] = law[1] - law[0]
    flow[2, 2] = law[2] - flow[2, 1]
    return flow / law[:, None]
