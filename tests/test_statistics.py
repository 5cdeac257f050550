"""Summaries of runs: exact small cases, coverage by simulation, bad input."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from amgd.statistics import (
    WORDS,
    Verdict,
    area_under_curve,
    bootstrap_interval,
    first_passage,
    holm,
    interquartile_mean,
    judge,
    log_slope,
    mean_band,
    paired_difference,
    probability_of_improvement,
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


def enumerated(difference: np.ndarray) -> float:
    """The definition: the share of sign patterns whose sum is as large, up to rounding."""
    signs = np.array(list(product([1.0, -1.0], repeat=difference.size)))
    tolerance = 1e-12 * np.abs(difference).sum()
    return float(np.mean(np.abs(signs @ difference) >= abs(difference.sum()) - tolerance))


DIFFERENCES = {
    "normal": lambda n, rng: rng.normal(size=n) + 0.5,
    "few values": lambda n, rng: rng.integers(-2, 3, size=n).astype(float),
    "tenths": lambda n, rng: rng.integers(-5, 6, size=n) / 10,  # sums that rounding tells apart
    "balanced": lambda n, rng: np.resize([0.1, 0.2, -0.3], n),  # a sum that rounding makes
    "zeros": lambda n, rng: np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
    "all zero": lambda n, rng: np.zeros(n),
    "equal": lambda n, rng: np.full(n, 0.7) * rng.choice([1, -1], size=n),
    "one large": lambda n, rng: rng.normal(size=n) + 1e6 * (np.arange(n) == 0),
    "scales": lambda n, rng: 10.0 ** np.linspace(-9, 4, n) * rng.choice([1, -1], size=n),
    "tiny": lambda n, rng: 1e-300 * rng.integers(-5, 6, size=n) / 10,
    "huge": lambda n, rng: 1e149 * rng.integers(-5, 6, size=n) / 10,
}


@pytest.mark.parametrize("n", [2, 3, 5, 7, 10, 12])
@pytest.mark.parametrize("kind", DIFFERENCES)
def test_sign_flip_is_the_enumerated_test(kind: str, n: int) -> None:
    for seed in range(10):
        difference = DIFFERENCES[kind](n, np.random.default_rng(seed))
        found = paired_difference(difference, np.zeros(n)).p_value
        assert abs(found - enumerated(difference)) <= 1e-15, (seed, difference)


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_sign_flip_is_exact_up_to_sixteen_runs(kind: str) -> None:
    difference = DIFFERENCES[kind](16, np.random.default_rng(0))
    assert (
        abs(paired_difference(difference, np.zeros(16)).p_value - enumerated(difference)) <= 1e-15
    )


def test_random_patterns_estimate_the_enumerated_test() -> None:
    """Seventeen runs are drawn: 65536 patterns out of twice as many."""
    difference = np.random.default_rng(0).normal(size=17) + 0.3
    found = paired_difference(difference, np.zeros(17), rng=np.random.default_rng(1)).p_value
    exact = enumerated(difference)
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 65536))
    assert found != exact


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


# Verdicts ---------------------------------------------------------------------------------------


def pair(difference: list[float]) -> tuple[list[float], list[float]]:
    return difference, [0.0] * len(difference)


def words(family: dict[str, list[float]], better: str = "larger", alpha: float = 0.05) -> list[str]:
    verdicts = judge(
        {name: pair(difference) for name, difference in family.items()},
        better=better,
        quantity="end",
        alpha=alpha,
    )
    return [verdict.word for verdict in verdicts.values()]


UP = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]  # p = 1/128
DOWN = [-value for value in UP]
MIXED = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0]


@pytest.mark.parametrize(
    ("family", "larger", "smaller"),
    [
        ([UP], ["better"], ["worse"]),
        ([DOWN], ["worse"], ["better"]),
        ([MIXED], ["no difference found"], ["no difference found"]),
        ([UP, DOWN, MIXED], ["better", "worse", WORDS[2]], ["worse", "better", WORDS[2]]),
        ([UP[:5]], ["too few seeds"], ["too few seeds"]),  # 1/16
        ([UP[:6]], ["better"], ["worse"]),  # 1/32
        ([UP[:6], UP[:6]], ["too few seeds"] * 2, ["too few seeds"] * 2),  # 2/32
        ([UP[:6], MIXED[:6]], ["too few seeds"] * 2, ["too few seeds"] * 2),
        ([UP[:6], UP], ["better"] * 2, ["worse"] * 2),  # 1/32 is not multiplied after 2/128
        ([UP[:1]], ["too few seeds"], ["too few seeds"]),
        ([[]], ["too few seeds"], ["too few seeds"]),
        ([[], UP], ["too few seeds", "better"], ["too few seeds", "worse"]),
        ([[0.0] * 8], ["no difference found"], ["no difference found"]),
        ([[0.0] * 5 + UP[:3]], ["no difference found"], ["no difference found"]),  # 1/4
        ([UP] * 6, ["better"] * 6, ["worse"] * 6),  # 6/128
        ([UP] * 7, ["too few seeds"] * 7, ["too few seeds"] * 7),  # 7/128
    ],
)
def test_words(family: list[list[float]], larger: list[str], smaller: list[str]) -> None:
    named = {f"{i}": difference for i, difference in enumerate(family)}
    assert words(named) == larger
    assert words(named, "smaller") == smaller
    assert {*larger, *smaller} <= set(WORDS)


def test_the_level_is_the_callers() -> None:
    assert words({"up": UP}, alpha=1 / 128) == ["better"]
    assert words({"up": UP}, alpha=1 / 129) == ["too few seeds"]
    assert words({"mixed": MIXED}, alpha=0.99) == ["worse"]


def test_holm_by_hand() -> None:
    """p = 1/128, 1/64, 1/16 and 1: times 4, 3, 2 and 1."""
    family = {
        "one": [-1.0, *UP[1:]],  # as large are its own sum and that of equal signs
        "all": UP,
        "few": UP[:5],
        "none": [1.0, -1.0],
    }
    p = {"one": 4 / 256, "all": 2 / 256, "few": 2 / 32, "none": 1.0}
    corrected = {"all": 4 * 2 / 256, "one": 3 * 4 / 256, "few": 2 * 2 / 32, "none": 1.0}
    found = judge(
        {name: pair(difference) for name, difference in family.items()},
        better="larger",
        quantity="mean over the run",
        level=0.8,
    )
    assert list(found) == list(family)
    for name, verdict in found.items():
        difference = family[name]
        assert verdict == Verdict(
            word={
                "all": "better",
                "one": "better",
                "few": "too few seeds",
                "none": "too few seeds",
            }[name],
            quantity="mean over the run",
            difference=verdict.difference,
            p_value=p[name],
            corrected=corrected[name],
            family=4,
            n=len(difference),
            least_p=2.0 ** (1 - len(difference)),
        )
        assert verdict.difference == mean_band(difference, 0.8)


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.01, 0.05, 0.2, 0.5]),
)
def test_words_follow_from_the_numbers(sizes: list[int], seed: int, alpha: float) -> None:
    """Bonferroni's rule calls no more than Holm's, and nothing is called where nothing could be."""
    rng = np.random.default_rng(seed)
    family = {f"{i}": (rng.normal(size=n) + 1, rng.normal(size=n)) for i, n in enumerate(sizes)}
    found = judge(family, better="smaller", quantity="end", alpha=alpha)
    calls = {name for name, v in found.items() if v.word in ("better", "worse")}
    assert {name for name, v in found.items() if v.p_value * len(family) <= alpha} <= calls
    assert all(found[name].p_value <= alpha for name in calls)
    for name, v in found.items():
        assert v.p_value >= v.least_p
        assert v.n == sizes[int(name)]
        if v.word == "too few seeds":
            assert v.least_p * v.family > alpha
        if v.word == "no difference found":
            assert v.least_p * v.family <= alpha < v.corrected


def test_a_comparison_does_not_depend_on_its_company() -> None:
    rng = np.random.default_rng(0)
    data = {name: (rng.normal(size=30), rng.normal(size=30)) for name in "abc"}

    def p_values(names: str) -> dict[str, float]:
        family = {name: data[name] for name in names}
        found = judge(family, better="larger", quantity="end", rng=np.random.default_rng(5))
        assert {verdict.least_p for verdict in found.values()} == {1 / 65536}
        return {name: verdict.p_value for name, verdict in found.items()}

    whole = p_values("abc")
    assert p_values("ca") == {name: whole[name] for name in "ca"}
    assert p_values("b") == {"b": whole["b"]}


def test_an_error_names_the_comparison() -> None:
    with pytest.raises(ValueError, match="second must be finite") as caught:
        judge({"a": pair(UP), "b": (UP, [np.inf] * 8)}, better="larger", quantity="end")
    assert caught.value.__notes__ == ["in the comparison 'b'"]


# Several tasks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 10])
def test_interquartile_mean_leaves_out_a_quarter_at_either_end(n: int) -> None:
    runs = np.random.default_rng(n).standard_cauchy(size=n)
    middle = sorted(runs.tolist())[n // 4 : n - n // 4]
    assert interquartile_mean(runs) == pytest.approx(sum(middle) / len(middle), rel=1e-14)
    cut = n // 3
    if cut:
        assert interquartile_mean(runs[:cut], runs[cut:]) == interquartile_mean(runs)


def test_interquartile_mean_of_curves_is_one_curve() -> None:
    curves = np.random.default_rng(0).normal(size=(9, 4))
    expected = [interquartile_mean(column) for column in curves.T]
    assert interquartile_mean(curves).tolist() == expected
    assert interquartile_mean(curves.T, axis=-1).tolist() == expected


@given(
    first=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    second=st.lists(st.integers(0, 4), min_size=1, max_size=6),
)
def test_probability_of_improvement_is_mann_whitneys(first: list[int], second: list[int]) -> None:
    found = probability_of_improvement(first, second)
    u = stats.mannwhitneyu(first, second, method="exact").statistic
    assert found == pytest.approx(u / (len(first) * len(second)), abs=1e-15)
    assert found + probability_of_improvement(second, first) == pytest.approx(1.0, abs=1e-15)


def enumerated_bootstrap(*tasks: list[float]) -> np.ndarray:
    """The interquartile means of all resamples, each task drawing from its own runs."""
    each = [product(task, repeat=len(task)) for task in tasks]
    return np.array([interquartile_mean(*resample) for resample in product(*each)])


@pytest.mark.parametrize(
    "tasks", [[[0.0, 1.0, 4.0, 9.0]], [[0.0, 1.0], [10.0, 13.0, 19.0]], [[1.0, 2.0], [5.0, 5.0]]]
)
@pytest.mark.parametrize("level", [0.5, 0.8])
def test_bootstrap_is_stratified(tasks: list[list[float]], level: float) -> None:
    """Its ends are quantiles of all resamples, which a small case lists."""
    found = bootstrap_interval(*tasks, level=level, rng=np.random.default_rng(0), draws=20_000)
    values = enumerated_bootstrap(*tasks)
    assert found.value == interquartile_mean(*tasks)
    for end, q in ((found.low, (1 - level) / 2), (found.high, (1 + level) / 2)):
        low = np.quantile(values, q - 0.015, method="lower")  # four standard errors of 20 000 draws
        high = np.quantile(values, q + 0.015, method="higher")
        assert low <= end <= high


def test_bootstrap_takes_any_statistic_and_is_deterministic() -> None:
    rng = np.random.default_rng(0)
    tasks = [rng.normal(size=n) for n in (9, 10, 7, 8)]

    def improvement(*runs: np.ndarray) -> float:
        pairs = zip(runs[::2], runs[1::2], strict=True)
        return float(np.mean([probability_of_improvement(*pair) for pair in pairs]))

    found = [
        bootstrap_interval(*tasks, statistic=improvement, rng=np.random.default_rng(1), draws=200)
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert found[0].value == improvement(*tasks)
    assert 0 <= found[0].low < found[0].value < found[0].high <= 1


def test_bootstrap_covers_at_ten_runs() -> None:
    rng = np.random.default_rng(0)
    found = [bootstrap_interval(rng.normal(size=10), rng=rng, draws=300) for _ in range(500)]
    assert 0.85 < np.mean([one.low <= 0 <= one.high for one in found]) < 0.93  # its error is 0.014


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
        (lambda: judge({}, better="larger", quantity="end"), "0 comparisons"),
        (lambda: judge({"a": pair(UP)}, better="larger", quantity=""), "got quantity ''"),
        (lambda: judge({"a": pair(UP)}, better="up", quantity="end"), "better must be one of"),
        (lambda: judge({"a": pair(UP)}, better="larger", quantity="end", alpha=1), "alpha must"),
        (lambda: judge({"a": (UP, UP[:7])}, better="larger", quantity="end"), "shared seed"),
        (lambda: judge({"a": pair(UP * 3)}, better="larger", quantity="end"), "pass rng"),
        (lambda: interquartile_mean(), "got none"),
        (lambda: interquartile_mean([]), "at least 1 runs"),
        (lambda: interquartile_mean([1.0, np.nan]), "run 1 holds nan"),
        (
            lambda: interquartile_mean(np.zeros((3, 0)), axis=1),
            "runs along axis 1, .* shapes .*3, 0",
        ),
        (
            lambda: interquartile_mean(np.eye(2), [1.0]),
            r"one shape otherwise: got .*\(2, 2\), \(1,\)",
        ),
        (lambda: interquartile_mean(np.ones((2, 3)), np.eye(2)), "one shape otherwise"),
        (lambda: probability_of_improvement(np.ones(30_000), np.ones(30_000)), "at most 4 GB"),
        (lambda: many_runs(rng=np.random.default_rng(0), draws=10**12), "draws and runs must ask"),
        (
            lambda: bootstrap_interval(UP, rng=np.random.default_rng(0), draws=1),
            "at least 2: got 1",
        ),
        (lambda: probability_of_improvement([], [1.0]), "first needs at least 1 runs"),
        (lambda: probability_of_improvement([[1.0]], [1.0]), "one number a run: got shapes"),
        (lambda: bootstrap_interval(rng=np.random.default_rng(0)), "got shapes ..; pass a vector"),
        (lambda: bootstrap_interval([1.0], rng=np.random.default_rng(0)), "at least 2 runs"),
        (lambda: bootstrap_interval(np.eye(2), rng=np.random.default_rng(0)), "got shapes"),
        (lambda: bootstrap_interval(UP, rng=np.random.default_rng(0), level=0), "level must"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def bootstrap(statistic) -> None:
    bootstrap_interval(UP, rng=np.random.default_rng(0), statistic=statistic)


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
        (lambda: bootstrap_interval(UP, rng=0), "rng must be a Generator: got int"),
        (lambda: bootstrap(lambda runs: runs), r"finite real number: got array\(\["),
        (lambda: bootstrap(lambda runs: np.nan), r"finite real number: got array\(nan"),
        (lambda: judge({"a": [1.0]}, better="larger", quantity="q"), r"\(an array, an array\)"),
        (lambda: many_runs(rng=np.random.default_rng(0), draws=2.5), "draws must be an integer"),
    ],
)
def test_input_of_the_wrong_kind_is_refused(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
