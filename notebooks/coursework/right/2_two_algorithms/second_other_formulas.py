"""Answers the second variants with stacked arrays, complex steps, halving and products."""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    G = np.asarray(gradient(x + e - alpha * e))
    return np.array([x, (1 - alpha) * e]) + np.multiply.outer([-gamma, gamma - beta], G)


def read_points(x, e, alpha_next):
    shares = np.array([1 - alpha_next, 1.0])
    return np.asarray(x) + np.multiply.outer(shares, e)


# %% ta-batches
def run_batches(gradient, states, rule, x0, batch):
    replicates, dim = x0.shape
    groups = np.reshape(states, (replicates, -1, batch))

    def mean_gradient(k):
        seen = groups[:, k - 1].ravel()
        return lambda y: gradient(np.repeat(y, batch, axis=0), seen).reshape(replicates, batch, dim).mean(axis=1)

    xs, es, ys = [np.array(x0)], [np.zeros_like(x0)], [np.array(x0)]
    for k in range(1, groups.shape[1] + 1):
        x, e = advance(xs[-1], es[-1], mean_gradient(k), rule.alpha(k), rule.beta(k), rule.gamma(k))
        xs.append(x)
        es.append(e)
        ys.append(read_points(x, e, rule.alpha(k + 1))[0])
    return np.stack([ys[:-1], xs[1:], np.add(xs, es)[1:]])


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    after = np.append(1.0, np.cumprod((1 - np.asarray(alpha))[:0:-1]))[::-1]
    weights = after * np.subtract(gamma, beta)
    _, sizes, directions = np.linalg.svd(weights[None])
    return directions[0], sizes[0]


# %% ta-disguise
def disguise(s, alpha, beta):
    return np.linalg.solve(np.diag(alpha[1:]), s - beta + alpha[1:] * beta)


# %% ta-audit
def audit(points, gradients, rule):
    K = len(gradients)
    _, x, x_bar = run(lambda y, k: gradients[k], np.arange(K)[None], rule, points[:1])
    after = rule.alpha(np.arange(2, K + 2))[:, None]
    wrong = (abs(x_bar[:, 0] + after * (x - x_bar)[:, 0] - points[1:]) > 1e-6).any(axis=1)
    return np.argmax(wrong) + 1 if wrong.any() else 0


# %% ta-curvatures
def curvatures(r, s):
    tiny = 1e-30
    r = np.asarray(r, dtype=complex)
    along = pull(np.stack([r + 1j * tiny, 0 * r], axis=-1), np.zeros(2), s)[..., 0]
    across = pull(np.stack([r, 0 * r + 1j * tiny], axis=-1), np.zeros(2), s)[..., 1]
    return along.imag / tiny, across.imag / tiny


def lonely_problem():
    line = np.column_stack([np.linspace(0, 1, 4), np.zeros(4)])
    return line, 0.9, sticky([0.85, 0.05, 0.05, 0.05], 0.1).transition


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    kept = lambda M: bounds.theorem1_lag(K, L=L, M=M, initial_gap=gap, chain=chain) <= epsilon
    if gap / np.sqrt(K) >= epsilon:
        return 0.0
    low, high = 0.0, 1.0
    while kept(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    edges = np.cumsum(P, axis=1)[:, :-1]
    state, seen = np.zeros(replicates, dtype=int), np.empty((replicates, K), dtype=int)
    for k in range(K):
        state = seen[:, k] = (rng.random((replicates, 1)) >= edges[state]).sum(axis=1)
    law = np.linalg.matrix_power(np.asarray(P) / 2 + np.eye(len(P)) / 2, 2**20)[0]

    def values(sizes):
        start = np.broadcast_to(x0, (replicates, 2))
        end = run(lambda x, xi: pull(x, places[xi], s), seen, sizes, start)[2][-1]
        return np.einsum("i,ri->r", law, cost(end[:, None, :], places, s))

    apart = np.subtract(values(rule), values(other))
    return np.mean(apart), np.sqrt(np.var(apart, ddof=1) / apart.size)
