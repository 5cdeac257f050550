"""Forgets the weights of the places in b.

caught by: at-system-check
says: your b is twice as large
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(ends[:, None], 0.0, Phi)
    weighted = law[:, None] * Phi
    return weighted.T @ (Phi - discount * after), Phi.T @ r
