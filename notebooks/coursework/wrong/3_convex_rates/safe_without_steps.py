"""Bounds the gap by that of the start.

caught by: cr-safe-check
says: your slope is safe without any step
"""


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    return epsilon / (2 * D)
