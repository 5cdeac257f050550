"""Leaves out the factor 1 - alpha.

caught by: ta-budget-check
says: your buffer forgets nothing
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = gamma - beta
    gap = np.linalg.norm(weights)
    return weights / max(gap, 1e-300), gap
