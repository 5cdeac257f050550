"""Divides products of 1 - alpha by each other, which fails after a new start.

caught by: ta-budget-hidden
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    left = np.cumprod(np.append(1.0, 1 - alpha[1:]))
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = (gamma - beta) * left[-1] / left
    gap = np.linalg.norm(weights)
    return weights / max(gap, 1e-300), gap
