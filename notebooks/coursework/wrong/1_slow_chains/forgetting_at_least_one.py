"""Makes one step at least.

caught by: sc-forgetting-check
says: needs no step at all
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, law, steps = stationary_law(P), np.array(start, float), 0
    while 0.5 * abs(law - final).sum() > delta + 1e-12:
        law, steps = law @ P, steps + 1
    return max(steps, 1)
