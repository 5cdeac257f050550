"""Goes back to the three sequences inside update, and measures numbers that others derive."""


# %% ta-update
def read_out(y, e, alpha_next):
    x_bar = y + alpha_next * e
    x = x_bar - e
    return x, x_bar


def update(y, e, G, alpha, beta, gamma, alpha_next):
    x, x_bar = read_out(y, e, alpha)
    x, x_bar = x - gamma * G, y - beta * G
    return (1 - alpha_next) * x_bar + alpha_next * x, x_bar - x


# %% ta-run
def run(gradient, states, rule, x0):
    rows = [[], [], []]
    y = np.copy(x0)
    e = np.zeros(y.shape)
    for k, xi in enumerate(states.T):
        sizes = [size(k + 1) for size in (rule.alpha, rule.beta, rule.gamma)]
        new_y, e = update(y, e, gradient(y, xi), *sizes, rule.alpha(k + 2))
        for row, part in zip(rows, (y, *read_out(new_y, e, rule.alpha(k + 2)))):
            row.append(part)
        y = new_y
    return np.array(rows)  # shape (3, K, replicates, d)


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    # e_K is linear in the gradients: run the recursion once for each of them
    influence = np.zeros(len(alpha))
    e = np.zeros(len(alpha))
    for k in range(len(alpha)):
        e = (1 - alpha[k]) * e + (gamma[k] - beta[k]) * (np.arange(len(alpha)) == k)
    influence += e
    G = np.ones(len(alpha))
    G[influence < 0] = -1
    return -G, G @ influence


# %% ta-secret
def secret_step(rule, k):
    optimizer = Accelerated([0.0], rule)
    optimizer.k = k - 1
    optimizer.step([1.0])
    return -optimizer.params[0]


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        if self.k == 0:
            self.x = [np.copy(p) for p in self.params]
        self.k += 1
        a, b, g = (size(self.k) for size in (self.rule.alpha, self.rule.beta, self.rule.gamma))
        after = self.rule.alpha(self.k + 1)
        x_bar = [p - b * grad for p, grad in zip(self.params, grads)]
        self.x = [x - g * grad for x, grad in zip(self.x, grads)]
        self.params = [(1 - after) * short + after * long for short, long in zip(x_bar, self.x)]
        self.buffers = [short - long for short, long in zip(x_bar, self.x)]


# %% ta-own
def constants(s):
    r = np.linspace(0, 3, 300_001)  # in units of s
    slope = r / (1 + r**2) ** 2
    bend = (1 - 3 * r**2) / (1 + r**2) ** 3  # along the ray; across it is slope / r
    return max(abs(bend).max(), (slope[1:] / r[1:]).max()), s * slope.max()


def own_problem():
    places = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
    walk = np.full((4, 4), 0.1)
    np.fill_diagonal(walk, 0.7)
    return places, 2, walk


# %% ta-plan
def plan(epsilon, L, M, gap, chain):
    from bisect import bisect_left

    promised = lambda K: bounds.theorem1_lag(K, L=L, M=M, initial_gap=gap, chain=chain) <= epsilon
    return 1 + bisect_left(range(1, 10**9), True, key=promised)


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    heaps = np.cumsum(P, axis=1)[:, :-1]
    state, drawn = np.zeros(replicates, dtype=int), []
    for u in rng.random((K, replicates)):
        state = (u[:, None] >= heaps[state]).sum(axis=1)
        drawn.append(state)
    y = run(lambda x, xi: pull(x, places[xi], s), np.transpose(drawn), rule, np.repeat([x0], replicates, axis=0))[0]
    values, vectors = np.linalg.eig(np.transpose(P))
    law = vectors[:, abs(values - 1).argmin()].real
    law = law / law.sum()
    gradient = (law[:, None] * pull(y[:, :, None], places, s)).sum(axis=2)
    each = np.average((gradient**2).sum(axis=-1), axis=0, weights=[rule.gamma(k) for k in range(1, K + 1)])
    return each.mean(), each.std(ddof=1) / np.sqrt(len(each))
