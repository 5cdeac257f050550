"""Reads the initial state, not the state after k steps.

caught by: sc-bias-check
says: which column of the paths
"""


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=i)
    return G[paths[:, 0]].mean(axis=0) - stationary_law(P) @ G
