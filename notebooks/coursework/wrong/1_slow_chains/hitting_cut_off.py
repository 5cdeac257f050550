"""Adds up the chances of not having arrived over 10000 steps.

caught by: sc-hitting-hidden
"""


# %% sc-hitting
def hitting_times(P, target):
    stays = np.array(P)
    stays[:, target] = 0
    alive = np.ones(len(P))
    alive[target] = 0
    times = np.zeros(len(P))
    for _ in range(10_000):
        times, alive = times + alive, stays @ alive
        alive[target] = 0
    return times
