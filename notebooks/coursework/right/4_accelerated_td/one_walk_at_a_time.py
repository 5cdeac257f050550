"""Cuts each walk at its end first, keeps value tables of places, and counts half of the sign patterns."""


# %% at-chain
def chain_of(p, reward, policy):
    weights = np.moveaxis(p, 0, 1) * policy[:, :, None]  # [s, a, t]
    return weights.sum(axis=1), (weights * np.moveaxis(reward, 0, 1)).sum(axis=(1, 2))


# %% at-law
def episode_law(P, ends, H):
    n = len(P)
    learned, law = np.zeros(n), np.array([1] + [0] * (n - 1))
    for step in range(H):
        law = np.where(ends, 0, law)
        learned = learned + law
        law = P.T @ law
    return learned / np.sum(learned)


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    m = Phi.shape[1]
    update = lambda theta: Phi.T @ (law * (r + discount * P @ np.where(ends, 0, Phi @ theta) - Phi @ theta))
    b = update(np.zeros(m))
    return np.column_stack([b - update(unit) for unit in np.eye(m)]), b


# %% at-acc
def transitions(places, pays, ends):
    """Learned transitions of one walk."""
    stop = list(ends[places]).index(True) if ends[places].any() else len(pays)
    return list(zip(places[:stop], places[1 : stop + 1], pays[:stop]))


def td_acc(states, rewards, Phi, discount, ends, rule):
    live = Phi * (1 - ends)[:, None]
    x, x_bar = np.zeros(Phi.shape[1]), np.zeros(Phi.shape[1])
    path = [x_bar.tolist()]
    for k in range(1, len(states) + 1):
        alpha, beta, gamma = rule.alpha(k), rule.beta(k), rule.gamma(k)
        for s, after, pay in transitions(states[k - 1], rewards[k - 1], ends):
            y = x_bar + beta * (x - x_bar)
            V = live @ y
            direction = (pay + discount * V[after] - V[s]) * Phi[s]
            x = (x + gamma * (rule.mu * y + direction)) / (1 + gamma * rule.mu)
            x_bar = x_bar + alpha * (x - x_bar)
        path.append(x_bar.tolist())
    return path


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    free = SimpleNamespace(alpha=lambda k: 1.0, beta=lambda k: 1.0, gamma=step, mu=0.0)
    return td_acc(states, rewards, Phi, discount, ends, free)


def matched_step(rule, k):
    return float(rule.gamma(k) / (1.0 + rule.mu * rule.gamma(k)))


# %% at-compare
def area(path, A, b):
    import math

    if not math.isfinite(abs(path).max()):
        return math.inf
    return float(np.average(np.sum(np.square(np.subtract(b, np.matmul(path[1:], np.transpose(A)))), axis=-1)))


def flip_test(first, second):
    d = [u - v for u, v in zip(first, second)]
    slack, half, count = 1e-12 * sum(map(abs, d)), 2 ** (len(d) - 1), 0
    for number in range(half):  # the first difference keeps its sign: |sum| is the same for the opposite pattern
        total = d[0]
        for place, value in enumerate(d[1:]):
            total += value if number >> place & 1 else -value
        count += abs(total) >= abs(sum(d)) - slack
    return count / half
