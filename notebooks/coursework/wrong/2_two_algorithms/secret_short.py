"""Says that the hidden step is beta.

caught by: ta-secret-check
says: is the short step
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.beta(k)
