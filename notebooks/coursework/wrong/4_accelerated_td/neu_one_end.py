"""Knows one end place only.

caught by: at-neu-hidden
"""


# %% at-neu
def neu(P, r, Phi, law, discount, ends, theta):
    value = np.where(np.arange(len(ends)) == np.argmax(ends), 0.0 if ends.any() else Phi @ theta, Phi @ theta)
    update = (law * (r + discount * P @ value - Phi @ theta)) @ Phi
    return update @ update
