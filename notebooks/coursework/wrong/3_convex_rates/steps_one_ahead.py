"""Off by one in k: begins with gamma_2.

caught by: cr-noisy-check
says: your steps are one ahead
"""


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * k / 2 + 4 * max(a) / (k + 1))
    paths = chain.sample(K + 1, rng=rng, replicates=replicates)
    start = np.ones((replicates, len(a)))
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths[:, 1:], gamma, mu, lambda x: x, start)
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
