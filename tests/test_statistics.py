"""Summaries of runs: exact small cases, coverage by simulation, bad input."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from amgd.statistics import (
    area_under_curve,
    first_passage,
    holm,
    log_slope,
    mean_band,
    paired_difference,
)


def test_the_largest_numbers_have_finite_statistics() -> None:
    values = np.full(1000, 9.9e149) * np.resize([1, -1], 1000)
    assert np.isfinite(mean_band(values).high)
    assert np.isfinite(paired_difference(values[:8], 0 * values[:8]).difference.high)


@pytest.mark.parametrize(("n", "level"), [(2, 0.9), (5, 0.5), (10, 0.9), (30, 0.99)])
def test_band_is_students_interval(n: int, level: float) -> None:
    samples = np.random.default_rng(n).normal(size=(n, 3))
    band = mean_band(samples, level)
    for j in range(3):
        low, high = stats.ttest_1samp(samples[:, j], 0).confidence_interval(level)
        assert (band.low[j], band.high[j]) == pytest.approx((low, high), rel=1e-12)
    assert (band.n, band.level) == (n, level)


def coverage(half_widths: float, runs: int = 10, repeats: int = 100_000) -> float:
    """Share of samples of normal numbers whose interval holds the true mean 0."""
    samples = np.random.default_rng(0).normal(size=(runs, repeats))
    error = np.abs(samples.mean(axis=0)) / stats.sem(samples, axis=0)
    return float(np.mean(error <= half_widths))


def test_band_covers_at_ten_runs() -> None:
    samples = np.random.default_rng(0).normal(size=(10, 100_000))
    band = mean_band(samples)
    measured = np.mean((band.low <= 0) & (band.high >= 0))
    assert 0.88 < measured < 0.92  # standard error 0.001
    half_widths = (band.high - band.mean) / stats.sem(samples, axis=0)
    assert np.ptp(half_widths) < 1e-12
    assert measured == coverage(float(half_widths.mean()))
    # Exactly: the error in standard errors has Student's distribution with 9 degrees of freedom.
    assert 2 * stats.t.cdf(half_widths.mean(), 9) - 1 == pytest.approx(0.9, rel=1e-12)


def test_the_coverage_test_refuses_a_normal_interval() -> None:
    assert coverage(stats.norm.ppf(0.95)) < 0.88


def test_one_run_has_a_band_without_end_where_it_is_let_through() -> None:
    band = mean_band([[1.0, 2.0]], least=1)
    assert band.n == 1
    assert band.mean.tolist() == [1.0, 2.0]
    assert (band.low == -np.inf).all()
    assert (band.high == np.inf).all()


K = st.lists(st.integers(0, 50), min_size=2, max_size=8, unique=True).map(sorted)


@given(k=K, seed=st.integers(0, 10**6), n=st.integers(1, 4))
def test_area_is_the_trapezoid_rule_over_the_range(k: list[int], seed: int, n: int) -> None:
    samples = np.random.default_rng(seed).normal(size=(n, len(k)))
    expected = np.trapezoid(samples, k, axis=1) / (k[-1] - k[0])
    assert area_under_curve(k, samples) == pytest.approx(expected, abs=1e-12)


@given(k=K, slope=st.floats(-5, 5), height=st.floats(-5, 5))
def test_area_of_lines_and_steps_is_exact(k: list[int], slope: float, height: float) -> None:
    line = height + slope * np.array(k)
    middle = height + slope * (k[0] + k[-1]) / 2
    assert area_under_curve(k, line[None])[0] == pytest.approx(middle, abs=1e-9)
    # The step function with these heights, summed over every integer it passes.
    steps = [line[np.searchsorted(k, t)] for t in range(k[0] + 1, k[-1] + 1)]
    assert area_under_curve(k, line[None], rule="right")[0] == pytest.approx(
        np.mean(steps), abs=1e-9
    )


@pytest.mark.parametrize("rule", ["trapezoid", "right"])
def test_area_of_one_row_is_its_height(rule: str) -> None:
    assert area_under_curve([0], [[3.0], [4.0]], rule=rule).tolist() == [3.0, 4.0]


def test_the_right_rule_forgets_the_common_start() -> None:
    assert area_under_curve([0, 10, 20], [[1e9, 1.0, 3.0]], rule="right").tolist() == [2.0]


@given(k=K, threshold=st.integers(-3, 3), above=st.booleans(), seed=st.integers(0, 10**6))
def test_first_passage_is_the_first_row_there(
    k: list[int], threshold: int, above: bool, seed: int
) -> None:
    samples = np.random.default_rng(seed).integers(-3, 4, size=(3, len(k)))
    expected = [
        next(
            (
                t
                for t, v in zip(k, row, strict=True)
                if (v >= threshold if above else v <= threshold)
            ),
            np.inf,
        )
        for row in samples
    ]
    assert first_passage(k, samples, threshold, above=above).tolist() == expected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p: list[float]) -> None:
    """A hypothesis falls if every set that holds it does: the smallest p of it times its size."""
    m = len(p)
    sets = [c for size in range(1, m + 1) for c in combinations(range(m), size)]
    value = {c: min(1.0, len(c) * min(p[i] for i in c)) for c in sets}
    expected = [max(value[c] for c in sets if i in c) for i in range(m)]
    assert holm(p).tolist() == expected


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


@pytest.mark.parametrize("n", [2, 3, 6])
def test_sign_flip_is_valid_whatever_the_sizes_of_the_differences(n: int) -> None:
    """Given their sizes all signs are equally likely: P(p <= a) is an average over them."""
    sizes = np.random.default_rng(n).lognormal(sigma=2.0, size=n)
    p = np.array(
        [paired_difference(sizes * s, np.zeros(n)).p_value for s in product([1, -1], repeat=n)]
    )
    assert p.min() == 2.0 ** (1 - n)
    assert all(np.mean(p <= level) <= level for level in np.unique(p))


@pytest.mark.parametrize(
    ("difference", "p_value"),
    [([0.1, 0.2, -0.3], 1.0), ([0.3, 0.3, 0.3, -0.3], 0.625), ([0.0, 0.0], 1.0)],
)
def test_sums_that_differ_by_rounding_only_are_ties(
    difference: list[float], p_value: float
) -> None:
    assert paired_difference(difference, np.zeros(len(difference))).p_value == p_value


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
        (lambda: mean_band(np.zeros((0, 3)), least=1), "at least 1 runs"),
        (lambda: mean_band([1.0], least=0), "least must be at least 1"),
        (lambda: area_under_curve([0, 1], [1.0, 2.0]), "one row a run"),
        (lambda: area_under_curve([0, 1], [[1.0, 2.0, 3.0]]), "one row a run"),
        (lambda: area_under_curve([0, 0], [[1.0, 2.0]]), "k must increase: entry 1 is 0 after 0"),
        (lambda: area_under_curve([0, 1], [[1.0, np.nan]]), "run 0 holds nan"),
        (lambda: mean_band([1.0, -1e150]), "below 1e\\+150 in size: run 1 holds -1e\\+150"),
        (lambda: paired_difference([1e308, 1], [-1e308, 1]), "first must be finite and below"),
        (lambda: area_under_curve([], [[]]), "k must not be empty"),
        (lambda: area_under_curve([0, 1], [[1.0, 2.0]], rule="left"), "rule must be one of"),
        (lambda: first_passage([1, 0], [[1.0, 2.0]], 0.0), "k must increase"),
        (lambda: first_passage([0, 1], [[1.0, 2.0]], np.nan), "threshold"),
        (lambda: holm([0.5, 1.5]), "must lie in .0, 1.: got 1.5"),
        (lambda: holm([-0.1]), "must lie in"),
        (lambda: holm([np.nan]), "must be finite"),
        (lambda: holm(0.5), "must have shape"),
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
        (lambda: area_under_curve(["a"], [[1.0]]), "k must hold real numbers"),
        (lambda: first_passage([0], [[1.0]], True), "threshold must be a real number"),
        (lambda: first_passage([0], [[1.0]], 1.0, above=1), "above must be True or False"),
        (lambda: mean_band([1.0, 2.0], least=True), "least must be an integer"),
        (lambda: holm(["a"]), "p_values must hold real numbers"),
        (lambda: log_slope(["a", "b"], [1, 2]), "k must hold real numbers"),
        (lambda: log_slope([1, 2], ["a", "b"]), "values must hold real numbers"),
        (lambda: many_runs(rng=0), "rng must be a Generator: got int"),
        (lambda: many_runs(rng=np.random.default_rng(0), draws=2.5), "draws must be an integer"),
    ],
)
def test_input_of_the_wrong_kind_is_refused(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
