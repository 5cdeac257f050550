"""Adds a hundred terms whatever the chain.

caught by: sc-mixing-sum-hidden
"""


# %% sc-mixing-sum
def mixing_sum(P):
    return sum(distance(P, t) for t in range(1, 101))
