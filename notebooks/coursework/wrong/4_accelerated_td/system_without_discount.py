"""Forgets the discount.

caught by: at-system-check
says: forgets the discount
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(ends[:, None], 0.0, Phi)
    weighted = law[:, None] * Phi
    return weighted.T @ (Phi - after), weighted.T @ r
