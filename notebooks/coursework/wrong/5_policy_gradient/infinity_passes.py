"""Looks for NaN in the first method only.

caught by: pg-compare-hidden
"""


# %% pg-compare
def compare(first, second, level):
    both = np.stack([np.asarray(first, float), np.asarray(second, float)])
    if np.isnan(both[0]).any() or both.shape[1] < 2:
        raise ValueError("finite curves of at least two seeds are needed")
    scores = both.mean(axis=2)
    gain = scores[0] - scores[1]
    half = stats.t.ppf((1 + level) / 2, len(gain) - 1) * gain.std(ddof=1) / len(gain) ** 0.5
    return gain.mean(), gain.mean() - half, gain.mean() + half
