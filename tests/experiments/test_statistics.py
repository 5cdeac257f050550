"""Summaries of runs: exact small cases, coverage by simulation, bad input."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from amgd.experiments.statistics import log_slope, mean_band, paired_difference


@pytest.mark.parametrize(("n", "level"), [(2, 0.9), (5, 0.5), (10, 0.9), (30, 0.99)])
def test_band_is_students_interval(n: int, level: float) -> None:
    samples = np.random.default_rng(n).normal(size=(n, 3))
    band = mean_band(samples, level)
    for j in range(3):
        low, high = stats.ttest_1samp(samples[:, j], 0).confidence_interval(level)
        assert (band.low[j], band.high[j]) == pytest.approx((low, high), rel=1e-12)
    assert (band.n, band.level) == (n, level)


def test_band_covers_at_ten_runs() -> None:
    rng = np.random.default_rng(0)
    band = mean_band(rng.normal(size=(10, 20_000)))
    coverage = np.mean((band.low <= 0) & (band.high >= 0))
    assert 0.89 < coverage < 0.91  # standard error 0.002


@pytest.mark.parametrize("power", [-2.0, -0.5, 1.0])
def test_slope_of_a_power(power: float) -> None:
    k = np.array([1, 5, 70, 1000])
    assert log_slope(k, 3 * k**power) == pytest.approx(power, rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_sign_flip_is_the_enumerated_test(n: int) -> None:
    difference = np.random.default_rng(n).normal(size=n) + 0.5
    sums = [abs(np.dot(signs, difference)) for signs in product([1, -1], repeat=n)]
    expected = np.mean([s >= abs(difference.sum()) - 1e-12 for s in sums])
    assert paired_difference(difference, np.zeros(n)).p_value == expected


def test_sign_flip_of_many_runs_is_deterministic_and_close_to_the_t_test() -> None:
    difference = np.random.default_rng(3).normal(size=40) + 0.3
    p = [
        paired_difference(difference, np.zeros(40), rng=np.random.default_rng(7)).p_value
        for _ in range(2)
    ]
    assert p[0] == p[1]
    assert p[0] == pytest.approx(stats.ttest_1samp(difference, 0).pvalue, abs=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_band([1.0]), "at least 2 runs"),
        (lambda: mean_band(1.0), "at least 2 runs"),
        (lambda: mean_band([[1.0], [np.nan]]), "run 1 holds nan"),
        (lambda: mean_band([1.0, 2.0], level=1.0), "level"),
        (lambda: mean_band([1.0, 2.0], level=np.nan), "level"),
        (lambda: mean_band([[1.0, 2.0], [3.0]]), "rectangular"),
        (lambda: log_slope([1], [1]), "two vectors"),
        (lambda: log_slope([2, 2], [1, 3]), "two different numbers: got 2 only"),
        (lambda: log_slope([1, 2], [1, 0]), "positive"),
        (lambda: log_slope([0, 2], [1, 1]), "positive"),
        (lambda: paired_difference([1, 2, 3], [1, 2]), "shared seed"),
        (lambda: paired_difference([1, np.inf], [1, 2]), "first must be finite"),
        (lambda: paired_difference(np.ones(17), np.zeros(17)), "pass rng"),
        (lambda: many_runs(rng=np.random.default_rng(0), draws=0), "draws must be at least 1"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def many_runs(**options) -> None:
    paired_difference(np.arange(20.0), np.zeros(20), **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_band("ab"), "samples must hold real numbers: got dtype <U2"),
        (lambda: mean_band([True, False]), "samples must hold real numbers: got dtype bool"),
        (lambda: mean_band([1j, 2.0]), "got dtype complex128"),
        (lambda: mean_band([1.0, None]), "got dtype object"),
        (lambda: mean_band([1.0, 2.0], level="0.9"), "level must be a real number"),
        (lambda: log_slope(["a", "b"], [1, 2]), "k must hold real numbers"),
        (lambda: log_slope([1, 2], ["a", "b"]), "values must hold real numbers"),
        (lambda: many_runs(rng=0), "rng must be a Generator: got int"),
        (lambda: many_runs(rng=np.random.default_rng(0), draws=2.5), "draws must be an integer"),
    ],
)
def test_input_of_the_wrong_kind_is_refused(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
