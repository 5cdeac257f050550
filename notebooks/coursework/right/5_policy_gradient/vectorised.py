"""No loop where an array will do: episodes as padded rows, one-hot actions, all episodes of a length at once."""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    lengths = np.asarray(lengths)
    inside = np.arange(lengths.max()) < lengths[:, None]
    table = np.zeros(inside.shape)
    table[inside] = rewards
    for t in range(table.shape[1] - 2, -1, -1):
        table[:, t] += discount * table[:, t + 1]
    return table[inside]


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    S, A = theta.shape
    odds = np.exp(theta - theta.max(axis=1)[:, None])
    scores = np.eye(A)[actions] - (odds / odds.sum(axis=1)[:, None])[states]
    time = np.concatenate([np.arange(length) for length in lengths])
    weights = np.power(discount, time) * (returns_to_go(rewards, lengths, discount) - baseline[states])
    episode = np.equal.outer(np.arange(len(lengths)), np.repeat(np.arange(len(lengths)), lengths))
    return np.einsum("ei,i,is,ia->esa", episode, weights, np.eye(S)[states], scores, optimize=True)


# %% pg-episodes
def all_episodes(theta, move, reward, horizon):
    S, A = theta.shape
    odds = np.exp(theta - theta.max(axis=1, keepdims=True))
    policy = odds / odds.sum(axis=1, keepdims=True)
    states, actions, chance = np.zeros((1, 1), int), np.zeros((1, 0), int), np.ones(1)
    found = []
    for t in range(1, horizon + 1):
        s = np.repeat(states, A, axis=0)
        a = np.column_stack([np.repeat(actions, A, axis=0), np.tile(np.arange(A), len(states))])
        p = np.repeat(chance, A) * policy[s[:, -1], a[:, -1]]
        law = move[s[:, -1], a[:, -1]]
        over = p * (1 if t == horizon else law[:, -1])
        found.append((over[over > 0], s[over > 0], a[over > 0]))
        row, after = np.nonzero(p[:, None] * law[:, :-1])
        states, actions = np.column_stack([s[row], after]), a[row]
        chance = p[row] * law[row, after]
    chances = np.concatenate([p for p, *_ in found])
    flat = [np.concatenate([part[i].ravel() for part in found]) for i in (1, 2)]
    lengths = np.concatenate([np.full(len(p), t) for t, (p, *_) in enumerate(found, 1)])
    return [chances, *flat, reward[tuple(flat)], lengths]


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(list(policy.parameters()), lr, schedule=schedule)
    batches = []
    while True:
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        batches.append(batch)
        if len(batches) > updates:
            return np.array([one.returns for one in batches]).mean(axis=1)
        gains = reinforce.returns_to_go(batch.rewards, batch.lengths, DISCOUNT)
        optimizer.zero_grad()
        (torch.as_tensor(-stats.zscore(gains)) * policy.log_prob(batch.observations, batch.actions)).mean().backward()
        optimizer.step()


# %% pg-compare
def compare(first, second, level):
    if not np.isfinite([first, second]).all() or len(first) < 2:
        raise ValueError("finite curves of two seeds or more, please")
    gain = (first - second).mean(axis=1)
    return np.append(gain.mean(), stats.t.interval(level, len(gain) - 1, gain.mean(), stats.sem(gain)))
