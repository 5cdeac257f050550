"""Plain Python: loops, lists and floats; an array is made only where the question asks for one."""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    new_y, new_e = np.empty(np.shape(y)), np.empty(np.shape(y))
    for i in np.ndindex(np.shape(y)):
        new_e[i] = (1 - alpha) * e[i] + gamma * G[i] - beta * G[i]
        new_y[i] = y[i] - beta * G[i] - alpha_next * new_e[i]
    return [new_y, new_e]


def read_out(y, e, alpha_next):
    x, x_bar = np.empty(np.shape(y)), np.empty(np.shape(y))
    for i in np.ndindex(np.shape(y)):
        x_bar[i] = y[i] + alpha_next * e[i]
        x[i] = y[i] - (1 - alpha_next) * e[i]
    return [x, x_bar]


# %% ta-run
def run(gradient, states, rule, x0):
    ys, xs, x_bars = [], [], []
    y, e = x0, 0 * x0
    for k in range(1, len(states[0]) + 1):
        ys.append(y)
        G = gradient(y, np.array([row[k - 1] for row in states]))
        y, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        x, x_bar = read_out(y, e, rule.alpha(k + 1))
        xs.append(x)
        x_bars.append(x_bar)
    return np.stack(ys), np.stack(xs), np.stack(x_bars)


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    K = len(alpha)
    G, gap = [], 0.0
    for k in range(K):
        share = 1.0
        for later in range(k + 1, K):
            share *= 1 - float(alpha[later])
        difference = float(gamma[k]) - float(beta[k])
        G.append(1 if difference > 0 else -1)
        gap += share * abs(difference)
    return G, gap


# %% ta-secret
def secret_step(rule, k):
    short, long, a = float(rule.beta(k)), float(rule.gamma(k)), float(rule.alpha(k + 1))
    return (1 - a) * short + a * long


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        a, b, g = (float(size(self.k)) for size in (self.rule.alpha, self.rule.beta, self.rule.gamma))
        a_next = float(self.rule.alpha(self.k + 1))
        params, buffers = [], []
        for p, e, grad in zip(self.params, self.buffers, grads):
            e = (1 - a) * e + (g - b) * grad
            params.append(p - b * grad - a_next * e)
            buffers.append(e)
        self.params, self.buffers = params, buffers


# %% ta-plan
def plan(epsilon, L, M, gap, chain):
    d, before = [1.0], [0.0]  # d[t], and d(1) + ... + d(t)

    def bound(K):
        best, t = float("inf"), 1
        while True:
            if len(d) <= t:
                d.append(float(chain.tv_distance(t)))
                before.append(before[-1] + d[t])
            sure = gap / K**0.5 + L * M**2 / K**0.5 * (1.5 + 20 / 3 * (t - 1))
            if sure >= best:
                return best
            best = min(best, sure + 2 * M**2 * d[t] + 4 * M**2 / K * before[min(t - 1, K)])
            t += 1

    K = 0
    for power in range(30, -1, -1):  # the largest K that is not enough, bit by bit
        if bound(K + 2**power) > epsilon:
            K += 2**power
    return K + 1


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    import statistics

    chain = MarkovChain(P)
    law, gammas = chain.stationary, [float(rule.gamma(k)) for k in range(1, K + 1)]
    walks = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)
    ys = run(lambda x, xi: pull(x, places[xi], s), walks[:, 1:], rule, np.array([x0 for _ in range(replicates)]))[0]
    squares = []
    for y in ys:
        g = 0
        for i in range(len(places)):
            g = g + law[i] * pull(y, places[i], s)
        squares.append((g[:, 0] ** 2 + g[:, 1] ** 2).tolist())
    each = [sum(g * q[r] for g, q in zip(gammas, squares)) / sum(gammas) for r in range(replicates)]
    return statistics.mean(each), statistics.stdev(each) / replicates**0.5
