"""Gives the replicates on the first axis.

caught by: ta-run-check
says: the shapes are
"""


# %% ta-run
def run(gradient, states, rule, x0):
    y, e, path = np.array(x0, dtype=float), np.zeros(np.shape(x0)), []
    states = np.asarray(states)
    for k in range(1, states.shape[1] + 1):
        G = gradient(y, states[:, k - 1])
        new, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        path.append((y, *read_out(new, e, rule.alpha(k + 1))))
        y = new
    return tuple(np.swapaxes(part, 0, 1) for part in zip(*path))
