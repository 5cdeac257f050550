"""Equivalent formulas: powers of the transient part, products with diagonal matrices, steps as differences."""


# %% at-chain
def chain_of(p, reward, policy):
    P = sum(np.diag(policy[:, a]) @ p[a] for a in range(len(p)))
    mean = (p * reward).sum(axis=2)  # (actions, places)
    return P, np.diag(policy @ mean)


# %% at-law
def episode_law(P, ends, H):
    inside = np.flatnonzero(~ends)
    Q = P[np.ix_(inside, inside)]
    visits = sum(np.linalg.matrix_power(Q, t)[0] for t in range(H))  # place 0 is no end
    law = np.zeros(len(P))
    law[inside] = visits / np.sum(visits)
    return law


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    D, alive = np.diag(law), np.diag(1 - ends.astype(int))
    return Phi.T @ D @ (np.eye(len(P)) - discount * P @ alive) @ Phi, Phi.T @ D @ r


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    m = Phi.shape[1]
    x, gap = np.zeros(m), np.zeros(m)  # gap = x_bar - x
    path = [np.zeros(m)]
    for k in range(1, len(states) + 1):
        eta = 1 / (rule.mu + 1 / rule.gamma(k))
        alpha, beta = rule.alpha(k), rule.beta(k)
        for s, after, pay in zip(states[k - 1], states[k - 1, 1:], rewards[k - 1]):
            if ends[s]:
                continue
            ahead = (1 - beta) * gap  # y - x
            values = Phi @ (x + ahead)
            values[ends] = 0
            move = eta * (rule.mu * ahead + (pay + discount * values[after] - values[s]) * Phi[s])
            x, gap = x + move, (1 - alpha) * (gap - move)
        path.append(x + gap)
    return np.stack(path)


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    theta = np.zeros(Phi.shape[1])
    path = [theta]
    for k, (row, pays) in enumerate(zip(states, rewards)):
        for t in range(len(pays)):
            s, after = row[t], row[t + 1]
            if ends[s]:
                continue
            target = pays[t] + (0 if ends[after] else discount * np.dot(Phi[after], theta))
            theta = theta + step(k + 1) * (target - np.dot(Phi[s], theta)) * Phi[s]
        path.append(theta)
    return np.vstack(path)


def matched_step(rule, k):
    contraction = 1 / (1 + rule.mu * rule.gamma(k))
    return np.float64(rule.gamma(k)) * contraction


# %% at-compare
def area(path, A, b):
    with np.errstate(all="ignore"):
        total = np.mean([np.linalg.norm(A @ theta - b) ** 2 for theta in path[1:]])
    return total if np.isfinite(path).all() else np.inf


def flip_test(first, second):
    d = np.subtract(first, second)
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums + value, sums - value])
    return np.count_nonzero(abs(sums) - abs(d.sum()) >= -1e-12 * abs(d).sum()) / sums.size
