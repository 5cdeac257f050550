"""Answers the second variants by other ways: padded rows, least squares, a complex step, sorted draws."""


# %% pg-advantages
def advantages(rewards, lengths, values, discount, lam):
    lengths = np.asarray(lengths)
    inside = np.arange(lengths.max() + 1) < lengths[:, None]
    pay, worth = np.zeros((2, *inside.shape))
    pay[inside], worth[inside] = rewards, values
    errors = pay[:, :-1] + discount * worth[:, 1:] - worth[:, :-1]
    for t in range(errors.shape[1] - 2, -1, -1):
        errors[:, t] += discount * lam * errors[:, t + 1]
    return errors[inside[:, :-1]]


# %% pg-gaussian
def gaussian_estimates(W, xi, observations, actions, rewards, lengths, discount):
    both = [], []
    precision = np.diag(np.exp(-2 * xi))
    for part in np.split(np.arange(len(rewards)), np.cumsum(lengths)[:-1]):
        o, r = observations[part], rewards[part]
        paid = r * np.power(discount, np.arange(len(part)))
        weight = np.cumsum(paid[::-1])[::-1]  # discount^t G_t, from the end
        off = actions[part] - o.dot(W)
        both[0].append((o * weight[:, None]).T @ off @ precision)
        both[1].append(weight @ off**2 @ precision - weight.sum())
    return tuple(map(np.array, both))


# %% pg-exact
def exact_gradient(theta, move, reward, horizon, discount):
    shape, tiny = theta.shape, 1e-40
    nudged = np.tile(theta - theta.max(axis=1, keepdims=True), (theta.size, 1, 1)).astype(complex)
    nudged.reshape(theta.size, -1)[np.diag_indices(theta.size)] += 1j * tiny
    soft = np.exp(nudged)
    soft /= soft.sum(axis=2, keepdims=True)
    value = np.zeros((theta.size, shape[0] + 1), complex)
    while horizon:
        ahead = np.tensordot(value, move, axes=(1, 2))
        value[:, :-1] = np.sum(soft * (reward + discount * ahead), axis=2)
        horizon -= 1
    return (value[:, 0].imag / tiny).reshape(shape)


# %% pg-weights
def weights_with_baseline(observations, time, returns, old_observations, old_time, old_returns):
    rows = np.concatenate([old_observations, observations])
    powers = np.vander(np.concatenate([old_time, time]) / 100.0, 4)
    table = np.block([rows, rows**2, powers])
    count, width = len(old_returns), table.shape[1]
    system = np.vstack([table[:count], np.sqrt(1e-5) * np.eye(width)])
    w, *_ = np.linalg.lstsq(system, np.append(old_returns, np.zeros(width)), rcond=None)
    return stats.zscore(returns - table[count:].dot(w)) / len(returns)


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    scores = np.stack([first, second]).mean(axis=2)
    n = scores.shape[1]
    if not np.isfinite(scores).all() or n == 1:
        raise ValueError("diverged, or too few seeds")
    counts = np.apply_along_axis(np.bincount, 1, rng.integers(n, size=(draws, n)), minlength=n)
    gains = scores[0] - scores[1]
    means = np.sort(counts @ gains / n)
    places = (draws - 1) * (1 + level * np.array([-1, 1])) / 2
    ends = np.interp(places, np.arange(draws), means)
    return [gains.mean(), ends[0], ends[1]]
