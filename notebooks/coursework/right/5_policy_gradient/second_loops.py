"""Answers the second variants in plain loops, one step, state or draw after the other."""


# %% pg-advantages
def advantages(rewards, lengths, values, discount, lam):
    found, start = [], 0
    for length in lengths:
        errors = []
        for t in range(start, start + length):
            ahead = values[t + 1] if t + 1 < start + length else 0
            errors.append(rewards[t] + discount * ahead - values[t])
        for t in range(length):
            total, factor = 0.0, 1.0
            for error in errors[t:]:
                total += factor * error
                factor *= discount * lam
                if factor < 1e-300:
                    break
            found.append(total)
        start += length
    return found


# %% pg-gaussian
def gaussian_estimates(W, xi, observations, actions, rewards, lengths, discount):
    D, A = W.shape
    G = returns_to_go(rewards, lengths, discount)
    slopes, spreads, i = [], [], 0
    for length in lengths:
        slope, spread = np.zeros((D, A)), np.zeros(A)
        for t in range(length):
            for j in range(A):
                variance = np.exp(2 * xi[j])
                off = actions[i][j] - sum(observations[i][k] * W[k, j] for k in range(D))
                spread[j] += discount**t * G[i] * (off**2 / variance - 1)
                for k in range(D):
                    slope[k, j] += discount**t * G[i] * off / variance * observations[i][k]
            i += 1
        slopes.append(slope)
        spreads.append(spread)
    return np.array(slopes), np.array(spreads)


# %% pg-exact
def exact_gradient(theta, move, reward, horizon, discount):
    S, A = theta.shape
    odds = [[float(np.exp(x - max(row))) for x in row] for row in theta]
    policy = [[x / sum(row) for x in row] for row in odds]
    worth = [[0.0] * S]  # worth[h][s]: value with h steps left
    for _ in range(horizon):
        old = worth[-1]
        new = []
        for s in range(S):
            value = 0.0
            for a in range(A):
                after = sum(move[s, a, j] * old[j] for j in range(S))
                value += policy[s][a] * (reward[s, a] + discount * after)
            new.append(value)
        worth.append(new)
    result, chance = np.zeros((S, A)), [1.0] + [0.0] * (S - 1)
    for t in range(horizon):  # forward: the score of a state counts as often as one is there
        left = worth[horizon - 1 - t]
        after = [0.0] * S
        for s in range(S):
            for a in range(A):
                gain = reward[s, a] + discount * sum(move[s, a, j] * left[j] for j in range(S))
                result[s, a] += discount**t * chance[s] * policy[s][a] * (gain - worth[horizon - t][s])
                for j in range(S):
                    after[j] += chance[s] * policy[s][a] * move[s, a, j]
        chance = after
    return result


# %% pg-weights
def weights_with_baseline(observations, time, returns, old_observations, old_time, old_returns):
    def row(o, t):
        return [*o, *(x * x for x in o), t / 100, (t / 100) ** 2, (t / 100) ** 3, 1.0]

    size = 2 * len(observations[0]) + 4
    gram, moments = 1e-5 * np.eye(size), np.zeros(size)
    for o, t, G in zip(old_observations, old_time, old_returns):
        phi = np.array(row(o, t))
        gram += np.outer(phi, phi)
        moments += G * phi
    w = np.linalg.solve(gram, moments)
    left = [float(G - np.dot(row(o, t), w)) for o, t, G in zip(observations, time, returns)]
    mean = sum(left) / len(left)
    deviation = (sum((x - mean) ** 2 for x in left) / len(left)) ** 0.5
    return [(x - mean) / deviation / len(left) for x in left]


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    n = len(first)
    if n < 2:
        raise ValueError("a single seed")
    gains = []
    for one, other in zip(first, second):
        if not all(np.isfinite(x) for x in [*one, *other]):
            raise ValueError("a run has diverged")
        gains.append(sum(one) / len(one) - sum(other) / len(other))
    means = []
    for seeds in rng.integers(n, size=(draws, n)):
        means.append(sum(gains[s] for s in seeds) / n)
    return sum(gains) / n, np.quantile(means, 0.5 - level / 2), np.quantile(means, 0.5 + level / 2)
