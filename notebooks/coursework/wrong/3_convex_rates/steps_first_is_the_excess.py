"""Gives 1 / gamma.

caught by: cr-steps-check
says: your first step is e_1 itself
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    return (np.cumsum(excess) + mu * k * (k - 1) / 2) / k
