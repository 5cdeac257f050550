"""Measures the distance of the worse start to the stationary law.

caught by: sc-parting-check
says: distance to the stationary law
"""


# %% sc-parting
def parting_sum(P, i, j):
    rows, total, term = np.eye(len(P))[[i, j]], 0.0, 1.0
    while term > 1e-12:
        term = 0.5 * abs(rows - stationary_law(P)).sum(axis=1).max()
        total, rows = total + term, rows @ P
    return total
