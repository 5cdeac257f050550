"""Divides by all steps, not by those that are learned from.

caught by: at-law-check
says: divide by the transitions that are learned
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        visits, law = visits + law, law @ P
    visits[ends] = 0.0
    return visits / H
