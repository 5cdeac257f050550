"""Leaves out the numerators t and t - 1.

caught by: cr-steps-check
says: which numerators stand above
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    return 1 / (np.cumsum(excess) + mu * (k - 1))
