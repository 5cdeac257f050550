"""Answers the second variants with products of matrices, binomials from SciPy, and updates in place."""


# %% at-pairs
def pair_chain(p, reward, policy):
    n, A = policy.shape
    moves = p.transpose(1, 0, 2).reshape(n * A, n)
    pick = (np.eye(n)[:, :, None] * policy[:, None]).reshape(n, n * A)
    return moves @ pick, (moves * reward.transpose(1, 0, 2).reshape(n * A, n)).sum(axis=1)


# %% at-chance
def learning_chance(P, ends, H):
    P[:, ends] = 0  # who has ended is gone
    return np.array([np.linalg.matrix_power(P, t)[0].sum() for t in range(H)])


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    D = np.diag(law)
    after = P @ np.diag((~ends).astype(float)) @ Phi
    A, b = Phi.T @ D @ (Phi - discount * after), Phi.T @ D @ r
    return np.linalg.norm(b - A @ theta) ** 2


# %% at-momentum
def td_momentum(states, rewards, Phi, discount, ends, step, keep):
    table = Phi * ~ends[:, None]
    theta = np.zeros(Phi.shape[1])
    answer = np.zeros((len(states) + 1, Phi.shape[1]))
    for k in range(len(states)):
        before, learned = theta.copy(), 0  # v is what theta has moved by in the last step
        for s, t, pay in zip(states[k], states[k, 1:], rewards[k]):
            if not ends[s]:
                new = theta + step(k + 1) * (pay + discount * table[t] @ theta - Phi[s] @ theta) * Phi[s]
                new += keep * (theta - before)
                before, theta, learned = theta, new, learned + 1
                answer[k + 1] += theta
        answer[k + 1] /= learned
    return answer


# %% at-residual
def td_residual(states, rewards, Phi, discount, ends, step):
    table = Phi * ~ends[:, None]
    theta = np.zeros(Phi.shape[1])
    answer = np.zeros((len(states) + 1, Phi.shape[1]))
    for k in range(len(states)):
        live = ~ends[states[k, :-1]]
        ways = (Phi[states[k, :-1]] - discount * table[states[k, 1:]])[live]
        for way, pay in zip(ways, rewards[k][live]):
            theta = theta - step(k + 1) * (np.outer(way, way) @ theta - pay * way)
        answer[k + 1] = theta
    return answer


def total_step(rule, K):
    gamma = np.array([rule.gamma(k) for k in range(1, K + 1)])
    return np.sum(gamma / (1 + rule.mu * gamma))


# %% at-first
def first_below(path, A, b, level):
    rest = np.einsum("ij,kj->ki", A, path) - b
    low = np.einsum("ki,ki->k", rest, rest) <= level
    low[0] = False
    return float(low.argmax()) if low.any() and np.abs(path).max() < np.inf else np.inf


def sign_test(first, second):
    from scipy.stats import binom

    signs = np.sign(np.asarray(first, float) - np.asarray(second, float))
    n = np.count_nonzero(signs)
    return min(1.0, 2 * binom.cdf(min((signs > 0).sum(), (signs < 0).sum()), n, 0.5)) if n else 1.0
