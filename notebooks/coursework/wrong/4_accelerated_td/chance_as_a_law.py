"""Divides by the sum.

caught by: at-chance-check
says: a probability of its own
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        chance.append(law[~ends].sum())
        law = law @ P
    return np.array(chance) / np.sum(chance)
