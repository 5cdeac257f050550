"""Takes the state one step too early.

caught by: sc-lag-check
says: off by one step
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates)
    return (g[paths[:, 0]] * g[paths[:, max(k - 1, 0)]]).mean() - (stationary_law(P) @ g) ** 2
