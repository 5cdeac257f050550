"""Averages the samples between.

caught by: cr-thinned-check
says: do you leave samples out, or average them
"""


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    K = samples // keep
    paths = chain.sample(samples + 1, rng=rng, replicates=replicates)[:, 1 : K * keep + 1]
    errors = iter(noise[paths].reshape(replicates, K, keep, -1).mean(axis=2).swapaxes(0, 1))
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    run = algorithm_2(lambda y, xi: a * y + next(errors), paths[:, :K], gamma, mu, np.array, np.ones((replicates, len(a))))
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
