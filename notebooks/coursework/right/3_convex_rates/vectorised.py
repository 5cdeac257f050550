"""No loop where an array will do."""


# %% cr-ball
def onto_ball(x, radius):
    square = np.einsum("...i,...i->...", x, x)[..., None]
    return x * np.sqrt(np.minimum(1, radius**2 / np.where(square > 0, square, 1)))


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    k = np.arange(1, gamma.size + 1)
    alpha = 2 / (k + 1)
    weight = 1 + mu * gamma
    beta = alpha / (alpha + (1 - alpha) * weight)
    both = np.stack([x0, x0]).astype(float)  # x_bar and x
    rows = []
    for a, b, g, w, xi in zip(alpha, beta, gamma, weight, states.T):
        y = np.tensordot([1 - b, b], both, 1)
        x = project((both[1] + (w - 1) * y - g * gradient(y, xi)) / w)
        both = np.stack([(1 - a) * both[0] + a * x, x])
        rows.append([y, x, both[0]])
    return np.swapaxes(rows, 0, 1)


# %% cr-factor
def start_factor(gamma, mu):
    k = np.arange(1, len(gamma) + 1)
    ratio = k / gamma
    excess = np.diff(ratio, prepend=0) - mu * (k - 1)
    return np.cumsum(excess * (excess > 0)) * 2 / k / (k + 1)


# %% cr-slope
def hard_slope(gamma, D):
    K = gamma.size
    t = np.arange(1, K + 1)
    return D / (gamma @ (1 - t * (t - 1) / (K * (K + 1))))


# %% cr-exponent
def exponent(p, horizons):
    k = np.arange(1, max(horizons) + 1)
    way = np.cumsum(0.25 * k ** np.float64(p))  # of x at the slope 1
    mean_way = np.cumsum(k * way) * 2 / (k * (k + 1))  # of x_bar
    K = np.array(horizons)
    g = 1 / mean_way[K - 1]
    gap = g * (2 - g * mean_way[K - 1])
    x = np.log(K) - np.log(K).mean()
    return x @ np.log(gap) / (x @ x)


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    # x_bar_K is linear in start and noise: follow one unit push of each step, then mix
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * a.max() / k)
    pushes = np.vstack([np.zeros(K), np.eye(K)])[:, :, None]
    start = np.zeros((K + 1, len(a)))
    start[0] = 1
    step = iter(range(K))
    run = algorithm_2(lambda y, xi: a * y + pushes[:, next(step)], np.zeros((K + 1, K), int), gamma, mu, lambda x: x, start)
    shares = run[2][-1]
    states = chain.sample(K + 1, rng=rng, replicates=replicates)[:, 1:]
    last = shares[0] + np.einsum("kd,rkd->rd", shares[1:], noise[states])
    return last**2 @ a / 2


# %% cr-price
def price(chain, noise, a, mu):
    fundamental = np.linalg.inv(np.eye(chain.n_states) - chain.transition + np.outer(np.ones(chain.n_states), chain.stationary))
    weighted = chain.stationary[:, None] * noise
    covariance = weighted.T @ fundamental @ noise
    variance = np.diag(covariance + covariance.T - weighted.T @ noise)
    return np.sum(variance * 16 * a / (48 * a - 21 * mu)) / mu
