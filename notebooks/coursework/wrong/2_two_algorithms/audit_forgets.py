"""Makes the colleague's error anew: its buffer is empty before each step.

caught by: ta-audit-check
says: does your own buffer remember the first step
"""


# %% ta-audit
def audit(points, gradients, rule):
    y = points[0]
    for k, G in enumerate(gradients, start=1):
        y, _ = update(y, 0, G, rule.alpha(k), rule.beta(k), rule.gamma(k), rule.alpha(k + 1))
        if abs(points[k] - y).max() > 1e-6:
            return k
    return 0
