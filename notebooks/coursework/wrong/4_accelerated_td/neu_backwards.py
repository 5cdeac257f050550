"""Lets the chain run backwards.

caught by: at-neu-check
says: runs backwards
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(ends, 0.0, Phi @ theta)
    update = (law * (r + discount * P.T @ value - Phi @ theta)) @ Phi
    return update @ update
