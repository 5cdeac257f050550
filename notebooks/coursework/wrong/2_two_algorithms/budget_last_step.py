"""Spends all on the last step.

caught by: ta-budget-check
says: your gap counts the last step only
"""


# %% ta-budget
def gap_on_a_budget(alpha, beta, gamma):
    G = np.zeros(len(alpha))
    G[-1] = 1
    return G, abs(gamma[-1] - beta[-1])
