"""Takes the worst start and not the given one.

caught by: sc-forgetting-check
says: the worst start
"""


# %% sc-forgetting
def forgetting_time(P, start, delta):
    final, power, steps = stationary_law(P), np.eye(len(P)), 0
    while 0.5 * abs(power - final).sum(axis=1).max() > delta + 1e-12:
        power, steps = power @ P, steps + 1
    return steps
