"""Lets each gradient be as long as 1 when the gap is computed.

caught by: ta-budget-check
says: gradients that are all as long as 1
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    weights = np.zeros(len(alpha))
    for k in range(len(alpha)):
        weights *= 1 - alpha[k]
        weights[k] = gamma[k] - beta[k]
    return np.sign(weights) / len(alpha) ** 0.5, abs(weights).sum()
