"""Copies the closed formula of the visible test.

caught by: sc-distance-hidden
"""


# %% sc-distance
def distance(P, k):
    return 0.75 * 0.6**k
