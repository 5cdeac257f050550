"""Plain Python: loops, lists and floats."""


# %% at-chain
def chain_of(p, reward, policy):
    actions, n = len(p), len(p[0])
    P, r = [[0.0] * n for _ in range(n)], [0.0] * n
    for s in range(n):
        for a in range(actions):
            for t in range(n):
                chance = float(policy[s, a] * p[a, s, t])
                P[s][t] += chance
                r[s] += chance * float(reward[a, s, t])
    return np.array(P), np.array(r)


# %% at-law
def episode_law(P, ends, H):
    n = len(P)
    law, visits = [1.0] + [0.0] * (n - 1), [0.0] * n
    for _ in range(H):
        for s in range(n):
            if not ends[s]:
                visits[s] += law[s]
        law = [sum(law[s] * float(P[s, t]) for s in range(n)) for t in range(n)]
    return [v / sum(visits) for v in visits]


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    n, m = Phi.shape
    A, b = np.zeros((m, m)), np.zeros(m)
    for s in range(n):
        if ends[s]:
            continue
        for i in range(m):
            b[i] += law[s] * Phi[s, i] * r[s]
            for j in range(m):
                after = sum(P[s, t] * Phi[t, j] for t in range(n) if not ends[t])
                A[i, j] += law[s] * Phi[s, i] * (Phi[s, j] - discount * after)
    return A, b


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    m, features = len(Phi[0]), Phi.tolist()
    x, x_bar = [0.0] * m, [0.0] * m
    path = [x_bar]
    for k, (places, pays) in enumerate(zip(states.tolist(), rewards.tolist()), start=1):
        alpha, beta, gamma, mu = float(rule.alpha(k)), float(rule.beta(k)), float(rule.gamma(k)), rule.mu
        for t, pay in enumerate(pays):
            s, after = places[t], places[t + 1]
            if ends[s]:
                break
            y = [(1 - beta) * u + beta * v for u, v in zip(x_bar, x)]
            delta = pay - sum(f * c for f, c in zip(features[s], y))
            if not ends[after]:
                delta += discount * sum(f * c for f, c in zip(features[after], y))
            x = [(v + mu * gamma * c + gamma * delta * f) / (1 + mu * gamma) for v, c, f in zip(x, y, features[s])]
            x_bar = [(1 - alpha) * u + alpha * v for u, v in zip(x_bar, x)]
        path.append(x_bar)
    return path


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    theta = [0.0] * len(Phi[0])
    path = [list(theta)]
    for k in range(1, len(states) + 1):
        eta, t = float(step(k)), 0
        while t < len(rewards[0]) and not ends[states[k - 1][t]]:
            s, after = states[k - 1][t], states[k - 1][t + 1]
            value = sum(f * c for f, c in zip(Phi[s], theta))
            following = 0.0 if ends[after] else sum(f * c for f, c in zip(Phi[after], theta))
            delta = rewards[k - 1][t] + discount * following - value
            for i in range(len(theta)):
                theta[i] += eta * delta * Phi[s][i]
            t += 1
        path.append(list(theta))
    return path


def matched_step(rule, k):
    return 1 / (rule.mu + 1 / rule.gamma(k))


# %% at-compare
def area(path, A, b):
    import math

    total = 0.0
    for theta in path.tolist()[1:]:
        if not all(math.isfinite(c) for c in theta):
            return float("inf")
        for i in range(len(theta)):
            total += (float(b[i]) - sum(float(A[i, j]) * theta[j] for j in range(len(theta)))) ** 2
    return total / (len(path) - 1)


def flip_test(first, second):
    from itertools import product

    differences = [float(u) - float(v) for u, v in zip(first, second)]
    slack = 1e-12 * sum(abs(d) for d in differences)
    seen = abs(sum(differences))
    extreme = 0
    for signs in product((1, -1), repeat=len(differences)):
        extreme += abs(sum(s * d for s, d in zip(signs, differences))) >= seen - slack
    return extreme / 2 ** len(differences)
