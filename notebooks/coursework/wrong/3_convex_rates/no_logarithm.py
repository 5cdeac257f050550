"""Fits the gap, not its logarithm.

caught by: cr-exponent-check
says: where its logarithm is asked for
"""


# %% cr-exponent
def exponent(p, horizons):
    gaps = []
    for K in horizons:
        gamma = 0.25 * np.arange(1.0, K + 1) ** p
        g = hard_slope(gamma, 1.0)
        run = algorithm_2(lambda y, xi: 0 * y + g, np.zeros((1, K), int), gamma, 0.0, lambda x: onto_ball(x, 1.0), np.ones((1, 1)))
        gaps.append(g * run[2][-1, 0, 0] + g)
    return np.polyfit(horizons, gaps, 1)[0]
