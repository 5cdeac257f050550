"""Counts the steps before the one that arrives.

caught by: sc-hitting-check
says: the step that arrives counts too
"""


# %% sc-hitting
def hitting_times(P, target):
    others = np.delete(np.arange(len(P)), target)
    times = np.zeros(len(P))
    times[others] = np.linalg.solve(np.eye(len(others)) - P[np.ix_(others, others)], np.ones(len(others))) - 1
    return times
