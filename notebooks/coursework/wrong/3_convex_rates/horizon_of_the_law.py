"""Uses the power law of the gap, which holds for long runs.

caught by: cr-horizon-hidden
"""


# %% cr-horizon
def horizon(p, level):
    if p == 0:
        return int(np.ceil(6 / level - 0.5))
    if p == 1:
        return int(np.ceil((16 / level + 0.6) ** 0.5 - 1.2))
    return max(1, int(np.ceil((2 * (1 + p) * (3 + p) / level) ** (1 / (1 + p))))) if p > -0.9 else 9
