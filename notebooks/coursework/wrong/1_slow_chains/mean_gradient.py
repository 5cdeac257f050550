"""Does not subtract the true gradient.

caught by: sc-bias-check
says: subtract the true one
"""


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=i)
    return G[paths[:, k]].mean(axis=0)
