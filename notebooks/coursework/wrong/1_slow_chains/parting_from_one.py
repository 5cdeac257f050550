"""Begins the sum with t = 1.

caught by: sc-parting-check
says: lacks its first term
"""


# %% sc-parting
def parting_sum(P, i, j):
    difference, total, term = (np.eye(len(P))[i] - np.eye(len(P))[j]) @ P, 0.0, 1.0
    while term > 1e-12:
        term = 0.5 * abs(difference).sum()
        total, difference = total + term, difference @ P
    return total
