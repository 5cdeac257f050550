"""Spends the same on each step.

caught by: ta-budget-check
says: your gradients are equally long
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= 1 - alpha[k]
        weights[k] = gamma[k] - beta[k]
    G = np.sign(weights) / len(alpha) ** 0.5
    return G, G @ weights
