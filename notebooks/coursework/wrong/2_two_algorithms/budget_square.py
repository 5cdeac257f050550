"""Gives the square of the gap.

caught by: ta-budget-check
says: your gap is the square of a distance
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= 1 - alpha[k]
        weights[k] = gamma[k] - beta[k]
    gap = weights @ weights
    return weights / max(gap**0.5, 1e-300), gap
