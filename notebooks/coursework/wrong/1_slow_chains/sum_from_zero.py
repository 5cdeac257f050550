"""Adds the term d(0).

caught by: sc-mixing-sum-check
says: has the term d(0) in it
"""


# %% sc-mixing-sum
def mixing_sum(P):
    return sum(distance(P, t) for t in range(300))
