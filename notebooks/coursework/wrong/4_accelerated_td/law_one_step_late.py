"""Off by one: counts the places at times 1, ..., H.

caught by: at-law-check
says: where the steps arrive
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        law = law @ P
        visits = visits + law
    visits[ends] = 0.0
    return visits / visits.sum()
