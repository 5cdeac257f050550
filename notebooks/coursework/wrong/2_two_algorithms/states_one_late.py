"""Off by one in k: step k uses the state of step k + 1.

caught by: ta-run-check
says: does not use the first of the states
"""


# %% ta-run
def run(gradient, states, rule, x0):
    y, e, path = np.array(x0, dtype=float), np.zeros(np.shape(x0)), []
    states = np.asarray(states)
    for k in range(1, states.shape[1] + 1):
        G = gradient(y, states[:, k % states.shape[1]])
        new, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        path.append((y, *read_out(new, e, rule.alpha(k + 1))))
        y = new
    return tuple(np.array(part) for part in zip(*path))
