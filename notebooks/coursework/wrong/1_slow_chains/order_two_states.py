"""Stays more often in the frequent states.

caught by: sc-order-hidden
"""


# %% sc-order
def to_order(law, T):
    rate = 1 - T / (T + 1 - min(law))
    step = rate * np.roll(np.eye(len(law)), 1, axis=1) * (1 - np.asarray(law))[:, None]
    return step + np.diag(1 - step.sum(axis=1))
