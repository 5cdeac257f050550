"""Puts 2 / (k + 1) for alpha_k, whatever the rule says.

caught by: ta-run-hidden
"""


# %% ta-run
def run(gradient, states, rule, x0):
    y, e, path = np.array(x0, dtype=float), np.zeros(np.shape(x0)), []
    states = np.asarray(states)
    for k in range(1, states.shape[1] + 1):
        G = gradient(y, states[:, k - 1])
        new, e = update(y, e, G, 2 / (k + 1), rule.beta(k), rule.gamma(k), 2 / (k + 2))
        path.append((y, *read_out(new, e, 2 / (k + 2))))
        y = new
    return tuple(np.array(part) for part in zip(*path))
