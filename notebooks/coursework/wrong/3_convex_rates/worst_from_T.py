"""Computes the bound from the mixing sum.

caught by: cr-worst-check
says: T adds absolute values
"""


# %% cr-worst
def worst_price(chain):
    return 1 + 4 * chain.mixing_sum
