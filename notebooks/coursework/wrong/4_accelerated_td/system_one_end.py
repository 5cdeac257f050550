"""Knows one end place only.

caught by: at-system-hidden
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(np.arange(len(P))[:, None] == (ends.argmax() if ends.any() else -1), 0.0, Phi)
    weighted = law[:, None] * Phi
    return weighted.T @ (Phi - discount * after), weighted.T @ r
