"""Starts the search at k = 0.

caught by: sc-mixing-time-check
says: d(0) is already below
"""


# %% sc-mixing-time
def mixing_time(P, delta):
    k = 0
    while distance(P, k) > delta + 1e-12:
        k += 1
    return k
