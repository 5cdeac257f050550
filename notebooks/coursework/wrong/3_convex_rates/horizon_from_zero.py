"""Gives no step for a large gap, and counts from 0.

caught by: cr-horizon-check
says: K is at least 1
"""


# %% cr-horizon
def horizon(p, level):
    return 0
