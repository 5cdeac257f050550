"""NaN hidden by nanmean: a run that diverged loses its bad rows.

caught by: pg-compare-check
says: passes in silence
"""


# %% pg-compare
def compare(first, second, level):
    scores = np.nanmean(first, axis=1), np.nanmean(second, axis=1)
    gain = scores[0] - scores[1]
    half = stats.t.ppf((1 + level) / 2, len(gain) - 1) * gain.std(ddof=1) / len(gain) ** 0.5
    return gain.mean(), gain.mean() - half, gain.mean() + half
