"""Draws from a generator of its own: each call gives the same gaps.

caught by: cr-noisy-hidden
"""


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    paths = chain.sample(K + 1, rng=np.random.default_rng(0), replicates=replicates)
    start = np.ones((replicates, len(a)))
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths[:, 1:], gamma, mu, lambda x: x, start)
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
