"""Answers the second variants with the three sequences, in plain loops."""


# %% ta-advance
def advance(x, e, gradient, alpha, beta, gamma):
    x_bar = x + e
    y = alpha * x + (1 - alpha) * x_bar
    push = gradient(y)
    x_bar = y - beta * push
    x = x - gamma * push
    return [x, x_bar - x]


def read_points(x, e, alpha_next):
    x_bar = x + e
    y = alpha_next * x + (1 - alpha_next) * x_bar
    return y, x_bar


# %% ta-batches
def run_batches(gradient, states, rule, x0, batch):
    K = states.shape[1] // batch
    y, x, x_bar = np.zeros((3, K, *x0.shape))
    long = short = x0
    column = 0
    for k in range(K):
        alpha = rule.alpha(k + 1)
        y[k] = alpha * long + (1 - alpha) * short
        total = np.zeros(x0.shape)
        for _ in range(batch):
            total += gradient(y[k].copy(), states[:, column])
            column += 1
        long = x[k] = long - rule.gamma(k + 1) * total / batch
        short = x_bar[k] = y[k] - rule.beta(k + 1) * total / batch
    return y, x, x_bar


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    K = len(alpha)
    reach = []
    for i in range(K):
        part = gamma[i] - beta[i]
        for j in range(i + 1, K):
            part = part * (1 - alpha[j])
        reach.append(part)
    gap = sum(part**2 for part in reach) ** 0.5
    if gap == 0:
        return [1.0] + [0.0] * (K - 1), 0.0
    return [-part / gap for part in reach], gap


# %% ta-disguise
def disguise(s, alpha, beta):
    sizes = []
    for k in range(len(s)):
        part = alpha[k + 1]
        sizes.append((s[k] - (1 - part) * beta[k]) / part)
    return sizes


# %% ta-audit
def audit(points, gradients, rule):
    long = short = points[0]
    look = points[0]
    for k in range(1, len(gradients) + 1):
        long = long - rule.gamma(k) * gradients[k - 1]
        short = look - rule.beta(k) * gradients[k - 1]
        look = short + rule.alpha(k + 1) * (long - short)
        for mine, theirs in zip(look, points[k]):
            if not -1e-6 <= mine - theirs <= 1e-6:
                return k
    return 0


# %% ta-curvatures
def curvatures(r, s):
    along = s**4 * (s**2 - 3 * r**2) / (s**2 + r**2) ** 3
    across = s**4 / (s**2 + r**2) ** 2
    return along, across


def lonely_problem():
    places = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -2.0]])
    home = np.array([0.8, 0.05, 0.05, 0.05, 0.05])
    walk = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            walk[i, j] = 0.3 * home[j] + (0.7 if i == j else 0.0)
    return places, 2.0, walk


# %% ta-tolerance
def tolerance(epsilon, K, L, gap, chain):
    left = epsilon - gap / K**0.5
    if left < 0:
        return 0
    least, early = float("inf"), 0.0
    for tau in range(1, 1500):
        d = chain.tv_distance(tau)
        noise = L / K**0.5 * (1.5 + 20 * (tau - 1) / 3) + 2 * d + 4 * early / K
        least = min(least, noise)
        if tau <= K:
            early += d
        if L / K**0.5 * 20 * (tau - 1) / 3 > least:
            break
    return (left / least) ** 0.5


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    chain = MarkovChain(P)
    walks = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)
    law = chain.stationary
    apart = 0.0
    for sign, sizes in ((1, rule), (-1, other)):
        long = short = np.array([x0] * replicates)
        for k in range(1, K + 1):
            look = sizes.alpha(k) * long + (1 - sizes.alpha(k)) * short
            G = pull(look, places[walks[:, k]], s)
            long, short = long - sizes.gamma(k) * G, look - sizes.beta(k) * G
        for i in range(len(places)):
            apart = apart + sign * law[i] * cost(short, places[i], s)
    mean = sum(apart) / replicates
    square = sum((a - mean) ** 2 for a in apart) / (replicates - 1)
    return mean, (square / replicates) ** 0.5
