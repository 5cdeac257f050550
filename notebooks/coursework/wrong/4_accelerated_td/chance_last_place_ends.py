"""Takes the last place for the only end.

caught by: at-chance-hidden
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        chance.append(law[:-1].sum())
        law = law @ P
    return np.array(chance)
