"""Ignores mu in the step.

caught by: cr-algorithm-check
says: do not use mu
"""


# %% cr-algorithm
def algorithm_2(gradient, states, gamma, mu, project, x0):
    x = x_bar = np.asarray(x0, dtype=float)
    rows = []
    for k, step in enumerate(gamma, start=1):
        alpha, weight, xi = 2 / (k + 1), 1 + mu * step, states[:, k - 1]
        beta = alpha / (alpha + (1 - alpha) * weight)
        y = (1 - beta) * x_bar + beta * x
        x = project(x - step * gradient(y, xi))
        x_bar = (1 - alpha) * x_bar + alpha * x
        rows.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*rows))
