"""Takes the t quantile of two seeds, tan(pi level / 2), for any number of seeds.

caught by: pg-compare-hidden
"""


# %% pg-compare
def compare(first, second, level):
    both = np.stack([np.asarray(first, float), np.asarray(second, float)])
    if not np.isfinite(both).all() or both.shape[1] < 2:
        raise ValueError("finite curves of at least two seeds are needed")
    scores = both.mean(axis=2)
    gain = scores[0] - scores[1]
    half = np.tan(np.pi * level / 2) * gain.std(ddof=1) / len(gain) ** 0.5
    return gain.mean(), gain.mean() - half, gain.mean() + half
