"""Gives the gap of x_K.

caught by: cr-thinned-check
says: your gap is that of x_K
"""


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    paths = chain.sample(samples + 1, rng=rng, replicates=replicates)[:, keep::keep]
    k = np.arange(1, samples // keep + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths, gamma, mu, np.array, np.ones((replicates, len(a))))
    return (a * run[1][-1] ** 2).sum(axis=-1) / 2
