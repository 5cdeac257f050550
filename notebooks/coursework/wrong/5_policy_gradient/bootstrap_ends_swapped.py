"""Gives the upper end first.

caught by: pg-bootstrap-check
says: the lower end comes first
"""


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    """Mean gain of the seeds and the ends of its bootstrap band."""
    gaps = np.subtract(first, second, dtype=float)
    if len(gaps) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("the bootstrap needs finite curves of two seeds or more")
    gain = gaps.mean(axis=1)
    means = gain[rng.integers(len(gain), size=(draws, len(gain)))].mean(axis=1)
    return gain.mean(), *np.quantile(means, [(1 + level) / 2, (1 - level) / 2])
