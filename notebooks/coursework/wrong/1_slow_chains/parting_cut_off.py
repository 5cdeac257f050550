"""Stops after 250 terms.

caught by: sc-parting-hidden
"""


# %% sc-parting
def parting_sum(P, i, j):
    difference, total = np.eye(len(P))[i] - np.eye(len(P))[j], 0.0
    for _ in range(250):
        total, difference = total + 0.5 * abs(difference).sum(), difference @ P
    return total
