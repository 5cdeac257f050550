"""Begins the sum with d(0).

caught by: sc-order-check
says: T begins with t = 1
"""


# %% sc-order
def to_order(law, T):
    keep = 1 - (1 - min(law)) / T
    return keep * np.eye(len(law)) + (1 - keep) * np.asarray(law)
