"""Forgets that episodes are cut.

caught by: at-law-check
says: never cut
"""


# %% at-law
def episode_law(P, ends, H):
    live = ~ends
    visits = np.zeros(len(P))
    visits[live] = np.linalg.solve(np.eye(live.sum()) - P[np.ix_(live, live)].T, np.eye(live.sum())[0])
    return visits / visits.sum()
