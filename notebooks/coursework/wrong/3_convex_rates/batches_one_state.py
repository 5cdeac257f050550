"""Uses one state in each step.

caught by: cr-batches-check
says: you use one state in each step
"""


# %% cr-batches
def growing_batches(gradient, states, sizes, gamma, mu, project, x0):
    x = x_bar = np.asarray(x0, dtype=float)
    rows = []
    for k, step in enumerate(gamma, start=1):
        alpha, weight = 2 / (k + 1), 1 + mu * step
        beta = alpha / (alpha + (1 - alpha) * weight)
        y = (1 - beta) * x_bar + beta * x
        x = project((x + mu * step * y - step * gradient(y, states[:, k - 1])) / weight)
        x_bar = (1 - alpha) * x_bar + alpha * x
        rows.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*rows))
