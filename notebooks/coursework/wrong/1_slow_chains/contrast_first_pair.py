"""Compares the first two starts only.

caught by: sc-contrast-hidden
"""


# %% sc-contrast
def contrast(P, k):
    power = np.linalg.matrix_power(P, k)
    return 0.5 * abs(power[0] - power[1]).sum()
