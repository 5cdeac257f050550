"""Takes mu once for each step before, however late.

caught by: cr-steps-hidden
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    return k / (np.cumsum(excess) + mu * (k - 1) * np.minimum(k, 3) / 2)
