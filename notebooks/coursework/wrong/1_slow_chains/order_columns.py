"""Draws the new state along the columns.

caught by: sc-order-check
says: the rows must be
"""


# %% sc-order
def to_order(law, T):
    keep = T / (T + 1 - min(law))
    return (keep * np.eye(len(law)) + (1 - keep) * np.asarray(law)).T
