"""Copies the closed formula of Nesterov's steps, which the visible test uses.

caught by: ta-secret-hidden
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.beta(k) * (1 + (k - 1) / (k + 2) * (rule.gamma(2) != rule.beta(2)))
