"""Quantiles of the gains, without a draw.

caught by: pg-bootstrap-check
says: of the gains themselves
"""


# %% pg-bootstrap
def bootstrap_band(first, second, level, draws, rng):
    """Mean gain of the seeds and the ends of its bootstrap band."""
    gaps = np.subtract(first, second, dtype=float)
    if len(gaps) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("the bootstrap needs finite curves of two seeds or more")
    gain = gaps.mean(axis=1)
    means = gain
    return gain.mean(), *np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
