"""Lets each step see its own excess only.

caught by: cr-steps-check
says: sees its own excess only
"""


# %% cr-steps
def steps_with(excess, mu):
    k = np.arange(1, len(excess) + 1)
    with np.errstate(divide="ignore"):
        return k / (excess + mu * (k - 1))
