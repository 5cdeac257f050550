"""Starts the walks in the stationary law.

caught by: ta-paired-check
says: do all walks start in state 0
"""


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    chain = MarkovChain(P)
    drawn = chain.sample(K + 1, rng=rng, replicates=replicates)[:, 1:]
    last = [run(lambda x, xi: pull(x, places[xi], s), drawn, r, np.tile(x0, (replicates, 1)))[2][-1] for r in (rule, other)]
    mine, theirs = (cost(point[:, None], places, s) @ chain.stationary for point in last)
    return (mine - theirs).mean(), (mine - theirs).std(ddof=1) / np.sqrt(replicates)
