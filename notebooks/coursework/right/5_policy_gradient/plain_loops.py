"""Plain Python: loops, lists and floats; an array is made only where the question asks for one."""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result, start = [], 0
    for length in lengths:
        episode, G = [], 0.0
        for r in reversed(rewards[start : start + length]):
            G = float(r) + discount * G
            episode.append(G)
        result += episode[::-1]
        start += length
    return np.array(result)


# %% pg-estimates
def softmax_row(row):
    import math

    top = max(row)
    odds = [math.exp(value - top) for value in row]
    return [o / sum(odds) for o in odds]


def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    policy = [softmax_row(row) for row in theta.tolist()]
    G = returns_to_go(rewards, lengths, discount)
    result, i = [], 0
    for length in lengths:
        g = [[0.0] * len(row) for row in policy]
        for t in range(length):
            s, a = states[i], actions[i]
            w = discount**t * (G[i] - baseline[s])
            for b in range(len(policy[s])):
                g[s][b] += w * ((b == a) - policy[s][b])
            i += 1
        result.append(g)
    return np.array(result)


# %% pg-episodes
def all_episodes(theta, move, reward, horizon):
    from itertools import product

    S, A = theta.shape
    policy = [softmax_row(row) for row in theta.tolist()]
    chance, states, actions, rewards, lengths = [], [], [], [], []
    for length in range(1, horizon + 1):  # all that can be written down, then what can happen
        for later in product(range(S), repeat=length - 1):
            for chosen in product(range(A), repeat=length):
                visited = (0, *later)
                p = 1.0
                for t in range(length):
                    s, a = visited[t], chosen[t]
                    p *= policy[s][a]
                    if t < length - 1:
                        p *= move[s, a, visited[t + 1]]
                    elif length < horizon:
                        p *= move[s, a, S]
                if p > 0:
                    chance.append(p)
                    states += visited
                    actions += chosen
                    rewards += [float(reward[s, a]) for s, a in zip(visited, chosen)]
                    lengths.append(length)
    return np.array(chance), np.array(states), np.array(actions), np.array(rewards), np.array(lengths)


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(policy.parameters(), lr, schedule=schedule)
    curve = []
    for k in range(updates + 1):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        curve.append(float(sum(batch.returns)) / BATCH)
        if k < updates:
            G = returns_to_go(batch.rewards, batch.lengths, DISCOUNT).tolist()
            logs = policy.log_prob(batch.observations, batch.actions)
            mean = sum(G) / len(G)
            deviation = (sum((g - mean) ** 2 for g in G) / len(G)) ** 0.5
            optimizer.zero_grad()
            start = 0
            for length in batch.lengths.tolist():  # one episode after the other; gradients add up
                weights = [(mean - g) / deviation / len(G) for g in G[start : start + length]]
                loss = torch.tensor(weights, dtype=torch.float64).dot(logs[start : start + length])
                loss.backward(retain_graph=True)
                start += length
            optimizer.step()
    return curve


# %% pg-compare
def compare(first, second, level):
    import math
    import statistics

    n = len(first)
    if n < 2:
        raise ValueError("one seed has no band")
    gains = []
    for one, other in zip(first.tolist(), second.tolist()):
        if not all(map(math.isfinite, one + other)):
            raise ValueError("a run has diverged")
        gains.append(statistics.fmean(one) - statistics.fmean(other))
    mean = statistics.fmean(gains)
    half = float(stats.t.ppf(0.5 + level / 2, df=n - 1)) * statistics.stdev(gains) / math.sqrt(n)
    return mean, mean - half, mean + half
