"""Gives gradients without their signs.

caught by: ta-budget-check
says: your gradients only reach
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= 1 - alpha[k]
        weights[k] = gamma[k] - beta[k]
    gap = np.linalg.norm(weights)
    return abs(weights) / max(gap, 1e-300), gap
