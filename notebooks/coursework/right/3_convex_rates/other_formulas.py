"""Equivalent formulas: steps as differences, a recursion for the factor, a search for the slope, least squares by lstsq."""


# %% cr-ball
def onto_ball(x, radius):
    length = np.linalg.norm(x, axis=-1)[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length > radius, radius * (x / length), x)


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    K = len(gamma)
    rows = np.zeros((3, K, *np.shape(x0)))
    x, x_bar = np.array(x0, float), np.array(x0, float)
    for k in range(K):
        alpha, eta = 2 / (k + 2), gamma[k] / (1 + mu * gamma[k])
        beta = alpha / (alpha + (1 - alpha) / (1 - mu * eta))
        y = beta * x + (1 - beta) * x_bar
        x = project(x - eta * (gradient(y, states[:, k]) + mu * (x - y)))
        x_bar = x_bar + alpha * (x - x_bar)
        rows[:, k] = y, x, x_bar
    return rows


# %% cr-factor
def start_factor(gamma, mu):
    S = np.empty(len(gamma))
    S[0] = 1 / gamma[0]
    for i in range(1, len(gamma)):
        k = i + 1
        excess = max(0, k / gamma[i] - (k - 1) / gamma[i - 1] - (k - 1) * mu)
        S[i] = (k - 1) / (k + 1) * S[i - 1] + 2 * excess / (k * (k + 1))
    return S


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)

    def gap(g):
        x = np.maximum(D - g * np.cumsum(gamma), -D)
        return g * (np.average(x, weights=k) + D)

    low, high = 0.0, 2 * D / sum(gamma)  # up to here no projection acts
    for _ in range(100):  # golden section
        first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
        if gap(first) < gap(second):
            low = first
        else:
            high = second
    return (low + high) / 2


# %% cr-exponent
def exponent(p, horizons):
    gaps = []
    for K in horizons:
        gamma = np.arange(1, K + 1) ** float(p) / 4
        g = hard_slope(gamma, 1)
        _, _, x_bar = algorithm_2(
            lambda y, xi: g * np.ones(y.shape), np.zeros((1, K), dtype=int), gamma, 0, lambda x: x.clip(-1, 1), np.array([[1]])
        )
        gaps.append(g * (x_bar[-1].item() + 1))
    design = np.column_stack([np.log2(horizons), np.ones(len(horizons))])
    return np.linalg.lstsq(design, np.log2(gaps), rcond=None)[0][0]


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    # draws the states on its own, in spawned streams
    heaps = np.cumsum(chain.transition, axis=1)[:, :-1]
    first, later = rng.spawn(2)
    state = (first.random((replicates, 1)) >= np.cumsum(chain.stationary)[:-1]).sum(axis=1)
    states = []
    for _ in range(K):
        state = (later.random((replicates, 1)) >= heaps[state]).sum(axis=1)
        states.append(state)
    k = np.arange(1, K + 1)
    gamma = 2 * k / (mu * k * (k - 1) + 8 * a.max())
    run = algorithm_2(lambda y, xi: y * a + noise[xi], np.array(states).T, gamma, mu, lambda x: x, np.ones((replicates, len(a))))
    return 0.5 * run[2, -1] ** 2 @ a


# %% cr-price
def price(chain, noise, a, mu):
    n = chain.n_states
    inverse = np.linalg.pinv(np.eye(n) - chain.transition, rcond=1e-10)
    lags = inverse @ noise  # up to a constant, which the mean 0 of the noise removes below
    variance = chain.stationary @ (2 * noise * lags - noise**2)
    return sum(16 * v / (48 - 21 * mu / r) for v, r in zip(variance, a)) / mu
