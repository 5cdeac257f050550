"""Lets all replicates see the path of the first one.

caught by: ta-run-hidden
"""


# %% ta-run
def run(gradient, states, rule, x0):
    y, e, path = np.array(x0, dtype=float), np.zeros(np.shape(x0)), []
    states = np.repeat(states[:1], len(x0), axis=0)
    for k in range(1, states.shape[1] + 1):
        G = gradient(y, states[:, k - 1])
        new, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        path.append((y, *read_out(new, e, rule.alpha(k + 1))))
        y = new
    return tuple(np.array(part) for part in zip(*path))
