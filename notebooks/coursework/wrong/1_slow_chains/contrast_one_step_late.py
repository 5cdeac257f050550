"""Makes one step too many.

caught by: sc-contrast-check
says: after k + 1 steps
"""


# %% sc-contrast
def contrast(P, k):
    power = np.linalg.matrix_power(P, k + 1)
    return 0.5 * abs(power[:, None] - power).sum(axis=2).max()
