"""Subtracts the square of the plain mean over the states.

caught by: sc-lag-check
says: how do you weigh the states
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates)
    return (g[paths[:, 0]] * g[paths[:, k]]).mean() - g.mean() ** 2
