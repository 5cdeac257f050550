"""Counts one step too many.

caught by: sc-forgetting-check
says: one step too late
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, law, steps = stationary_law(P), np.array(start, float), 1
    while 0.5 * abs(law - final).sum() > delta + 1e-12:
        law, steps = law @ P, steps + 1
    return steps
