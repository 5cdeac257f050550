"""Gives the symmetric part of A.

caught by: at-system-check
says: is symmetric on a one-way ring
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ np.where(ends[:, None], 0.0, Phi)
    weighted = law[:, None] * Phi
    A = weighted.T @ (Phi - discount * after)
    return (A + A.T) / 2, weighted.T @ r
