"""No loop where an array will do; what a transition needs is prepared before the loop."""


# %% at-chain
def chain_of(p, reward, policy):
    return np.einsum("sa,ast->st", policy, p), np.einsum("sa,ast,ast->s", policy, p, reward)


# %% at-law
def episode_law(P, ends, H):
    laws = [np.eye(len(P))[0]]
    for _ in range(H - 1):
        laws.append(laws[-1] @ P)
    visits = np.where(ends, 0, np.sum(laws, axis=0))
    return visits / visits.sum()


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    difference = Phi - discount * P[:, ~ends] @ Phi[~ends]
    return np.einsum("s,si,sj->ij", law, Phi, difference), np.einsum("s,si,s->i", law, Phi, r)


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    here = Phi[states[:, :-1]]
    drift = discount * Phi[states[:, 1:]] * ~ends[states[:, 1:], None] - here
    learned = (~ends[states[:, :-1]]).sum(axis=1)
    points, path = np.zeros((2, Phi.shape[1])), np.zeros((len(states) + 1, Phi.shape[1]))  # x_bar, x
    for k in range(1, len(states) + 1):
        a, b, g = rule.alpha(k), rule.beta(k), rule.gamma(k)
        for t in range(learned[k - 1]):
            y = np.array([1 - b, b]) @ points
            delta = rewards[k - 1, t] + drift[k - 1, t] @ y
            x = (points[1] + rule.mu * g * y + g * delta * here[k - 1, t]) / (1 + rule.mu * g)
            points = np.array([(1 - a) * points[0] + a * x, x])
        path[k] = points[0]
    return path


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    here = Phi[states[:, :-1]] * ~ends[states[:, :-1], None]  # 0 where nothing is learned
    drift = discount * Phi[states[:, 1:]] * ~ends[states[:, 1:], None] - here
    path = np.zeros((len(states) + 1, Phi.shape[1]))
    for k in range(len(states)):
        theta, eta = path[k].copy(), step(k + 1)
        for t in range(rewards.shape[1]):
            theta = theta + eta * (rewards[k, t] + drift[k, t] @ theta) * here[k, t]
        path[k + 1] = theta
    return path


def matched_step(rule, k):
    return np.divide(rule.gamma(k), 1 + rule.mu * rule.gamma(k))


# %% at-compare
def area(path, A, b):
    update = np.einsum("ij,kj->ki", A, path[1:]) - b
    neu = np.einsum("ki,ki->k", update, update).mean()
    return np.where(np.all(np.isfinite(path)), neu, np.inf)[()]


def flip_test(first, second):
    d = np.array(first, float) - np.array(second, float)
    signs = 1 - 2 * np.indices((2,) * len(d)).reshape(len(d), -1)
    sums = abs(d @ signs)
    return np.float64((sums >= sums[0] - 1e-12 * abs(d).sum()).sum()) / sums.size
