"""Takes the start in the most frequent state.

caught by: sc-order-check
says: mixing sum of your chain is
"""


# %% sc-order
def to_order(law, T):
    keep = T / (T + 1 - max(law))
    return keep * np.eye(len(law)) + (1 - keep) * np.asarray(law)
