"""The band from the quantile of the other tail and the sum of squares; the curves are checked one by one."""


# %% pg-compare
class Diverged(ValueError):
    """A run cannot be scored."""


def compare(first, second, level):
    n, gains = len(first), []
    for one, other in zip(first, second):
        score = np.sum(one) / one.size - np.sum(other) / other.size
        if not np.isfinite(np.concatenate([one, other])).all():
            raise Diverged(f"seed {len(gains)}")
        gains.append(score)
    if n < 2:
        raise Diverged("a single seed")
    gains = np.array(gains)
    variance = (np.sum(gains**2) - n * np.mean(gains) ** 2) / (n - 1)
    low = np.mean(gains) + stats.t.ppf((1 - level) / 2, n - 1) * np.sqrt(variance / n)
    return np.array([np.mean(gains), low, 2 * np.mean(gains) - low])
