"""Answers the second variants in plain loops, one place, transition or row after the other."""


# %% at-pairs
def pair_chain(p, reward, policy):
    n, A = policy.shape
    P, r = np.zeros((n * A, n * A)), np.zeros(n * A)
    for s in range(n):
        for a in range(A):
            for t in range(n):
                r[s * A + a] += p[a, s, t] * reward[a, s, t]
                for b in range(A):
                    P[s * A + a, t * A + b] = p[a, s, t] * policy[t, b]
    return P.tolist(), r.tolist()


# %% at-chance
def learning_chance(P, ends, H):
    n = len(P)
    on = [1.0] + [0.0] * (n - 1)  # still walking, and where
    chance = []
    for _ in range(H):
        chance.append(sum(on))
        on = [0.0 if ends[t] else sum(on[s] * P[s][t] for s in range(n)) for t in range(n)]
    return chance


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    total = np.zeros(len(theta))
    for s in range(len(P)):
        if law[s] == 0:
            continue
        for t in range(len(P)):
            after = 0.0 if ends[t] else Phi[t] @ theta
            total += law[s] * P[s, t] * (r[s] + discount * after - Phi[s] @ theta) * Phi[s]
    return sum(x * x for x in total)


# %% at-momentum
def td_momentum(states, rewards, Phi, discount, ends, step, keep):
    m = Phi.shape[1]
    theta, rows = [0.0] * m, [[0.0] * m]
    for k in range(1, len(states) + 1):
        v, total, count = [0.0] * m, [0.0] * m, 0
        for t in range(len(rewards[k - 1])):
            s, after = states[k - 1][t], states[k - 1][t + 1]
            if ends[s]:
                continue
            error = rewards[k - 1][t] - sum(Phi[s][i] * theta[i] for i in range(m))
            if not ends[after]:
                error += discount * sum(Phi[after][i] * theta[i] for i in range(m))
            v = [keep * v[i] + step(k) * error * Phi[s][i] for i in range(m)]
            theta = [theta[i] + v[i] for i in range(m)]
            total = [total[i] + theta[i] for i in range(m)]
            count += 1
        rows.append([x / count for x in total])
    return rows


# %% at-residual
def td_residual(states, rewards, Phi, discount, ends, step):
    theta = np.zeros(Phi.shape[1])
    rows = [theta.copy()]
    for k in range(len(states)):
        for t in range(len(rewards[k])):
            s, after = states[k, t], states[k, t + 1]
            if not ends[s]:
                here, there = Phi[s] @ theta, 0.0 if ends[after] else Phi[after] @ theta
                error = rewards[k, t] + discount * there - here
                theta += step(k + 1) * error * Phi[s]
                if not ends[after]:
                    theta -= step(k + 1) * error * discount * Phi[after]
        rows.append(theta.copy())
    return rows


def total_step(rule, K):
    total = 0.0
    for k in range(1, K + 1):
        total += 1 / (1 / rule.gamma(k) + rule.mu)
    return total


# %% at-first
def first_below(path, A, b, level):
    first = float("inf")
    for k, theta in enumerate(path):
        if not all(np.isfinite(theta)):
            return float("inf")
        if k > 0 and first == float("inf") and sum((b - A @ theta) ** 2) <= level:
            first = k
    return first


def sign_test(first, second):
    wins = sum(a > b for a, b in zip(first, second))
    losses = sum(a < b for a, b in zip(first, second))
    chances = [1.0]  # Pascal's triangle, row after row
    for _ in range(wins + losses):
        chances = [(a + b) / 2 for a, b in zip([0.0, *chances], [*chances, 0.0])]
    return min(1.0, 2 * sum(chances[: min(wins, losses) + 1]))
