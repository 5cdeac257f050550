"""Works in place on the arrays that it gets."""


# %% sc-stationary
def stationary_law(P):
    right_side = np.zeros(len(P))
    right_side[0] = 1
    P -= np.eye(len(P))
    P[:, 0] = 1
    return np.linalg.solve(P.T, right_side)


# %% sc-distance
def distance(P, k):
    law = stationary_law(P.copy())
    P[:] = np.linalg.matrix_power(P, k)
    P -= law
    np.abs(P, out=P)
    return P.sum(axis=1).max() / 2


# %% sc-mixing-time
def mixing_time(P, delta):
    law, step = stationary_law(P.copy()), P.copy()
    P -= law
    k = 1
    while np.abs(P).sum(axis=1).max() / 2 > delta + 1e-12:
        P[:] = P @ step
        k += 1
    return k


# %% sc-mixing-sum
def mixing_sum(P):
    step = P.copy()
    P -= stationary_law(P.copy())
    total = np.zeros(())
    while np.abs(P).max() > 1e-14:
        total += np.abs(P).sum(axis=1).max() / 2
        P[:] = P @ step
    return total


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    G -= stationary_law(P.copy()) @ G
    last = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=i)[:, -1]
    return G[last].mean(axis=0)


# %% sc-worst
def worst_case(P, k, M):
    law = stationary_law(P.copy())
    P[:] = np.linalg.matrix_power(P, k)
    P -= law
    i = np.abs(P).sum(axis=1).argmax()
    g = np.sign(P[i])
    g *= M
    return i, g


# %% sc-misleading
def misleading(C):
    chain = np.zeros((3, 3))
    chain[0, 1] = 1
    chain[1, 0] = 1 / C**2
    chain[2, 1] = chain[1, 0]
    chain[1, 2] = 1
    chain[1:] /= 1 + chain[1, 0]
    chain[2, 2] = 1 - chain[2, 1]
    return chain
