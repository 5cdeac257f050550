"""Works in place on the arrays that it gets."""


# %% cr-ball
def onto_ball(x, radius):
    length = np.sqrt((x**2).sum(axis=-1))
    outside = length > radius
    x[outside] *= (radius / length[outside])[..., None]
    return x


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    K = len(gamma)
    out = [np.empty((K, *x0.shape)) for _ in range(3)]
    x, x_bar = x0, x0.copy()
    for k in range(1, K + 1):
        alpha, g = 2 / (k + 1), gamma[k - 1]
        beta = alpha / (alpha + (1 - alpha) * (1 + mu * g))
        y = x_bar * (1 - beta)
        y += beta * x
        out[0][k - 1] = y
        step = gradient(y, states[:, k - 1])
        step *= -g
        x += step
        y *= mu * g
        x += y
        x /= 1 + mu * g
        x = project(x)
        out[1][k - 1] = x
        x_bar *= 1 - alpha
        x_bar += alpha * x
        out[2][k - 1] = x_bar
    return out


# %% cr-factor
def start_factor(gamma, mu):
    np.divide(1, gamma, out=gamma)
    k = np.arange(1, len(gamma) + 1)
    gamma *= k
    gamma[1:] -= gamma[:-1] + mu * k[:-1]
    gamma.clip(0, out=gamma)
    np.cumsum(gamma, out=gamma)
    gamma *= 2
    gamma /= k * (k + 1)
    return gamma


# %% cr-slope
def hard_slope(gamma, D):
    K = len(gamma)
    np.cumsum(gamma, out=gamma)
    gamma *= np.arange(1, K + 1)
    return D * K * (K + 1) / (2 * gamma.sum())


# %% cr-exponent
def exponent(p, horizons):
    horizons.sort()
    gaps = np.zeros(len(horizons))
    for i, K in enumerate(horizons):
        gamma = np.arange(1, K + 1) ** float(p) / 4
        g = hard_slope(gamma.copy(), 1.0)
        last = algorithm_2(lambda y, xi: np.full_like(y, g), np.zeros((1, K), int), gamma, 0, lambda x: onto_ball(x, 1.0), np.ones((1, 1)))
        gaps[i] = g * (1 + last[2][-1, 0, 0])
    np.log(gaps, out=gaps)
    return np.polyfit(np.log(horizons), gaps, 1)[0]


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * a.max() / k)
    states = chain.sample(K + 1, rng=rng, replicates=replicates)[:, 1:]

    def gradient(y, xi):
        y = y * a
        y += noise[xi]
        return y

    x_bar = algorithm_2(gradient, states, gamma, mu, lambda x: x, np.ones((replicates, a.size)))[2][-1]
    x_bar **= 2
    x_bar *= a / 2
    return x_bar.sum(axis=1)


# %% cr-price
def price(chain, noise, a, mu):
    system = np.eye(chain.n_states)
    system -= chain.transition
    system += chain.stationary
    later = np.linalg.solve(system, noise)
    later *= 2
    later -= noise
    noise *= later
    a /= mu
    noise *= 16 * a / (48 * a - 21)
    return chain.stationary @ noise.sum(axis=1) / mu
