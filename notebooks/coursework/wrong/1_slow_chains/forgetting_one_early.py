"""Stops one step before the law is close.

caught by: sc-forgetting-check
says: one step too early
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, law, steps = stationary_law(P), np.array(start, float), 0
    while 0.5 * abs(law - final).sum() > delta + 1e-12:
        law, steps = law @ P, steps + 1
    return max(steps - 1, 0)
