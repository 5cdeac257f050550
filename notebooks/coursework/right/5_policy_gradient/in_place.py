"""Works in place on the arrays that it gets."""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    G = np.asarray(rewards, dtype=float)
    starts = set(np.cumsum(lengths).tolist())
    for i in range(len(G) - 2, -1, -1):
        if i + 1 not in starts:
            G[i] += discount * G[i + 1]
    return G


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    theta -= theta.max(axis=1, keepdims=True)
    np.exp(theta, out=theta)
    theta /= theta.sum(axis=1, keepdims=True)
    weights = returns_to_go(rewards, lengths, discount)
    weights -= baseline[states]
    result = np.zeros((len(lengths), *theta.shape))
    i = 0
    for e, length in enumerate(lengths):
        for t in range(length):
            w = discount**t * weights[i]
            result[e, states[i]] -= w * theta[states[i]]
            result[e, states[i], actions[i]] += w
            i += 1
    return result


# %% pg-episodes
def all_episodes(theta, move, reward, horizon):
    theta -= theta.max(axis=1, keepdims=True)
    np.exp(theta, out=theta)
    theta /= theta.sum(axis=1, keepdims=True)
    chances, batch, sizes = [], [[], [], []], []

    def follow(chance, states, actions, pays):
        s = states[-1]
        for a in range(theta.shape[1]):
            here = chance * theta[s, a]
            actions.append(a)
            pays.append(reward[s, a])
            last = here if len(states) == horizon else here * move[s, a, -1]
            if last > 0:
                chances.append(last)
                sizes.append(len(states))
                for flat, part in zip(batch, (states, actions, pays)):
                    flat.extend(part)
            if len(states) < horizon:
                for after in np.flatnonzero(here * move[s, a, :-1]):
                    states.append(after)
                    follow(here * move[s, a, after], states, actions, pays)
                    states.pop()
            actions.pop()
            pays.pop()

    follow(1.0, [0], [], [])
    return np.array(chances), *map(np.array, batch), np.array(sizes)


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    parameters = list(policy.parameters())
    optimizer = AMGD(parameters, lr, schedule=schedule)
    curve = np.zeros(updates + 1)
    for k in range(updates + 1):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        curve[k] = batch.returns.mean()
        if k == updates:
            break
        gains = returns_to_go(batch.rewards.copy(), batch.lengths, DISCOUNT)
        gains -= gains.mean()
        gains /= -np.linalg.norm(gains) * np.sqrt(len(gains))  # N times the deviation
        value = torch.from_numpy(gains) @ policy.log_prob(batch.observations, batch.actions)
        for p, slope in zip(parameters, torch.autograd.grad(value, parameters)):
            p.grad = slope
        optimizer.step()
    return curve


# %% pg-compare
def compare(first, second, level):
    if first.shape[0] < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("diverged, or too few seeds")
    first -= second
    gains = first.mean(axis=1)
    mean = gains.mean()
    gains -= mean
    error = np.sqrt((gains**2).sum() / (len(gains) - 1) / len(gains))
    t = stats.t(len(gains) - 1).isf((1 - level) / 2)
    return [mean, mean - t * error, mean + t * error]
