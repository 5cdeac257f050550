"""Off by one in k: gives the step of k + 1.

caught by: ta-secret-check
says: steps count from 1
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.beta(k + 1) + rule.alpha(k + 2) * (rule.gamma(k + 1) - rule.beta(k + 1))
