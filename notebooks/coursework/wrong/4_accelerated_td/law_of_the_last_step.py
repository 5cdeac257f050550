"""Gives the law at the last step.

caught by: at-law-check
says: last step only
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        visits, law = law.copy(), law @ P
    visits[ends] = 0.0
    return visits / visits.sum()
