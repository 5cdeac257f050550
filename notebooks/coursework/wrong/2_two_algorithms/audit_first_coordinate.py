"""Looks at the first coordinate only.

caught by: ta-audit-check
says: look at all coordinates
"""


# %% ta-audit
def audit(points, gradients, rule):
    y, e = points[0], 0
    for k, G in enumerate(gradients, start=1):
        y, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        if abs(points[k] - y)[0] > 1e-6:
            return k
    return 0
