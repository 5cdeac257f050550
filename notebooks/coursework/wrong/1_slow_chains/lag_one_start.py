"""Starts all chains in state 0.

caught by: sc-lag-check
says: start in the same state
"""


# %% sc-lag
def measured_autocovariance(P, g, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=0)
    return (g[paths[:, 0]] * g[paths[:, k]]).mean() - (stationary_law(P) @ g) ** 2
