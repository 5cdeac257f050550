"""Says that the hidden step is gamma.

caught by: ta-secret-check
says: is the long step
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.gamma(k)
