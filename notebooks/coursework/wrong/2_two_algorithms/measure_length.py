"""Averages the length of the gradient, not its square.

caught by: ta-measure-check
says: not its square
"""


# %% ta-measure
def measure(places, s, P, rule, K, replicates, x0, rng):
    chain = MarkovChain(P)
    states = chain.sample(K + 1, rng=rng, replicates=replicates, initial=0)[:, 1:]
    y, x, x_bar = run(lambda z, xi: pull(z, places[xi], s), states, rule, np.tile(x0, (replicates, 1)))
    full = np.einsum("i,krid->krd", chain.stationary, pull(y[:, :, None], places, s))
    p = rule.gamma(np.arange(1, K + 1))
    each = p @ np.linalg.norm(full, axis=2) / p.sum()
    return each.mean(), each.std(ddof=1) / np.sqrt(replicates)
