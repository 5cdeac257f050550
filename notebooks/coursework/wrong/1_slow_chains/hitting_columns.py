"""Uses the columns of P as its rows.

caught by: sc-hitting-check
says: columns of P for its rows
"""


# %% sc-hitting
def hitting_times(P, target):
    others = np.delete(np.arange(len(P)), target)
    times = np.zeros(len(P))
    times[others] = np.linalg.solve(np.eye(len(others)) - P.T[np.ix_(others, others)], np.ones(len(others)))
    return times
