"""Works in place on the arrays that it gets."""


# %% at-chain
def chain_of(p, reward, policy):
    p *= policy.T[:, :, None]
    reward *= p
    return p.sum(axis=0), reward.sum(axis=2).sum(axis=0)


# %% at-law
def episode_law(P, ends, H):
    P[ends] = 0  # who arrives is gone
    visits = np.zeros(len(P))
    law = visits.copy()
    law[0] = 1
    for _ in range(H):
        visits += law
        law[:] = law @ P
    visits[ends] = 0
    visits /= visits.sum()
    return visits


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    Phi[ends] = 0
    after = P @ Phi
    after *= -discount
    after += Phi
    Phi *= law[:, None]
    return Phi.T @ after, r @ Phi


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    Phi[ends] = 0
    path = np.zeros((len(states) + 1, Phi.shape[1]))
    x, x_bar = np.zeros((2, Phi.shape[1]))
    for k in range(1, len(states) + 1):
        alpha, beta, gamma, mu = rule.alpha(k), rule.beta(k), rule.gamma(k), rule.mu
        for t in range(rewards.shape[1]):
            s, after = states[k - 1, t], states[k - 1, t + 1]
            if not ends[s]:
                y = x_bar * (1 - beta)
                y += beta * x
                delta = rewards[k - 1, t] + discount * (Phi[after] @ y) - Phi[s] @ y
                y *= mu
                y += delta * Phi[s]
                y *= gamma
                x += y
                x /= 1 + mu * gamma
                x_bar *= 1 - alpha
                x_bar += alpha * x
        path[k] = x_bar
    return path


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    Phi[ends] = 0
    path = np.zeros((len(states) + 1, Phi.shape[1]))
    theta = np.zeros(Phi.shape[1])
    for k in range(1, len(states) + 1):
        eta = step(k)
        for t in range(rewards.shape[1]):
            s, after = states[k - 1, t : t + 2]
            if not ends[s]:
                theta += eta * (rewards[k - 1, t] + discount * Phi[after] @ theta - Phi[s] @ theta) * Phi[s]
        path[k] = theta
    return path


def matched_step(rule, k):
    step = 1 + rule.mu * rule.gamma(k)
    return rule.gamma(k) / step


# %% at-compare
def area(path, A, b):
    if np.isnan(path).any() or np.isinf(path).any():
        return np.inf
    path[1:] = path[1:] @ A.T
    path -= b
    path *= path
    return path[1:].sum(axis=1).mean()


def flip_test(first, second):
    first = np.asarray(first, float)
    first -= second
    patterns = (np.arange(2 ** len(first))[:, None] >> np.arange(len(first))) & 1
    sums = np.abs((2 * patterns - 1) @ first)
    return np.mean(sums >= sums[-1] - 1e-12 * np.abs(first).sum())
