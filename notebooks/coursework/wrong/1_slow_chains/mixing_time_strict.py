"""Asks for d(k) < delta where equality is enough.

caught by: sc-mixing-time-check
says: not <
"""


# %% sc-mixing-time
def mixing_time(P, delta):
    k = 1
    while distance(P, k) >= delta - 1e-12:
        k += 1
    return k
