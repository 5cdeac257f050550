"""Waits for the direct step to the target only.

caught by: sc-hitting-check
says: the ways that go back first count too
"""


# %% sc-hitting
def hitting_times(P, target):
    with np.errstate(divide="ignore"):
        times = 1 / P[:, target]
    times[target] = 0
    return times
