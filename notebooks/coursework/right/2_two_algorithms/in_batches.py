"""Draws and follows the paths in small batches, and lets the given code do the work where it is right."""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    x_bar = y - beta * G
    e = e - alpha * e + (gamma - beta) * G
    return x_bar - alpha_next * e, e


def read_out(y, e, alpha_next):
    return y - (1 - alpha_next) * e, y + alpha_next * e


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    # a greedy opponent: at each step push e further to the side where it is
    e, G = 0.0, []
    for a, b, g in zip(alpha, beta, gamma):
        ends = {choice: (1 - a) * e + (g - b) * choice for choice in (-1.0, 1.0)}
        G.append(max(ends, key=lambda choice: ends[choice]))
        e = ends[G[-1]]
    return np.array(G), float(e)


# %% ta-secret
def secret_step(rule, k):
    optimizer = Accelerated([np.zeros(1)], rule)
    for _ in range(k):
        before = optimizer.params[0].copy()
        optimizer.step([np.ones(1)])
    return float((before - optimizer.params[0])[0])


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        remembered = [(1 - self.rule.alpha(self.k + 1)) * buffer for buffer in self.buffers]
        super().step(grads)  # right but for what the buffers remember
        k, rule = self.k, self.rule
        for i in range(len(self.params)):
            self.buffers[i] = remembered[i] + (rule.gamma(k) - rule.beta(k)) * grads[i]


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    chain, each = MarkovChain(P), []
    p = np.array([rule.gamma(k) for k in range(1, K + 1)])
    p = p / p.sum()
    full = lambda z: chain.stationary @ pull(z[:, None], places, s)
    while len(each) < replicates:
        size = min(150, replicates - len(each))
        drawn = chain.sample(K + 1, rng=rng, replicates=size, initial=0)[:, 1:]
        ys = run(lambda x, xi: pull(x, places[xi], s), drawn, rule, np.full((size, 2), x0))[0]
        each += sum(p[k] * np.linalg.norm(full(ys[k]), axis=1) ** 2 for k in range(K)).tolist()
    return float(np.mean(each)), float(np.std(each, ddof=1) / replicates**0.5)
