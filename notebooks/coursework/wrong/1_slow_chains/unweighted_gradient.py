"""Takes the plain mean over the states for the true gradient.

caught by: sc-bias-check
says: how do you weigh the states
"""


# %% sc-bias
def measured_bias(P, G, i, k, replicates, rng):
    paths = markov.MarkovChain(P).sample(k + 1, rng=rng, replicates=replicates, initial=i)
    return G[paths[:, k]].mean(axis=0) - G.mean(axis=0)
