"""Takes the last state for the worst start, as it is in the visible test.

caught by: sc-distance-hidden
"""


# %% sc-distance
def distance(P, k):
    difference = np.linalg.matrix_power(P, k) - stationary_law(P)
    return 0.5 * abs(difference[-1]).sum()
