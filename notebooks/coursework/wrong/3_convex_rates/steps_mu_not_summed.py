"""Counts mu for the last step before only.

caught by: cr-steps-check
says: each step before has left its mu
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    return k / (np.cumsum(excess) + mu * (k - 1))
