"""Off by one: counts the places at times 0, ..., H.

caught by: at-law-check
says: H + 1 places
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H + 1):
        visits, law = visits + law, law @ P
    visits[ends] = 0.0
    return visits / visits.sum()
