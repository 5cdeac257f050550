"""Uses the first state of each batch only.

caught by: cr-batches-check
says: the first state of each batch only
"""


# %% cr-batches
def growing_batches(gradient, states, sizes, gamma, mu, project, x0):
    x = x_bar = np.asarray(x0, dtype=float)
    rows, ends = [], np.cumsum(sizes)
    for k, (step, size, end) in enumerate(zip(gamma, sizes, ends), start=1):
        alpha, weight = 2 / (k + 1), 1 + mu * step
        beta = alpha / (alpha + (1 - alpha) * weight)
        y = (1 - beta) * x_bar + beta * x
        x = project((x + mu * step * y - step * gradient(y, states[:, end - size])) / weight)
        x_bar = (1 - alpha) * x_bar + alpha * x
        rows.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*rows))
