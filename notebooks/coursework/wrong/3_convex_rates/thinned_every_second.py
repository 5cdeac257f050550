"""Keeps every second sample, whatever is asked.

caught by: cr-thinned-hidden
"""


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    keep = min(keep, 2)
    paths = chain.sample(samples + 1, rng=rng, replicates=replicates)[:, keep::keep]
    k = np.arange(1, samples // keep + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths, gamma, mu, np.array, np.ones((replicates, len(a))))
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
