"""Forgets the factor 1/2 of total variation.

caught by: sc-forgetting-check
says: twice as large
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, law, steps = stationary_law(P), np.array(start, float), 0
    while 1.0 * abs(law - final).sum() > delta + 1e-12:
        law, steps = law @ P, steps + 1
    return steps
