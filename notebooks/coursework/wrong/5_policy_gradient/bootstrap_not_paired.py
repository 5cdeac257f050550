"""Draws the seeds of the two methods apart.

caught by: pg-bootstrap-check
says: pair the runs
"""


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    """Mean gain of the seeds and the ends of its bootstrap band."""
    gaps = np.subtract(first, second, dtype=float)
    if len(gaps) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("the bootstrap needs finite curves of two seeds or more")
    gain = gaps.mean(axis=1)
    one, other = np.mean(first, axis=1), np.mean(second, axis=1)
    drawn = [x[rng.integers(len(gain), size=(draws, len(gain)))].mean(axis=1) for x in (one, other)]
    means = drawn[0] - drawn[1]
    return gain.mean(), *np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
