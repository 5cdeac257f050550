"""Equivalent formulas: returns over 1, 2, 4, ... steps, log-probabilities instead of products, the band of SciPy's paired test."""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    parts = np.split(np.asarray(rewards), np.cumsum(lengths)[:-1])
    found = []
    for part in parts:
        G, span = part.astype(float), 1
        while span < len(G):  # returns over `span` steps make those over twice as many
            G = G + discount**span * np.append(G[span:], np.zeros(span))
            span *= 2
        found.append(G)
    return np.concatenate(found)


# %% pg-estimates
def log_policy(theta):
    top = theta.max(axis=1, keepdims=True)
    return theta - top - np.log(np.exp(theta - top).sum(axis=1, keepdims=True))


def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    policy, answer = np.exp(log_policy(theta)), []
    ends = np.cumsum(lengths)
    for start, end in zip(ends - lengths, ends):
        s, a = states[start:end], actions[start:end]
        G = returns_to_go(rewards[start:end], [end - start], discount)
        w = discount ** np.arange(end - start) * (G - baseline[s])
        taken = np.zeros(theta.shape)
        np.add.at(taken, (s, a), w)
        answer.append(taken - taken.sum(axis=1, keepdims=True) * policy)  # per state: weight taken minus expected
    return np.stack(answer)


# %% pg-episodes
def all_episodes(theta, move, reward, horizon):
    logs, S = log_policy(theta), theta.shape[0]
    waiting, found = [((0,), ())], []
    while waiting:
        states, actions = waiting.pop(0)
        for a in reversed(range(theta.shape[1])):
            s, chosen = states[-1], (*actions, a)
            if len(states) == horizon or move[s, a, S] > 0:
                found.append((states, chosen))
            if len(states) < horizon:
                waiting += [((*states, j), chosen) for j in range(S) if move[s, a, j] > 0]
    chance = []
    for states, actions in found:
        log_chance = logs[states, actions].sum() + np.log(move[states[:-1], actions[:-1], states[1:]]).sum()
        if len(states) < horizon:
            log_chance += np.log(move[states[-1], actions[-1], S])
        chance.append(np.exp(log_chance))
    s, a = (np.concatenate([episode[i] for episode in found]) for i in (0, 1))
    return np.array(chance), s, a, reward[s, a], np.array([len(states) for states, _ in found])


# %% pg-compare
def compare(first, second, level):
    scores = [np.mean(curves, axis=1) for curves in (first, second)]
    if not np.all(np.isfinite(scores)) or len(first) == 1:
        raise ValueError("a band needs two seeds and finite curves")
    test = stats.ttest_rel(*scores)
    band = test.confidence_interval(level)
    return np.mean(scores[0] - scores[1]), band.low, band.high
