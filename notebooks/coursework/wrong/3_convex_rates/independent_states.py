"""Draws independent states from the stationary law.

caught by: cr-noisy-check
says: do the states follow the chain
"""


# %% cr-noisy
def noisy_gaps(chain, noise, a, mu, K, replicates, rng):
    k = np.arange(1, K + 1)
    gamma = 1 / (mu * (k - 1) / 2 + 4 * max(a) / k)
    paths = rng.choice(len(noise), p=chain.stationary, size=(replicates, K + 1))
    start = np.ones((replicates, len(a)))
    run = algorithm_2(lambda y, xi: a * y + noise[xi], paths[:, 1:], gamma, mu, lambda x: x, start)
    return (a * run[2][-1] ** 2).sum(axis=-1) / 2
