"""The GridWorld experiment: what a specification refuses, streams, pairing, tuning, verdicts."""

import itertools
from dataclasses import fields, replace

import numpy as np
import pytest

from amgd.descent.steps import theorem3_printed
from amgd.experiments import gridworld
from amgd.experiments.gridworld import (
    FIGURE1,
    METHODS,
    Curve,
    GridWorldResult,
    GridWorldSpec,
    compare,
    figure1_readings,
    readings_table,
    run,
)
from amgd.td import decaying, neu_area, td0, td0_accelerated

SMALL = GridWorldSpec(n=5, episodes=35, seeds=3, tuning_seeds=2, test_episodes=2)
ALL = replace(SMALL, variants=METHODS)


def paths(spec, purpose=gridworld.TRAINING, seeds=None):
    seeds = spec.seeds if seeds is None else seeds
    return gridworld._training_paths(spec, spec.problem(), purpose, range(seeds))


# Specifications -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n": 1}, ValueError, "n must be at least 2: got 1"),
        ({"n": True}, TypeError, "n must be an integer"),
        ({"episodes": 0}, ValueError, "episodes"),
        ({"seeds": 1}, ValueError, "seeds"),
        ({"tuning_seeds": 0}, ValueError, "tuning_seeds"),
        ({"record": 2.0}, TypeError, "record"),
        ({"test_episodes": 0}, ValueError, "test_episodes"),
        ({"seed": -1}, ValueError, "seed"),
        ({"goal": "absorb"}, ValueError, "goal must be one of"),
        ({"reward": "both"}, ValueError, "reward must be one of"),
        ({"features": "four"}, ValueError, "features must be one of"),
        ({"coordinates": "centre"}, ValueError, "coordinates must be one of"),
        ({"law": "stationary"}, ValueError, "law must be one of"),
        ({"denominator": "k-1"}, ValueError, "denominator must be one of"),
        ({"update": "batch"}, ValueError, "update must be one of"),
        ({"count": "step"}, ValueError, "count must be one of"),
        ({"discount": 1.0}, ValueError, "discount"),
        ({"mu": 0.0}, ValueError, r"mu must lie in \(0, inf\): got 0"),
        ({"mu": "smallest"}, ValueError, "mu must be one of"),
        ({"mu": np.nan}, ValueError, r"mu must lie in \(0, inf\): got nan"),
        ({"delta": -0.1}, ValueError, "delta"),
        ({"rate": True}, TypeError, "rate"),
        ({"limit": np.inf}, ValueError, "limit"),
        ({"rates": 0.1}, TypeError, "rates must be a sequence"),
        ({"rates": (0.1, 0.1)}, ValueError, "twice"),
        ({"scales": (0.1, 0.0)}, ValueError, r"scales\[1\]"),
        ({"deltas": "0.1"}, TypeError, "deltas"),
        ({"rates": (), "scales": ()}, ValueError, "nothing to tune"),
        ({"variants": METHODS, "rates": (0.1,)}, ValueError, "differ in size"),
        ({"variants": "plain"}, ValueError, "variants must list"),
        ({"variants": ()}, ValueError, "variants must list"),
        ({"variants": ("plain", "nesterov")}, ValueError, "variants must be one of"),
        ({"variants": ("plain", "plain")}, ValueError, "twice"),
        ({"update": "episode", "count": "transition"}, ValueError, "does not fit"),
    ],
)
def test_a_wrong_field_is_refused(change, error, message) -> None:
    with pytest.raises(error, match=message):
        replace(SMALL, **change)


def test_specifications_are_frozen_and_can_be_compared() -> None:
    with pytest.raises(AttributeError):
        SMALL.n = 6  # type: ignore[misc]
    listed = replace(SMALL, rates=list(SMALL.rates))
    assert listed == SMALL
    assert hash(listed) == hash(SMALL)


@pytest.mark.parametrize(
    ("n", "mu", "expected"),
    # of TD(0) with three features and V = 0 at the goal, to the digits of an independent table
    [
        (10, "uniform", 0.061629),
        (10, "episode", 0.035933),
        (50, "uniform", 0.050464),
        (50, "episode", 0.0046782),
        (10, 0.25, 0.25),
    ],
)
def test_modulus(n: int, mu: float | str, expected: float) -> None:
    spec = GridWorldSpec(n=n, episodes=1, mu=mu)
    assert spec.modulus == pytest.approx(expected, abs=6e-7)
    assert spec.steps().mu == spec.modulus
    assert spec.steps(0.5).gamma(4) == pytest.approx(1.0 / (5 * spec.modulus))


@pytest.mark.parametrize(("features", "dim"), [("three", 3), ("order", 16), ("product", 16)])
def test_features(features: str, dim: int) -> None:
    assert replace(SMALL, features=features).problem().dim == dim


def test_readings_change_one_field_each_and_run() -> None:
    readings = figure1_readings(SMALL)
    assert readings.pop("as above") == SMALL
    changed = []
    for spec in readings.values():
        names = [f.name for f in fields(spec) if getattr(spec, f.name) != getattr(SMALL, f.name)]
        assert len(names) == 1
        changed += names
        assert run(spec).curves.keys() == set(SMALL.variants)
    # each open point of the paper is read in at least one other way
    assert set(changed) == {
        *("reward", "goal", "features", "coordinates", "mu", "delta", "denominator"),
        *("update", "count", "law"),
    }


def test_a_reading_that_is_the_default_is_not_listed_twice() -> None:
    readings = figure1_readings(replace(SMALL, delta=1.0, update="episode"))
    assert "delta 1" not in readings
    assert "k counts transitions" not in readings  # does not fit one update an episode


# Runs ---------------------------------------------------------------------------------------------
def test_curves_are_the_runs_on_shared_episodes() -> None:
    result, states, problem = run(ALL), paths(ALL), ALL.problem()
    paper = theorem3_printed(1.0, "k+1", delta=0.1)
    expected = {
        "plain": td0(problem, states, 0.001),
        "accelerated": td0_accelerated(problem, states, paper),
        "matched": td0(problem, states, paper.eta),
    }
    for method, direct in expected.items():
        curve = result[method]
        np.testing.assert_array_equal(curve.theta, direct.theta.swapaxes(0, 1))
        np.testing.assert_array_equal(curve.neu, problem.neu(direct.theta).T)
        assert curve.episodes.tolist() == [0, 10, 20, 30, 35]
        assert (curve.seeds, dict(curve.diverged)) == ((0, 1, 2), {})
        np.testing.assert_allclose(curve.area, curve.neu[:, 1:].mean(axis=1))


def test_estimate_is_the_average_update_of_the_test_episodes() -> None:
    result, problem = run(SMALL), SMALL.problem()
    seed, record = 2, 3
    drawn = problem.sample_episodes(
        5, rng=gridworld._rng(SMALL, gridworld.TEST, seed), replicates=2
    )
    for curve in result.curves.values():
        theta, updates = curve.theta[seed, record], []
        for path in drawn[record]:
            for s, after in itertools.pairwise(path):
                if problem.is_terminal[s]:
                    break
                follow = 0.0 if problem.is_terminal[after] else problem.features[after] @ theta
                error = -1.0 + 0.9 * follow - problem.features[s] @ theta
                updates.append(error * problem.features[s])
        expected = (np.mean(updates, axis=0) ** 2).sum()
        assert curve.neu_estimate[seed, record] == pytest.approx(expected, rel=1e-10)
        expected_area = curve.neu_estimate[:, 1:].mean(axis=1)
        np.testing.assert_allclose(curve.area_estimate, expected_area)


@pytest.mark.parametrize(
    "change",
    [{"seeds": 5}, {"tuning_seeds": 4}, {"variants": ("accelerated", "matched")}],
)
def test_a_seed_does_not_depend_on_what_else_is_run(change) -> None:
    one, other = run(SMALL), run(replace(SMALL, **change))
    for method in ("accelerated", "matched"):
        # columns of a batch agree up to rounding, whatever its size
        np.testing.assert_allclose(one[method].theta, other[method].theta[:3], rtol=1e-12)
        np.testing.assert_allclose(
            one[method].neu_estimate, other[method].neu_estimate[:3], rtol=1e-9, atol=1e-15
        )


def test_runs_repeat_and_streams_differ() -> None:
    first, second = run(ALL), run(ALL)
    for method in METHODS:
        np.testing.assert_array_equal(first[method].theta, second[method].theta)
        np.testing.assert_array_equal(first[method].neu_estimate, second[method].neu_estimate)
        assert first[method].tuning == second[method].tuning
    training, tuning = paths(SMALL), paths(SMALL, gridworld.TUNING, 2)
    streams = [*training.swapaxes(0, 1), *tuning.swapaxes(0, 1)]
    assert all(not np.array_equal(a, b) for a, b in itertools.combinations(streams, 2))
    assert not np.array_equal(training, paths(replace(SMALL, seed=1)))


def test_tuning_is_tried_on_other_seeds_and_recorded() -> None:
    result, problem = run(ALL), ALL.problem()
    states = paths(ALL, gridworld.TUNING, ALL.tuning_seeds)
    tuning = result["tuned"].tuning
    assert tuning.tried[:5] == ("0.001", "0.003", "0.01", "0.03", "0.1")
    constant = [neu_area(problem, td0(problem, states, rate)).mean() for rate in ALL.rates]
    np.testing.assert_allclose(tuning.areas[:5], constant)
    for scale, area in zip(ALL.scales, tuning.areas[5:], strict=True):
        theta = td0(problem, states, decaying(scale), record=1).theta
        at_records = theta[[10, 20, 30, 35]]
        if np.abs(theta).max() >= ALL.limit:
            assert area == np.inf
        else:
            assert area == pytest.approx(problem.neu(at_records).mean())
    assert sum(np.isfinite(tuning.areas)) == 9  # 10/k passes the limit and comes back
    assert tuning.best == tuning.tried[int(np.argmin(tuning.areas))] == result["tuned"].step
    accelerated = result["tuned_accelerated"].tuning
    assert accelerated.tried[0] == "delta 0.003"
    assert len(accelerated.tried) == len(tuning.tried)
    assert accelerated.areas[4] == pytest.approx(
        problem.neu(td0_accelerated(problem, states, ALL.steps()).theta[1:]).mean()
    )


def test_a_grid_value_that_diverges_is_out() -> None:
    spec = replace(SMALL, rates=(30.0, 0.03), scales=(), variants=("tuned",))
    assert run(spec)["tuned"].tuning.areas[0] == np.inf
    assert run(spec)["tuned"].step == "0.03"
    with pytest.raises(ValueError, match="no step is stable"):
        run(replace(spec, rates=(30.0,)))


def test_a_seed_that_diverges_is_named_and_left_out() -> None:
    # a step and a limit that some seeds reach and others do not
    spec = replace(SMALL, seeds=8, rate=1.4, limit=13.0, variants=("plain", "matched"))
    curve = run(spec)["plain"]
    assert 2 <= len(curve.seeds) < 8
    assert sorted([*curve.seeds, *curve.diverged]) == list(range(8))
    free = run(replace(spec, limit=1e6))["plain"]
    np.testing.assert_allclose(curve.theta, free.theta[list(curve.seeds)], rtol=1e-9)
    states, problem = paths(spec), spec.problem()
    for seed, episode in curve.diverged.items():
        alone = td0(problem, states[:, [seed]], 1.4, record=1, compose=False)
        size = np.abs(alone.theta).max(axis=(1, 2))
        assert size[episode] >= 13.0 > size[:episode].max()
    result = run(spec)
    found = compare(result, "plain", "matched")
    assert (found.diverged, found.n) == (8 - len(curve.seeds), len(curve.seeds))
    assert found.text.endswith(" on shared seeds, diverges")
    other = compare(result, "matched", "plain")
    assert other.text.endswith(" on shared seeds, the other diverges")


def test_what_is_not_a_specification_is_refused() -> None:
    with pytest.raises(TypeError, match="GridWorldSpec"):
        run({"n": 5})  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="was not run"):
        run(replace(SMALL, variants=("plain",)))["tuned"]


# Comparisons --------------------------------------------------------------------------------------
def curve(method: str, areas, diverged=()) -> Curve:
    """A curve whose areas are given, seed by seed; `diverged` seeds have none."""
    seeds = tuple(i for i in range(len(areas)) if i not in diverged)
    neu = np.array([[1.0, areas[i]] for i in seeds]).reshape(len(seeds), 2)
    theta = np.zeros((len(seeds), 2, 3))
    return Curve(
        method, "s", np.array([0, 10]), seeds, theta, neu, 2 * neu, dict.fromkeys(diverged, 7)
    )


def made(**curves) -> GridWorldResult:
    return GridWorldResult(SMALL, SMALL.problem(), curves)


LOW, HIGH = np.arange(1.0, 9.0), np.arange(1.0, 9.0) + 2.0
MIXED = LOW + np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("first", "second", "word", "verdict"),
    [
        (curve("a", LOW), curve("b", HIGH), "better", "holds"),
        (curve("a", HIGH), curve("b", LOW), "worse", "does not hold"),
        (curve("a", LOW), curve("b", MIXED), "no difference found", "cannot be decided"),
        (curve("a", LOW), curve("b", LOW), "no difference found", "cannot be decided"),
        (
            curve("a", LOW, [3]),
            curve("b", HIGH),
            "better on shared seeds, diverges",
            "does not hold",
        ),
        (
            curve("a", LOW, range(8)),
            curve("b", HIGH),
            "too few seeds, diverges",
            "does not hold",
        ),
        (
            curve("a", LOW),
            curve("b", HIGH, [3]),
            "better on shared seeds, the other diverges",
            "holds",
        ),
        (
            curve("a", LOW, [3]),
            curve("b", HIGH, [3]),
            "better on shared seeds, both diverge",
            "cannot be decided",
        ),
        (curve("a", LOW[:5]), curve("b", HIGH[:5]), "too few seeds", "cannot be decided"),
    ],
)
def test_words(first, second, word, verdict) -> None:
    result = made(accelerated=first, plain=second, matched=first, tuned=second)
    assert compare(result, "accelerated", "plain").text == word
    [row] = gridworld._table({"x": result}, 0.07)  # three comparisons of six or more pairs
    assert row.verdict == verdict
    assert {c.family for c in row.against.values()} == {3}
    assert row.share == (1.0 if verdict == "holds" else None)


def test_comparison_is_the_enumerated_test_on_shared_seeds() -> None:
    a, b = curve("a", LOW, [0]), curve("b", MIXED * 1.2, [5])
    shared = [1, 2, 3, 4, 6, 7]
    difference = LOW[shared] - 1.2 * MIXED[shared]
    sums = [abs(np.dot(s, difference)) for s in itertools.product([1, -1], repeat=6)]
    expected = np.mean(np.array(sums) >= abs(difference.sum()) - 1e-12)
    for measure in ("exact", "estimate"):
        found = compare(made(accelerated=a, plain=b), "accelerated", "plain", measure=measure)
        assert found.p_value == expected
        assert found.n == 6
        assert found.ratio == pytest.approx(LOW[shared].mean() / (1.2 * MIXED[shared]).mean())


def test_more_than_sixteen_seeds_draw_sign_patterns() -> None:
    many = np.arange(1.0, 21.0)
    result = made(accelerated=curve("a", many), plain=curve("b", many + 1))
    found = [compare(result, "accelerated", "plain").p_value for _ in range(2)]
    assert found[0] == found[1] < 0.001


def test_share_is_logarithmic() -> None:
    curves = {
        "plain": curve("a", 100 * HIGH),
        "accelerated": curve("b", LOW),
        "matched": curve("c", 2 * LOW),
        "tuned": curve("d", LOW),
    }
    [row] = gridworld._table({"x": made(**curves)})
    gain = np.log(row.areas["plain"] / row.areas["accelerated"])
    assert row.share == pytest.approx(1 - np.log(2) / gain)
    assert row.against["tuned"].word == "no difference found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "both"}, "measure must be one of"),
        ({"alpha": 1.0}, r"alpha must lie in \(0, 1"),
    ],
)
def test_bad_options_of_a_comparison_are_refused(change, message) -> None:
    result = made(accelerated=curve("a", LOW), plain=curve("b", HIGH))
    with pytest.raises(ValueError, match=message):
        compare(result, "accelerated", "plain", **change)


def test_table_holds_what_the_runs_give() -> None:
    readings = {"plain step": replace(SMALL, seeds=8), "tiny mu": replace(SMALL, seeds=8, mu=0.001)}
    rows = readings_table(readings)
    assert [row.reading for row in rows] == list(readings)
    for row, spec in zip(rows, readings.values(), strict=True):
        result = run(spec)
        assert row.winner == result["tuned"].step
        alone = compare(result, "accelerated", "plain")
        found = row.against["plain"]
        assert (found.p_value, found.n, found.ratio) == (alone.p_value, alone.n, alone.ratio)
        assert (found.family, alone.family) == (6, 1)
    assert rows[0].areas["plain"] == pytest.approx(run(readings["plain step"])["plain"].area.mean())
    assert rows[1].against["plain"].text == "too few seeds, diverges"
    assert rows[1].verdict == "does not hold"
    assert np.isnan(rows[1].areas["accelerated"])


def test_figure_1_has_the_papers_two_sizes() -> None:
    assert [(spec.n, spec.episodes, spec.length) for spec in FIGURE1] == [
        (10, 1000, 100),
        (50, 500, 500),
    ]
    for spec in FIGURE1:
        assert (spec.seeds, spec.rate, spec.delta) == (10, 0.001, 0.1)
        assert (spec.discount, spec.record, spec.test_episodes) == (0.9, 10, 10)
