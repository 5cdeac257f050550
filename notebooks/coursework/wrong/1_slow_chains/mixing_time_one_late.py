"""Off by one: counts one step too many.

caught by: sc-mixing-time-check
says: too many
"""


# %% sc-mixing-time
def mixing_time(P, delta):
    k = 1
    while distance(P, k) > delta + 1e-12:
        k += 1
    return k + 1
