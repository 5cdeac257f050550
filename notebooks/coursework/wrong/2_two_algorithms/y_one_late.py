"""Off by one in k: stores y_{k+1} in the row of y_k.

caught by: ta-run-check
says: one step late
"""


# %% ta-run
def run(gradient, states, rule, x0):
    y, e, path = np.array(x0, dtype=float), np.zeros(np.shape(x0)), []
    states = np.asarray(states)
    for k in range(1, states.shape[1] + 1):
        G = gradient(y, states[:, k - 1])
        new, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        path.append((new, *read_out(new, e, rule.alpha(k + 1))))
        y = new
    return tuple(np.array(part) for part in zip(*path))
