"""Plain Python: loops, lists and floats; an array is made only where the question asks for one."""


# %% sc-stationary
def stationary_law(P):
    # elimination of states from the last to the first (Grassmann, Taksar and Heyman)
    A = [[float(value) for value in row] for row in P]
    n = len(A)
    for last in range(n - 1, 0, -1):
        leaving = sum(A[last][:last])
        for i in range(last):
            A[i][last] /= leaving
            for j in range(last):
                A[i][j] += A[i][last] * A[last][j]
    law = [1.0]
    for j in range(1, n):
        law.append(sum(law[i] * A[i][j] for i in range(j)))
    total = sum(law)
    return np.array([value / total for value in law])


# %% sc-distance
def times(A, B):
    """Product of two matrices."""
    columns = list(zip(*B))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in A]


def worst_row(A, law):
    """Largest total variation distance of a row to the law."""
    return max(sum(abs(a - p) for a, p in zip(row, law)) / 2 for row in A)


def distance(P, k):
    power = [[float(i == j) for j in range(len(P))] for i in range(len(P))]
    for _ in range(k):
        power = times(power, P)
    return float(worst_row(power, stationary_law(P)))


# %% sc-mixing-time
def mixing_time(P, delta):
    law, P = stationary_law(P).tolist(), P.tolist()
    power, k = P, 1
    while True:
        if worst_row(power, law) <= delta + 1e-12:
            return k
        power = times(power, P)
        k += 1


# %% sc-mixing-sum
def mixing_sum(P):
    law, P = stationary_law(P).tolist(), P.tolist()
    power, terms = P, []
    while not terms or terms[-1] > 1e-11:
        terms.append(worst_row(power, law))
        power = times(power, P)
    return sum(terms)


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    n, m = G.shape
    heaps = [[sum(row[: j + 1]) for j in range(n - 1)] for row in P.tolist()]
    counts = [0] * n
    for _ in range(replicates):
        state = i
        for u in rng.random(k).tolist():
            state = sum(u >= heap for heap in heaps[state])
        counts[state] += 1
    law = stationary_law(P)
    return [sum((counts[j] / replicates - law[j]) * G[j, c] for j in range(n)) for c in range(m)]


# %% sc-worst
def worst_case(P, k, M):
    law, n = stationary_law(P), len(P)
    best, answer = -1.0, None
    for i in range(n):
        row = [float(i == j) for j in range(n)]
        for _ in range(k):
            row = [sum(row[a] * P[a, b] for a in range(n)) for b in range(n)]
        size = sum(abs(row[j] - law[j]) for j in range(n))
        if size > best:
            best, answer = size, (i, np.array([M if row[j] > law[j] else -M for j in range(n)]))
    return answer


# %% sc-misleading
def misleading(C):
    e = 1 / (2 * C)
    return [[0, 1, 0], [e, 0, 1 - e], [0, e * (1 - e), 1 - e * (1 - e)]]
