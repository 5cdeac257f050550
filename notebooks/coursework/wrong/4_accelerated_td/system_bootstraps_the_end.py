"""Uses the features of the end place for the value after the end.

caught by: at-system-check
says: nothing comes after it
"""


# %% at-system
def td_system(P, r, Phi, law, discount, ends):
    after = P @ Phi
    weighted = law[:, None] * Phi
    return weighted.T @ (Phi - discount * after), weighted.T @ r
