"""Forgets mu.

caught by: cr-steps-check
says: your steps do not use mu
"""


# %% cr-steps
def steps_with(excess, mu):
    return np.arange(1, len(excess) + 1) / np.cumsum(excess)
