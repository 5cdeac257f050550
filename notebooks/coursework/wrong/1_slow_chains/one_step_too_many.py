"""Off by one in k: makes k + 1 steps.

caught by: sc-bias-check
says: after 0 steps the chain is still in state i
"""


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 2, rng=rng, replicates=replicates, initial=i)
    return G[paths[:, k + 1]].mean(axis=0) - stationary_law(P) @ G
