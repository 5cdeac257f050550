"""Swaps the weights of x and x_bar in the look-ahead point.

caught by: ta-run-check
says: with which weight
"""


# %% ta-run
def run(gradient, states, rule, x0):
    x = x_bar = np.array(x0, dtype=float)
    path = []
    for k, xi in enumerate(np.transpose(states), start=1):
        y = rule.alpha(k) * x_bar + (1 - rule.alpha(k)) * x
        G = gradient(y, xi)
        x, x_bar = x - rule.gamma(k) * G, y - rule.beta(k) * G
        path.append((y, x, x_bar))
    return tuple(np.array(part) for part in zip(*path))
