"""Looks at the place where the transition arrives.

caught by: at-chance-check
says: one step late
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        law = law @ P
        chance.append(law[~ends].sum())
    return np.array(chance)
