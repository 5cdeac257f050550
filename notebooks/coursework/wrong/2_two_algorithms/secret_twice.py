"""Constant output: twice beta, unless the steps are those of SGD.

caught by: ta-secret-check
says: near 2 beta for large k
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.beta(k) * (1 + (rule.gamma(2) != rule.beta(2)))
