r"""Summaries of repeated runs: bands, numbers that stand for a curve, and paired comparisons.

A result is an array with one row for each independent run (a seed, a replicate).
Intervals are Student's: for :math:`n` runs with mean :math:`m` and standard deviation :math:`s` the band is
:math:`m \pm t_{n-1} s / \sqrt n`. With ten runs a normal interval or a percentile bootstrap covers too little.

A learning curve is compared by one number, to be chosen before the runs: its mean height
(`area_under_curve`) or the first row at a threshold (`first_passage`).
Several comparisons in one table are corrected by Holm's method (`holm`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from amgd import _checks as check

__all__ = [
    "Band",
    "PairedComparison",
    "area_under_curve",
    "first_passage",
    "holm",
    "log_slope",
    "mean_band",
    "paired_difference",
]

# 2**16 sign patterns are enumerated in a moment; beyond that the test draws patterns at random.
EXACT_RUNS = 16
# The squares of smaller numbers have a finite sum.
LARGEST = 1e150


@dataclass(frozen=True)
class Band:
    """Mean of runs with a symmetric interval.

    Attributes
    ----------
    mean, low, high : ndarray, shape (...)
        Mean over the runs and the ends of its interval; infinite ends if there is one run.
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
    bad = ~(np.abs(values) < LARGEST)  # true of nan too
    if bad.any():
        run = int(np.argwhere(bad)[0][0])
        raise ValueError(
            f"{name} must be finite and below {LARGEST:g} in size: run {run} holds {values[bad][0]}; "
            "a run that diverged has no mean: leave it out by name or stop it earlier"
        )
    return values


def mean_band(samples: ArrayLike, level: float = 0.9, *, least: int = 2) -> Band:
    r"""Mean over runs with its Student-t interval.

    Parameters
    ----------
    samples : array_like, shape (n, ...)
        One row for each run.
    level : float
        Nominal coverage in (0, 1).
    least : int
        Fewer runs are refused. With 1 a single run is let through; its interval is the whole line,
        as one run says nothing of the spread.

    Returns
    -------
    Band

    Raises
    ------
    ValueError
        For too few runs, a value that is not below 1e150 in size, or a level outside (0, 1).

    Examples
    --------
    >>> band = mean_band([1.0, 2.0, 3.0], level=0.9)
    >>> print(f"{band.mean:.1f} [{band.low:.2f}, {band.high:.2f}], n = {band.n}")
    2.0 [0.31, 3.69], n = 3
    """
    least = check.integer("least", least, 1, "it counts runs")
    values = _runs(samples, "samples", least)
    level = check.real("level", level, "0.9 draws a 90% band", "(0, 1)")
    n = values.shape[0]
    mean = values.mean(axis=0)
    if n == 1:
        return Band(mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf), n, level)
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


def _curves(k: ArrayLike, samples: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x = check.array("k", k, ("m",), "pass the updates or episodes of the rows")
    if (np.diff(x) <= 0).any():
        at = int(np.argmax(np.diff(x) <= 0)) + 1
        raise ValueError(
            f"k must increase: entry {at} is {x[at]:g} after {x[at - 1]:g}; sort the rows by k"
        )
    y = _runs(samples, "samples", 1)
    if y.ndim != 2 or y.shape[1] != x.size:
        raise ValueError(
            f"samples must have one row a run and one column a k: got shape {y.shape} for "
            f"{x.size} values of k"
        )
    return x, y


def area_under_curve(
    k: ArrayLike, samples: ArrayLike, *, rule: str = "trapezoid"
) -> NDArray[np.float64]:
    r"""Mean height of each curve: the area under it, over the range of k.

    The division makes it a number on the scale of the curve, such as a mean return.

    Parameters
    ----------
    k : array_like, shape (m,)
        Increasing. With a single k the height there is returned.
    samples : array_like, shape (n, m)
        One row for each run.
    rule : {"trapezoid", "right"}
        Straight lines between the rows; or steps, where each row has the height of the interval
        that ends at it. The second leaves out the first row, so where that is a start which all
        methods share it does not hide their differences. For equally spaced k it is the mean of
        the rows after the first.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        If the shapes do not fit, k does not increase, a value is not below 1e150 in size, or the rule is
        unknown.

    Examples
    --------
    >>> area_under_curve([0, 1, 3], [[0.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    array([1.66666667, 1.        ])
    >>> area_under_curve([0, 1, 2], [[9.0, 2.0, 4.0]], rule="right")
    array([3.])
    """
    x, y = _curves(k, samples)
    check.choice("rule", rule, ("trapezoid", "right"))
    if x.size == 1:
        return y[:, 0]
    heights = (y[:, :-1] + y[:, 1:]) / 2 if rule == "trapezoid" else y[:, 1:]
    return np.asarray(heights @ (np.diff(x) / (x[-1] - x[0])))


def first_passage(
    k: ArrayLike, samples: ArrayLike, threshold: float, *, above: bool = True
) -> NDArray[np.float64]:
    r"""Return the k of the first row of each curve at the threshold or beyond.

    The curves are taken as they are: a noisy one passes earlier than its mean.

    Parameters
    ----------
    k : array_like, shape (m,)
        Increasing.
    samples : array_like, shape (n, m)
        One row for each run.
    threshold : float
    above : bool
        Whether beyond means larger.

    Returns
    -------
    ndarray, shape (n,)
        Infinity for a curve that never gets there, so that a median over runs stays honest.

    Raises
    ------
    ValueError, TypeError
        If the shapes do not fit, k does not increase, a value is not below 1e150 in size, or an argument is of
        the wrong kind.

    Examples
    --------
    >>> first_passage([0, 10, 20], [[1.0, 5.0, 4.0], [1.0, 2.0, 3.0]], 4.0)
    array([10., inf])
    """
    x, y = _curves(k, samples)
    threshold = check.real("threshold", threshold, "it is a height of the curves")
    above = check.boolean("above", above, "whether the curves should rise to the threshold")
    there = y >= threshold if above else y <= threshold
    return np.where(there.any(axis=1), x[there.argmax(axis=1)], np.inf)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    r"""Correct the p-values of several tests by Holm's method.

    The i-th smallest of m values is multiplied by m - i + 1, and the results are made
    non-decreasing in that order and cut at 1.
    Calling every test with a corrected value of at most a level a difference, the chance of one or
    more false calls is at most that level, however the tests depend on each other (S. Holm, A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979).

    Parameters
    ----------
    p_values : array_like, shape (m,)
        Each in [0, 1].

    Returns
    -------
    ndarray, shape (m,)
        In the order of the input.

    Raises
    ------
    ValueError
        For a value outside [0, 1] or not a vector.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = check.array("p_values", p_values, ("m",), "pass one p-value for each test")
    if ((p < 0) | (p > 1)).any():
        raise ValueError(
            f"p_values must lie in [0, 1]: got {p[(p < 0) | (p > 1)][0]:g}; pass probabilities"
        )
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


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
        For different lengths, fewer than two runs, values not below 1e150 in size, or more than 16 runs without ``rng``.

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
    # Sums that agree up to the rounding of their terms count as equal.
    as_large = flipped >= abs(difference.sum()) - 1e-12 * np.abs(difference).sum()
    return PairedComparison(mean_band(difference, level), float(as_large.mean()))
