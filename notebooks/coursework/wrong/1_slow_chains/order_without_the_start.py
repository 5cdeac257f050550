"""Takes d(t) for the power of the chance to stay.

caught by: sc-order-check
says: too small by a factor
"""


# %% sc-order
def to_order(law, T):
    keep = T / (T + 1)
    return keep * np.eye(len(law)) + (1 - keep) * np.asarray(law)
