"""Raises each entry of P to the power k.

caught by: sc-distance-check
says: fall by the same factor
"""


# %% sc-distance
def distance(P, k):
    return 0.5 * abs(P**k - stationary_law(P)).sum(axis=1).max()
