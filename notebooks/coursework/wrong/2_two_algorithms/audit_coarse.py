"""Lets errors below a thousandth pass.

caught by: ta-audit-hidden
"""


# %% ta-audit
def audit(points, gradients, rule):
    y, e = points[0], 0
    for k, G in enumerate(gradients, start=1):
        y, e = update(y, e, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        if abs(points[k] - y).max() > 1e-3:
            return k
    return 0
