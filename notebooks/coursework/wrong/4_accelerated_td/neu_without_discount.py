"""Forgets the discount.

caught by: at-neu-check
says: forgets the discount
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(ends, 0.0, Phi @ theta)
    update = (law * (r + P @ value - Phi @ theta)) @ Phi
    return update @ update
