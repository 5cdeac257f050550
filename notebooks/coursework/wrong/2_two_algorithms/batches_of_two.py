"""Uses two states of each batch, however many it has.

caught by: ta-batches-hidden
"""


# %% ta-batches
def run_batches(gradient, states, rule, x0, batch):
    x, e, y, path = x0, 0 * x0, x0, []
    for k in range(1, states.shape[1] // batch + 1):
        one, other = states[:, batch * (k - 1)], states[:, batch * (k - 1) + 1]
        push = lambda point: (gradient(point, one) + gradient(point, other)) / 2
        x, e = advance(x, e, push, rule.alpha(k), rule.beta(k), rule.gamma(k))
        path.append((y, x, x + e))
        y = read_points(x, e, rule.alpha(k + 1))[0]
    return tuple(np.array(part) for part in zip(*path))
