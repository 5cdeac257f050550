r"""Summaries of repeated runs: bands, slopes and paired comparisons.

A result is an array with one row for each independent run (a seed, a replicate).
Intervals are Student's: for :math:`n` runs with mean :math:`m` and standard deviation :math:`s` the band is
:math:`m \pm t_{n-1} s / \sqrt n`. With ten runs a normal interval or a percentile bootstrap covers too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from amgd import _checks as check

__all__ = ["Band", "PairedComparison", "log_slope", "mean_band", "paired_difference"]

# 2**16 sign patterns are enumerated in a moment; beyond that the test draws patterns at random.
EXACT_RUNS = 16


@dataclass(frozen=True)
class Band:
    """Mean of runs with a symmetric interval.

    Attributes
    ----------
    mean, low, high : ndarray, shape (...)
        Mean over the runs and the ends of its interval.
    n : int
        Number of runs.
    level : float
        Nominal coverage of the interval.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: int
    level: float


@dataclass(frozen=True)
class PairedComparison:
    """Difference of two methods that were run on the same seeds.

    Attributes
    ----------
    difference : Band
        Mean of first minus second with its Student-t interval.
    p_value : float
        Two-sided sign-flip p-value of "the differences are symmetric about 0".
    """

    difference: Band
    p_value: float


def _runs(samples: ArrayLike, name: str, least: int) -> NDArray[np.float64]:
    values = check.numeric(name, samples, "pass one row of numbers for each run")
    if values.ndim == 0 or values.shape[0] < least:
        n = values.shape[0] if values.ndim else 0
        raise ValueError(
            f"{name} needs at least {least} runs on its first axis: got {n} (shape {values.shape}); run more seeds"
        )
    bad = ~np.isfinite(values)
    if bad.any():
        run = int(np.argwhere(bad)[0][0])
        raise ValueError(
            f"{name} must be finite: run {run} holds {values[bad][0]}; "
            "a run that diverged has no mean: leave it out by name or stop it earlier"
        )
    return values


def mean_band(samples: ArrayLike, level: float = 0.9) -> Band:
    r"""Mean over runs with its Student-t interval.

    Parameters
    ----------
    samples : array_like, shape (n, ...)
        One row for each run, :math:`n \ge 2`.
    level : float
        Nominal coverage in (0, 1).

    Returns
    -------
    Band

    Raises
    ------
    ValueError
        For fewer than two runs, a value that is not finite, or a level outside (0, 1).

    Examples
    --------
    >>> band = mean_band([1.0, 2.0, 3.0], level=0.9)
    >>> print(f"{band.mean:.1f} [{band.low:.2f}, {band.high:.2f}], n = {band.n}")
    2.0 [0.31, 3.69], n = 3
    """
    values = _runs(samples, "samples", 2)
    level = check.real("level", level, "0.9 draws a 90% band", "(0, 1)")
    n = values.shape[0]
    mean = values.mean(axis=0)
    half = stats.t.ppf((1 + level) / 2, n - 1) * stats.sem(values, axis=0)
    return Band(mean, mean - half, mean + half, n, level)


def log_slope(k: ArrayLike, values: ArrayLike) -> float:
    r"""Slope of a curve on two logarithmic axes: the exponent :math:`p` of the best fit :math:`c\,k^p`.

    Parameters
    ----------
    k, values : array_like, shape (m,)
        Positive numbers, :math:`m \ge 2`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For fewer than two different points, different lengths, or a number that is not positive and finite.

    Examples
    --------
    >>> round(log_slope([1, 10, 100], [5, 0.5, 0.05]), 6)
    -1.0
    """
    cure = "pass the points of a curve"
    x, y = check.numeric("k", k, cure), check.numeric("values", values, cure)
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise ValueError(
            f"k and values must be two vectors of one length >= 2: got shapes {x.shape} and {y.shape}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (x > 0).all() and (y > 0).all()):
        raise ValueError(
            "k and values must be positive and finite to have logarithms: "
            f"got k from {x.min()} and values from {y.min()}; cut the range"
        )
    if (x == x[0]).all():
        raise ValueError(f"k must hold two different numbers: got {x[0]:g} only; add points")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.9,
    rng: np.random.Generator | None = None,
    draws: int = 65536,
) -> PairedComparison:
    r"""Compare two methods that were run on the same seeds.

    The p-value is that of the sign-flip test: if the methods do not differ, each difference is as likely to carry the
    other sign. Up to 16 runs all sign patterns are enumerated; beyond that ``draws`` patterns are drawn by ``rng``.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        One number for each seed, in the same order.
    level : float
        Coverage of the interval of the mean difference.
    rng : numpy.random.Generator, optional
        Needed for more than 16 runs only.
    draws : int
        Number of random sign patterns for more than 16 runs.

    Returns
    -------
    PairedComparison

    Raises
    ------
    ValueError
        For different lengths, fewer than two runs, values that are not finite, or more than 16 runs without ``rng``.

    Examples
    --------
    >>> paired_difference([3.0, 4.0, 5.0], [1.0, 3.0, 2.0]).p_value
    0.25
    """
    a, b = _runs(first, "first", 2), _runs(second, "second", 2)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"first and second need one number for each shared seed: got shapes {a.shape} and {b.shape}"
        )
    difference = a - b
    n = difference.size
    if n <= EXACT_RUNS:
        signs = np.array(list(product([1.0, -1.0], repeat=n)))
    elif rng is None:
        raise ValueError(
            f"more than {EXACT_RUNS} runs need random sign patterns: got n = {n} and no rng; "
            "pass rng=numpy.random.default_rng(seed)"
        )
    else:
        rng = check.generator(rng)
        draws = check.integer("draws", draws, 1, "it counts random sign patterns")
        signs = rng.choice([1.0, -1.0], size=(draws, n))
        signs[0] = 1.0  # the observed pattern counts, so p is never 0
    flipped = np.abs(signs @ difference)
    # sums that agree up to rounding count as equal
    as_large = flipped >= abs(difference.sum()) * (1 - 1e-12)
    return PairedComparison(mean_band(difference, level), float(as_large.mean()))
