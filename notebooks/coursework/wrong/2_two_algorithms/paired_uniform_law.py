"""Weighs all places alike in f.

caught by: ta-paired-hidden
"""


# %% ta-paired
def compare(places, s, P, rule, other, K, replicates, x0, rng):
    drawn = MarkovChain(P).sample(K + 1, rng=rng, replicates=replicates, initial=0)[:, 1:]
    last = [run(lambda x, xi: pull(x, places[xi], s), drawn, r, np.tile(x0, (replicates, 1)))[2][-1] for r in (rule, other)]
    mine, theirs = (cost(point[:, None], places, s).mean(axis=1) for point in last)
    return (mine - theirs).mean(), (mine - theirs).std(ddof=1) / np.sqrt(replicates)
