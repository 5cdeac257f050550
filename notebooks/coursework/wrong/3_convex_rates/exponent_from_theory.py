"""Gives the limit -1 - p without a measurement.

caught by: cr-exponent-hidden
"""


# %% cr-exponent
def exponent(p, horizons):
    return -1.0 - p
