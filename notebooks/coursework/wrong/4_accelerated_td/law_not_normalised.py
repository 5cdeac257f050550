"""Gives mean numbers of visits.

caught by: at-law-check
says: a law sums to 1
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        visits, law = visits + law, law @ P
    visits[ends] = 0.0
    return visits
