"""No loop where an array will do; step sizes are read for all k at once."""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    new = np.stack([(1 - alpha) * e + (gamma - beta) * G, y - beta * G])
    return new[1] - alpha_next * new[0], new[0]


def read_out(y, e, alpha_next):
    return y + (alpha_next - 1) * e, y + alpha_next * e


# %% ta-run
def run(gradient, states, rule, x0):
    K = states.shape[1]
    k = np.arange(1, K + 2)
    alpha, beta, gamma = rule.alpha(k), rule.beta(k), rule.gamma(k)
    y = np.empty((K + 1, *x0.shape))
    e = np.zeros((K + 1, *x0.shape))
    y[0] = x0
    for i in range(K):
        y[i + 1], e[i + 1] = update(y[i], e[i], gradient(y[i], states[:, i]), alpha[i], beta[i], gamma[i], alpha[i + 1])
    x, x_bar = read_out(y[1:], e[1:], alpha[1:, None, None])
    return y[:-1], x, x_bar


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    difference = gamma - beta
    shares = np.append(np.cumprod((1 - alpha)[:0:-1])[::-1], 1.0)
    return np.where(difference < 0, -1, 1), shares @ abs(difference)


# %% ta-secret
def secret_step(rule, k):
    return np.interp(rule.alpha(k + 1), [0, 1], [rule.beta(k), rule.gamma(k)])


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        a, b, g = self.rule.alpha(self.k), self.rule.beta(self.k), self.rule.gamma(self.k)
        self.buffers = [(1 - a) * e + (g - b) * d for e, d in zip(self.buffers, grads)]
        moves = [b * d + self.rule.alpha(self.k + 1) * e for e, d in zip(self.buffers, grads)]
        self.params = [p - move for p, move in zip(self.params, moves)]


# %% ta-own
def constants(s):
    return 1, np.sqrt(27 / 256) * s


def own_problem():
    angles = 2 * np.pi * np.arange(6) / 6
    places = 5 * np.column_stack([np.cos(angles), np.sin(angles)])
    ring = 0.5 * np.eye(6) + 0.25 * np.roll(np.eye(6), 1, axis=1) + 0.25 * np.roll(np.eye(6), -1, axis=1)
    return places, 0.5, ring


# %% ta-plan
def plan(epsilon, L, M, gap, chain):
    low, high = 0, 10**9
    while high - low > 1:  # thirty numbers of steps at once
        tried = np.unique(np.linspace(low + 1, high, 30).astype(int))
        enough = bounds.theorem1_lag(tried, L=L, M=M, initial_gap=gap, chain=chain) <= epsilon
        first = int(enough.argmax())
        low, high = (int(tried[first - 1]) if first else low), int(tried[first])
    return np.int64(high)


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    chain = MarkovChain(P)
    drawn = chain.sample(K + 1, rng=rng, replicates=replicates, initial=np.zeros(replicates, dtype=int))[:, 1:]
    y = run(lambda x, xi: pull(x, places[xi], s), drawn, rule, np.broadcast_to(x0, (replicates, 2)))[0]
    slope = np.einsum("n,krnd->krd", chain.stationary, pull(y[:, :, None, :], places, s))
    gamma = rule.gamma(np.arange(1, K + 1))
    each = np.einsum("k,krd,krd->r", gamma / gamma.sum(), slope, slope)
    return np.array([each.mean(), each.std(ddof=1) / np.sqrt(replicates)])
