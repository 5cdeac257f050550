"""Uses the package where it is allowed, and least squares for the chain."""


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    found = {name: [] for name in ("y", "x", "x_bar")}
    x, x_bar = x0.copy(), x0.copy()
    for k, g in enumerate(gamma):
        alpha = 1 / (1 + k / 2)
        w = 1 + mu * g
        beta = alpha / (alpha + (1 - alpha) * w)
        y = (1 - beta) * x_bar + beta * x
        x = project(x / w + (1 - 1 / w) * y - g / w * gradient(y, states[:, k]))
        x_bar = alpha * x + (1 - alpha) * x_bar
        for name, value in (("y", y), ("x", x), ("x_bar", x_bar)):
            found[name].append(value)
    return tuple(np.stack(values) for values in found.values())


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(len(gamma)) + 1.0
    now = k / gamma
    before = np.roll(now * (1 + mu * gamma), 1)
    before[0] = 0
    excess = np.where(now > before, now - before, 0)
    return np.tril(np.ones((len(k), len(k)))) @ excess / (k * (k + 1) / 2)


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    problem = Quadratic(a, noise=noise, stationary=chain.stationary)
    rule = steps.theorem3(mu, float(max(a)))
    run = amgd_convex(problem, chain, rule, K, x0=np.ones(len(a)), replicates=replicates, rng=rng, record=[K])
    return problem.value(run.x_bar[-1])


# %% cr-price
def price(chain, noise, a, mu):
    P, pi = chain.transition, chain.stationary
    system = np.vstack([np.eye(len(pi)) - P, pi])
    Q = np.linalg.lstsq(system, np.vstack([noise, np.zeros(noise.shape[1])]), rcond=None)[0]
    variance = -(pi @ noise**2) + 2 * pi @ (noise * Q)
    r = np.divide(a, mu)
    return float(np.dot(variance, 16 * r / (48 * r - 21)) / mu)
