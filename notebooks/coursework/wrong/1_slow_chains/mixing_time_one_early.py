"""Off by one: stops one step before the distance is small enough.

caught by: sc-mixing-time-check
says: still above delta
"""


# %% sc-mixing-time
def mixing_time(P, delta):
    k = 1
    while distance(P, k) > delta + 1e-12:
        k += 1
    return max(k - 1, 1)
