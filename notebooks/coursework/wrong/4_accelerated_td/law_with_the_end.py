"""Gives weight to the end place.

caught by: at-law-check
says: weight in the end place
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        visits, law = visits + law, law @ P
    return visits / visits.sum()
