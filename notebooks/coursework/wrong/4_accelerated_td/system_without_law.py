"""Forgets the weights of the places.

caught by: at-system-check
says: your A is twice as large
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(ends[:, None], 0.0, Phi)
    weighted = Phi
    return weighted.T @ (Phi - discount * after), weighted.T @ r
