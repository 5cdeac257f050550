"""Forgets the factor 1/2 of f: the gap is twice as large.

caught by: cr-noisy-check
says: your gap is twice as large
"""


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    paths = chain.sample(K + 1, rng=rng, replicates=replicates)
    start = np.ones((replicates, len(a)))
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths[:, 1:], gamma, mu, lambda x: x, start)
    return (a * run[2][-1] ** 2).sum(axis=-1)
