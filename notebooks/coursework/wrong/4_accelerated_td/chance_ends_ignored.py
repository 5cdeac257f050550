"""Learns in end places too.

caught by: at-chance-check
says: your walks never end
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        chance.append(law.sum())
        law = law @ P
    return np.array(chance)
