"""Gives the norm and not its square.

caught by: at-neu-check
says: the norm
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(ends, 0.0, Phi @ theta)
    update = (law * (r + discount * P @ value - Phi @ theta)) @ Phi
    return (update @ update) ** 0.5
