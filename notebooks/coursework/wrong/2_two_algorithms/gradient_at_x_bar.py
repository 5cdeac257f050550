"""Takes the gradient at x_bar, not at y.

caught by: ta-run-check
says: gradient is taken at x_bar
"""


# %% ta-run
def run(gradient, states, rule, x0):
    x = x_bar = np.array(x0, dtype=float)
    path = []
    for k, xi in enumerate(np.transpose(states), start=1):
        y = (1 - rule.alpha(k)) * x_bar + rule.alpha(k) * x
        G = gradient(x_bar, xi)
        x, x_bar = x - rule.gamma(k) * G, y - rule.beta(k) * G
        path.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*path))
