"""Leaves the law out.

caught by: at-neu-check
says: with its weight in the law
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(ends, 0.0, Phi @ theta)
    update = (r + discount * P @ value - Phi @ theta) @ Phi
    return update @ update
