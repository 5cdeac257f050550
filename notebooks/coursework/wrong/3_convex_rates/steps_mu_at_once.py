"""Counts mu with the step itself, and not with the one before.

caught by: cr-steps-check
says: at t = 1 there is none
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    return k / (np.cumsum(excess) + mu * k * (k + 1) / 2)
