"""Draws the new state from the uniform law.

caught by: sc-order-check
says: uniform
"""


# %% sc-order
def to_order(law, T):
    keep = T / (T + 1 - 1 / len(law))
    return keep * np.eye(len(law)) + (1 - keep) / len(law)
