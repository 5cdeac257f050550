"""Measures the gap of x_K, not of x_bar_K.

caught by: cr-exponent-check
says: too fast to be true
"""


# %% cr-exponent
def exponent(p, horizons):
    gaps = []
    for K in horizons:
        gamma = 0.25 * np.arange(1.0, K + 1) ** p
        g = hard_slope(gamma, 1.0)
        run = algorithm_2(lambda y, xi: 0 * y + g, np.zeros((1, K), int), gamma, 0.0, lambda x: onto_ball(x, 1.0), np.ones((1, 1)))
        gaps.append(g * run[1][-1, 0, 0] + g)
    return np.polyfit(np.log(horizons), np.log(gaps), 1)[0]
