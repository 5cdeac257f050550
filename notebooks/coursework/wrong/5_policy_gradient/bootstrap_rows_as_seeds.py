"""Draws rows of the curves, not seeds.

caught by: pg-bootstrap-check
says: not rows of their curves
"""


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    """Mean gain of the seeds and the ends of its bootstrap band."""
    gaps = np.subtract(first, second, dtype=float)
    if len(gaps) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("the bootstrap needs finite curves of two seeds or more")
    gain = gaps.mean(axis=1)
    means = gaps.ravel()[rng.integers(gaps.size, size=(draws, gaps.size))].mean(axis=1)
    return gain.mean(), *np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
