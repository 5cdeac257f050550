"""Leaves out the first term.

caught by: sc-mixing-sum-check
says: lacks its first term
"""


# %% sc-mixing-sum
def mixing_sum(P):
    return sum(distance(P, t) for t in range(2, 300))
