"""Takes alpha for beta.

caught by: cr-batches-check
says: your beta_k is alpha_k
"""


# %% cr-batches
def growing_batches(gradient, states, sizes, gamma, mu, project, x0):
    x = x_bar = np.asarray(x0, dtype=float)
    rows, ends = [], np.cumsum(sizes)
    for k, (step, size, end) in enumerate(zip(gamma, sizes, ends), start=1):
        alpha, weight = 2 / (k + 1), 1 + mu * step
        y = (1 - alpha) * x_bar + alpha * x
        push = sum(gradient(y, xi) for xi in states.T[end - size : end]) / size
        x = project((x + mu * step * y - step * push) / weight)
        x_bar = (1 - alpha) * x_bar + alpha * x
        rows.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*rows))
