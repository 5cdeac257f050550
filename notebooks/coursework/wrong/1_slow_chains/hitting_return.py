"""Gives the time to come back to the target.

caught by: sc-hitting-check
says: the time to come back
"""


# %% sc-hitting
def hitting_times(P, target):
    others = np.delete(np.arange(len(P)), target)
    times = np.zeros(len(P))
    times[others] = np.linalg.solve(np.eye(len(others)) - P[np.ix_(others, others)], np.ones(len(others)))
    times[target] = 1 + P[target] @ times
    return times
