"""Divides 0 by 0 where the points cannot part.

caught by: ta-budget-check
says: is a 0/0 hidden somewhere
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= 1 - alpha[k]
        weights[k] = gamma[k] - beta[k]
    gap = np.linalg.norm(weights)
    with np.errstate(invalid="ignore"):
        return weights / gap, gap
