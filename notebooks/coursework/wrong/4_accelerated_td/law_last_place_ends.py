"""Takes the last place for the end, whatever `ends` says.

caught by: at-law-hidden
"""


# %% at-law
def episode_law(P, ends, H):
    law, visits = np.zeros(len(P)), np.zeros(len(P))
    law[0] = 1.0
    for _ in range(H):
        visits, law = visits + law, law @ P
    visits[-1] = 0.0
    return visits / visits.sum()
