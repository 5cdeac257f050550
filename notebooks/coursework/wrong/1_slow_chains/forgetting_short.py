"""Gives up after 100 steps.

caught by: sc-forgetting-hidden
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, law, steps = stationary_law(P), np.array(start, float), 0
    while 0.5 * abs(law - final).sum() > delta + 1e-12:
        law, steps = law @ P, steps + 1
    return min(steps, 100)
