"""Searches slopes up to 3 only.

caught by: cr-slope-hidden
"""


# %% cr-slope
def hard_slope(gamma, D):
    k = np.arange(1, len(gamma) + 1)
    slopes = np.linspace(0, 3, 3001)
    left = np.maximum(2 * D - np.multiply.outer(slopes, np.cumsum(gamma)), 0)
    return slopes[np.argmax(slopes * (left * k).sum(axis=1))]
