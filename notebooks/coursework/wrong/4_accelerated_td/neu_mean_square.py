"""Averages the squares of the updates.

caught by: at-neu-check
says: average the square
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(ends, 0.0, Phi @ theta)
    update = (r + discount * P @ value - Phi @ theta)[:, None] * Phi
    return law @ (update**2).sum(axis=1)
