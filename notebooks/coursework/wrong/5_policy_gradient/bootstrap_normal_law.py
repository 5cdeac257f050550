"""A normal band with the spread of the draws.

caught by: pg-bootstrap-check
says: no normal law
"""


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    """Mean gain of the seeds and the ends of its bootstrap band."""
    gaps = np.subtract(first, second, dtype=float)
    if len(gaps) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("the bootstrap needs finite curves of two seeds or more")
    gain = gaps.mean(axis=1)
    means = gain[rng.integers(len(gain), size=(draws, len(gain)))].mean(axis=1)
    return gain.mean(), *stats.norm.interval(level, gain.mean(), means.std())
