"""Gives the probability that the walk has ended.

caught by: at-chance-check
says: walk has ended
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        chance.append(law[ends].sum())
        law = law @ P
    return np.array(chance)
