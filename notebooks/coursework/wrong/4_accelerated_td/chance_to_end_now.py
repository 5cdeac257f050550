"""Gives the probability that the walk ends in this transition.

caught by: at-chance-check
says: ends in this transition
"""


# %% at-chance
def learning_chance(P, ends, H):
    law, chance = np.eye(len(P))[0], []
    for _ in range(H):
        chance.append((law[~ends] @ P[~ends])[ends].sum())
        law = law @ P
    return np.array(chance)
