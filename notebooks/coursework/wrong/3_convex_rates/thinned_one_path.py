"""Gives all replicates the same path.

caught by: cr-thinned-check
says: the replicates need paths of their own
"""


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    path = chain.sample(samples + 1, rng=rng, replicates=1)[:, keep::keep]
    k = np.arange(1, samples // keep + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    run = algorithm_2(lambda y, xi: a * y + noise[xi], np.repeat(path, replicates, axis=0), gamma, mu, np.array, np.ones((replicates, len(a))))
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
