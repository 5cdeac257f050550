"""Draws paths for each rule anew.

caught by: ta-paired-check
says: do you draw two sets of paths
"""


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    chain = MarkovChain(P)
    values = []
    for r in (rule, other):
        drawn = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)[:, 1:]
        last = run(lambda x, xi: pull(x, places[xi], s), drawn, r, np.tile(x0, (replicates, 1)))[2][-1]
        values.append(cost(last[:, None], places, s) @ chain.stationary)
    apart = values[0] - values[1]
    return apart.mean(), apart.std(ddof=1) / np.sqrt(replicates)
