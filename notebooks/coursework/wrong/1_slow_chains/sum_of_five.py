"""Adds five terms.

caught by: sc-mixing-sum-check
says: not that of its series
"""


# %% sc-mixing-sum
def mixing_sum(P):
    return sum(distance(P, t) for t in range(1, 6))
