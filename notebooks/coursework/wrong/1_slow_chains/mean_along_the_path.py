"""Averages the gradients along the path, not those of its last state.

caught by: sc-bias-check
says: chain that swaps 0 and 1 is in state 1
"""


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=i)
    return G[paths[:, : k + 1]].mean(axis=(0, 1)) - stationary_law(P) @ G
