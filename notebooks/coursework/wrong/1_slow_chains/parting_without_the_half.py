"""Forgets the factor 1/2 of total variation.

caught by: sc-parting-check
says: twice as large
"""


# %% sc-parting
def parting_sum(P, i, j):
    difference, total, term = np.eye(len(P))[i] - np.eye(len(P))[j], 0.0, 1.0
    while term > 1e-12:
        term = abs(difference).sum()
        total, difference = total + term, difference @ P
    return total
