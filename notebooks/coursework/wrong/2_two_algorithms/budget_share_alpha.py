"""Keeps the share alpha of the past.

caught by: ta-budget-check
says: your buffer keeps the share alpha
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= alpha[k]
        weights[k] = gamma[k] - beta[k]
    gap = np.linalg.norm(weights)
    return weights / max(gap, 1e-300), gap
