"""Uses alpha_k in place of alpha_{k+1}.

caught by: ta-secret-check
says: has the wrong alpha
"""


# %% ta-secret
def secret_step(rule, k):
    return rule.beta(k) + rule.alpha(k) * (rule.gamma(k) - rule.beta(k))
