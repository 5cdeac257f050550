"""Has a value at the end place.

caught by: at-neu-check
says: features of the end place
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = Phi @ theta
    update = (law * (r + discount * P @ value - Phi @ theta)) @ Phi
    return update @ update
