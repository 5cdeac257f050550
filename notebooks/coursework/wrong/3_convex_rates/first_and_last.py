"""Draws a line through the first and the last horizon only.

caught by: cr-exponent-hidden
"""


# %% cr-exponent
def exponent(p, horizons):
    gaps = []
    for K in horizons:
        gamma = 0.25 * np.arange(1.0, K + 1) ** p
        g = hard_slope(gamma, 1.0)
        run = algorithm_2(lambda y, xi: 0 * y + g, np.zeros((1, K), int), gamma, 0.0, lambda x: onto_ball(x, 1.0), np.ones((1, 1)))
        gaps.append(g * run[2][-1, 0, 0] + g)
    return np.log(gaps[-1] / gaps[0]) / np.log(horizons[-1] / horizons[0])
