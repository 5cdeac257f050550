"""Divides a running sum by powers of the discount, and hides the NaN of 0/0.

caught by: pg-returns-hidden
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result, start = np.zeros(len(rewards)), 0
    for length in lengths:
        part = slice(start, start + length)
        with np.errstate(all="ignore"):
            powers = discount ** np.arange(float(length))
            sums = np.cumsum((powers * np.asarray(rewards)[part])[::-1])[::-1]
            result[part] = np.nan_to_num(sums / powers)
        start += length
    return result
