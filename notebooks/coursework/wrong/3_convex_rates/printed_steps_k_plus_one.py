"""Uses the printed steps of Theorem 3, with k + 1.

caught by: cr-noisy-check
says: with k + 1
"""


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 2 / (mu * (k + 1))
    paths = chain.sample(K + 1, rng=rng, replicates=replicates)
    start = np.ones((replicates, len(a)))
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths[:, 1:], gamma, mu, lambda x: x, start)
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
