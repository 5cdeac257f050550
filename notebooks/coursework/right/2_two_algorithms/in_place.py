"""Works in place on the arrays that it gets."""


# %% ta-update
def update(y, e, G, alpha, beta, gamma, alpha_next):
    e *= 1 - alpha
    e += (gamma - beta) * G
    y -= beta * G
    y -= alpha_next * e
    return y, e


def read_out(y, e, alpha_next):
    y += alpha_next * e
    return y - e, y


# %% ta-run
def run(gradient, states, rule, x0):
    K = states.shape[1]
    y, x, x_bar = (np.empty((K, *x0.shape)) for _ in range(3))
    point, buffer = x0, np.zeros_like(x0)
    for k in range(1, K + 1):
        y[k - 1] = point
        G = gradient(point, states[:, k - 1])
        point, buffer = update(point, buffer, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        x[k - 1], x_bar[k - 1] = read_out(point.copy(), buffer, rule.alpha(k + 1))
    return y, x, x_bar


# %% ta-gap
def largest_gap(alpha, beta, gamma):
    gamma -= beta
    signs = np.sign(gamma)
    np.abs(gamma, out=gamma)
    for k in range(1, len(alpha)):
        gamma[k] += (1 - alpha[k]) * gamma[k - 1]
    return signs, gamma[-1]


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for p, buffer, grad in zip(self.params, self.buffers, grads):
            buffer *= 1 - rule.alpha(k)
            buffer += grad * (rule.gamma(k) - rule.beta(k))
            grad *= rule.beta(k)
            p -= grad
            p -= rule.alpha(k + 1) * buffer


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    chain = MarkovChain(P)
    walks = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)
    y = run(lambda x, xi: pull(x, places[xi], s), walks[:, 1:], rule, np.array([x0] * replicates))[0]
    slope = np.zeros_like(y)
    for weight, place in zip(chain.stationary, places):
        slope += weight * pull(y, place, s)
    slope **= 2
    p = rule.gamma(np.arange(1, K + 1))
    p /= p.sum()
    each = np.einsum("k,krd->r", p, slope)
    return each.mean(), np.sqrt(each.var(ddof=1) / replicates)
