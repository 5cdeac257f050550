"""Answers the second variants in plain loops, with sums over lags that double."""


# %% cr-slab
def onto_slab(x, normal, width):
    x = np.asarray(x, float)
    flat = x.reshape(-1, x.shape[-1]).copy()
    square = sum(n * n for n in normal)
    for row in flat:
        inner = sum(a * b for a, b in zip(row, normal))
        if inner > width:
            row += (width - inner) / square * normal
        elif inner < -width:
            row -= (width + inner) / square * normal
    return flat.reshape(x.shape)


# %% cr-batches
def growing_batches(gradient, states, sizes, gamma, mu, project, x0):
    K = len(sizes)
    ys, xs, means = np.zeros((3, K) + x0.shape)
    x, x_bar = x0, x0
    column = 0
    for k in range(1, K + 1):
        g = gamma[k - 1]
        alpha = 2 / (k + 1)
        beta = alpha / (1 + (1 - alpha) * mu * g)
        y = beta * x + (1 - beta) * x_bar
        total = 0.0
        for _ in range(sizes[k - 1]):
            total = total + gradient(y, states[:, column])
            column += 1
        x = project((x + mu * g * y - g * total / sizes[k - 1]) / (1 + mu * g))
        x_bar = alpha * x + (1 - alpha) * x_bar
        ys[k - 1], xs[k - 1], means[k - 1] = y, x, x_bar
    return [ys, xs, means]


# %% cr-steps
def steps_with(excess, mu):
    gamma = [1 / excess[0]]
    for t in range(2, len(excess) + 1):
        before = gamma[-1]
        gamma.append(t / (excess[t - 1] + (t - 1) * (1 + mu * before) / before))
    return gamma


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    K = len(gamma)
    way = total = 0.0
    for k in range(1, K + 1):
        way += gamma[k - 1]
        total += k * way
    m = 2 * total / (K * (K + 1))
    if epsilon >= D * D / m:
        return float("inf")
    low, high = 0.0, D / m  # the gap grows up to here
    for _ in range(100):
        g = (low + high) / 2
        if g * (2 * D - g * m) > epsilon:
            high = g
        else:
            low = g
    return low


# %% cr-horizon
def horizon(p, level):
    way = total = 0.0
    K = 0
    while True:
        K += 1
        way += K**p / 4
        total += K * way
        mean_way = 2 * total / (K * (K + 1))
        if 1 / mean_way <= level:
            return K


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    L = max(a)
    paths = chain.sample(samples + 1, rng=rng, replicates=replicates)
    x = x_bar = np.ones((replicates, len(a)))
    for k in range(1, samples // keep + 1):
        g = 1 / (mu * (k - 1) / 2 + 4 * L / k)
        alpha = 2 / (k + 1)
        beta = alpha / (alpha + (1 - alpha) * (1 + mu * g))
        y = beta * x + (1 - beta) * x_bar
        x = (x + mu * g * y - g * (a * y + noise[paths[:, k * keep]])) / (1 + mu * g)
        x_bar = alpha * x + (1 - alpha) * x_bar
    gaps = []
    for point in x_bar:
        gaps.append(sum(c * z * z for c, z in zip(a, point)) / 2)
    return gaps


# %% cr-worst
def worst_price(chain):
    P, pi = np.array(chain.transition), chain.stationary
    n = len(pi)
    lags, power = np.eye(n), P - pi  # sum of the first lags, and the power that follows them
    for _ in range(40):
        lags = lags + power @ lags
        power = power @ power
    lags = lags - pi
    ratio = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = pi[i] * lags[i, j] + pi[j] * lags[j, i]
            ratio[i, j] = both / (pi[i] * pi[j]) ** 0.5 - (i == j)
    values = np.linalg.eigvalsh(ratio)
    return float(max(values))
