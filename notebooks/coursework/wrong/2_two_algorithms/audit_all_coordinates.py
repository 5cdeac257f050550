"""Sees an error only if all coordinates are wrong.

caught by: ta-audit-check
says: you find no error in the colleague's optimizer
"""


# %% ta-audit
def audit(points, gradients, rule):
    y, e = points[0], 0
    for k, G in enumerate(gradients, start=1):
        y, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        if (abs(points[k] - y) > 1e-6).all():
            return k
    return 0
