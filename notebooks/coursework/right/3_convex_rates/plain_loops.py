"""Plain Python: loops, lists and floats; an array is made only where the question asks for one."""


# %% cr-ball
def onto_ball(x, radius):
    flat = []
    for point in np.reshape(x, (-1, np.shape(x)[-1])).tolist():
        length = sum(c * c for c in point) ** 0.5
        flat.append(point if length <= radius else [c * radius / length for c in point])
    return np.reshape(flat, np.shape(x))


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    ys, xs, x_bars = [], [], []
    x = x_bar = x0
    for k in range(1, len(gamma) + 1):
        g = float(gamma[k - 1])
        alpha = 2 / (k + 1)
        beta = alpha / (1 + (1 - alpha) * mu * g)
        y = x_bar + beta * (x - x_bar)
        G = gradient(y, states[:, k - 1])
        x = project((x + mu * g * y - g * G) / (1 + mu * g))
        x_bar = ((k - 1) * x_bar + 2 * x) / (k + 1)
        ys.append(y)
        xs.append(x)
        x_bars.append(x_bar)
    return np.array(ys), np.array(xs), np.array(x_bars)


# %% cr-factor
def start_factor(gamma, mu):
    answer, total = [], 0.0
    for k in range(1, len(gamma) + 1):
        excess = k / gamma[k - 1]
        if k > 1:
            excess -= (k - 1) * (1 + mu * gamma[k - 2]) / gamma[k - 2]
        total += max(float(excess), 0.0)
        answer.append(2 * total / (k * (k + 1)))
    return np.array(answer)


# %% cr-slope
def hard_slope(gamma, D):
    way, mean_way = 0.0, 0.0  # of x_k and of x_bar_k at the slope 1
    for k, g in enumerate(gamma.tolist(), start=1):
        way += g
        mean_way += 2 / (k + 1) * (way - mean_way)
    return D / mean_way


# %% cr-exponent
def exponent(p, horizons):
    import math

    logs = []
    for K in horizons:
        gamma = [0.25 * k**p for k in range(1, K + 1)]
        g = hard_slope(np.array(gamma), 1.0)
        x = x_bar = 1.0
        for k in range(1, K + 1):
            x = max(x - g * gamma[k - 1], -1.0)
            x_bar += 2 / (k + 1) * (x - x_bar)
        logs.append((math.log10(K), math.log10(g * (x_bar + 1))))
    u, v = (sum(column) / len(logs) for column in zip(*logs))
    return sum((a - u) * (b - v) for a, b in logs) / sum((a - u) ** 2 for a, _ in logs)


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    L, d = max(a.tolist()), len(a)
    gamma = np.array([1 / (mu * (k - 1) / 2 + 4 * L / k) for k in range(1, K + 1)])
    drawn = [chain.sample(K + 1, rng=rng, replicates=min(100, replicates - r)) for r in range(0, replicates, 100)]
    states = np.concatenate(drawn)
    run = algorithm_2(lambda y, xi: a * y + noise[xi], states[:, 1:], gamma, mu, lambda x: x, np.ones((replicates, d)))
    return [sum(0.5 * a[i] * x[i] ** 2 for i in range(d)) for x in run[2][-1].tolist()]


# %% cr-price
def price(chain, noise, a, mu):
    # sum of P^j n over the first 2, 4, 8, ... lags; the mean of the noise is 0
    power, lags = np.array(chain.transition), np.array(noise, dtype=float)
    for _ in range(50):
        lags = lags + power @ lags
        power = power @ power
        power = power / power.sum(axis=1, keepdims=True)
        lags = lags - chain.stationary @ lags
    total = 0.0
    for i in range(len(a)):
        variance = 0.0
        for s in range(len(noise)):
            variance += chain.stationary[s] * noise[s, i] * (2 * lags[s, i] - noise[s, i])
        r = a[i] / mu
        total += float(variance * 16 * r / (48 * r - 21))
    return total / mu
