"""Uses the package where it is allowed, whole numbers for signs, and a bias from one long product of matrices."""


# %% sc-stationary
def stationary_law(P):
    n = len(P)
    A = np.eye(n) - P + np.ones((n, n))  # pi A = 1, because pi P = pi and pi sums to 1
    return np.linalg.solve(A.T, np.ones(n))


# %% sc-distance
def distance(P, k):
    return float(np.max(np.sum(np.abs(np.linalg.matrix_power(P, k) - stationary_law(P)), axis=1)) / 2)


# %% sc-mixing-time
def mixing_time(P, delta):
    k = 1
    while distance(P, k) - delta >= 1e-12:
        k = k + 1
    return float(k)


# %% sc-mixing-sum
def mixing_sum(P):
    k, total = 1, 0.0
    while (d := distance(P, k)) > 1e-10:
        total, k = total + d, k + 1
    return total


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    chain = markov.MarkovChain(P)
    start = np.eye(len(P))[i]
    paths = chain.sample(k + 1, rng=rng, replicates=replicates, initial=start)
    share = np.bincount(paths[:, -1], minlength=len(P)) / replicates
    return share @ G - chain.stationary @ G


# %% sc-worst
def worst_case(P, k, M):
    chain = markov.MarkovChain(P)
    excess = np.linalg.matrix_power(P, k) - chain.stationary
    i = int(np.argmax(excess.clip(0).sum(axis=1)))
    return i, M * (2 * (excess[i] > 0).astype(int) - 1)
