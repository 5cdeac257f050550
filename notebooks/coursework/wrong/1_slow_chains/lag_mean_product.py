"""Does not subtract the square of the mean.

caught by: sc-lag-check
says: subtract the square of the mean
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates)
    return (g[paths[:, 0]] * g[paths[:, k]]).mean()
