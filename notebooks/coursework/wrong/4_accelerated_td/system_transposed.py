"""Gives the transpose of A.

caught by: at-system-check
says: transposed
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(ends[:, None], 0.0, Phi)
    weighted = law[:, None] * Phi
    return (Phi - discount * after).T @ weighted, weighted.T @ r
