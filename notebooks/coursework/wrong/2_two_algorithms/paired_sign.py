"""Subtracts the first rule from the second.

caught by: ta-paired-check
says: your difference has the wrong sign
"""


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    chain = MarkovChain(P)
    drawn = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)[:, 1:]
    last = [run(lambda x, xi: pull(x, places[xi], s), drawn, r, np.tile(x0, (replicates, 1)))[2][-1] for r in (rule, other)]
    mine, theirs = (cost(point[:, None], places, s) @ chain.stationary for point in last)
    return (theirs - mine).mean(), (mine - theirs).std(ddof=1) / np.sqrt(replicates)
