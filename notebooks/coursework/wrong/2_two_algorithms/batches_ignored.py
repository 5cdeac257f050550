"""Makes a step with each state.

caught by: ta-batches-check
says: for 6 states in batches of 2
"""


# %% ta-batches
def run_batches(gradient, states, rule, x0, batch):
    x, e, y, path = x0, 0 * x0, x0, []
    for k, xi in enumerate(states.T, start=1):
        x, e = advance(x, e, lambda point: gradient(point, xi), rule.alpha(k), rule.beta(k), rule.gamma(k))
        path.append((y, x, x + e))
        y = read_points(x, e, rule.alpha(k + 1))[0]
    return tuple(np.array(part) for part in zip(*path))
