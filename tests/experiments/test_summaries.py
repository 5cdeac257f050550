"""What tables, verdicts and captions say of made-up records, and of a real one."""

import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from amgd.experiments.experiment import Tuning
from amgd.experiments.gridworld import GridWorldSpec, compare, run
from amgd.experiments.named import named
from amgd.experiments.records import Record, RecordError
from amgd.experiments.reinforce import variants
from amgd.experiments.summaries import (
    MEASURES,
    describe,
    measured,
    summarise,
    to_markdown,
    until_divergence,
    variant_name,
)
from amgd.experiments.verdicts import Runs, compare_runs, family_text
from amgd.statistics import Band, holm, mean_band, paired_difference

CARTPOLE = replace(named("figure2-cartpole", "smoke"), seeds=8)
GRID = replace(named("figure1-grid10", "smoke"), seeds=8)
HERE = {"processor": "Some CPU", "revision": "0123456789" * 4}


def add(
    record: Record, variant: str, seed: int, curve, *, seconds=1.0, where=HERE, **options
) -> None:
    grid_world = isinstance(record.spec, GridWorldSpec)
    k, column = ("episode", "neu") if grid_world else ("k", "evaluation_return")
    rows = {k: np.arange(len(curve)), column: np.asarray(curve, dtype=float)}
    record.add(variant, seed, rows, seconds, places=[where], **options)


@pytest.fixture
def record(tmp_path) -> Record:
    return Record.create(tmp_path / "r", CARTPOLE)


def fill(record: Record, variant: str, gain: float, seeds=range(8)) -> None:
    """Curves that rise from 0 at row 0, by seed and variant: pairs differ less than seeds."""
    for seed in seeds:
        wobble = np.random.default_rng(seed).normal(size=4) * 20
        add(record, variant, seed, [0.0, *(100 + gain + 0.1 * seed * gain + wobble)])


def by_variant(record: Record, **options) -> dict:
    return {s.variant: s for s in summarise(record, **options)}


# --- summaries ------------------------------------------------------------------------------------
def test_a_finished_record_is_summed_up_by_bands_of_its_runs(record: Record) -> None:
    fill(record, "plain", 0.0)
    fill(record, "matched", 10.0)
    plain, matched = summarise(record)
    curves = record.curves("matched", "evaluation_return").samples
    areas = curves[:, 1:].mean(axis=1)  # equally spaced rows, without the common start
    for got, values in ((matched.final, curves[:, -1]), (matched.area, areas)):
        expected = mean_band(values, 0.9)
        assert (got.mean, got.low, got.high) == pytest.approx(
            (expected.mean, expected.low, expected.high), rel=1e-12
        )
    assert (matched.variant, matched.name) == ("matched", "SGD with matched steps")
    assert (matched.n, matched.diverged, matched.column) == (8, {}, "evaluation_return")
    assert (plain.comparison, plain.seconds) == (None, 8.0)


def test_pairs_are_differences_on_the_same_seeds(record: Record) -> None:
    fill(record, "plain", 0.0)
    fill(record, "matched", 10.0)
    found = by_variant(record)["matched"].comparison
    expected = mean_band([10.0 + seed for seed in range(8)])
    assert found.difference.mean == pytest.approx(expected.mean, rel=1e-9)
    assert found.difference.low == pytest.approx(expected.low, rel=1e-9)
    assert found.p_value == found.corrected == 2 / 2**8
    assert (found.quantity, found.seeds) == ("mean over the run", tuple(range(8)))
    assert (found.family, found.n, found.least_p) == (1, 8, 2 / 2**8)


def test_variants_with_different_numbers_of_seeds_are_paired_on_the_shared_ones(
    record: Record,
) -> None:
    fill(record, "plain", 0.0, (0, 1, 2, 4, 6))
    fill(record, "theorem1", 5.0, (1, 4, 7))
    fill(record, "nesterov", 5.0, (3, 4))
    fill(record, "matched", 5.0, (2,))
    found = by_variant(record)
    assert list(found) == ["plain", "theorem1", "nesterov", "matched"]
    assert [s.n for s in found.values()] == [5, 3, 2, 1]
    assert found["theorem1"].comparison.seeds == (1, 4)
    assert found["theorem1"].comparison.difference.mean == pytest.approx(5 + 0.5 * 2.5)
    one = found["nesterov"].comparison  # one shared seed
    assert (one.difference, one.n, one.word, one.family) == (None, 1, "too few seeds", 3)
    assert found["matched"].comparison.n == 1
    assert found["matched"].final.n == 1
    assert np.isinf(found["matched"].area.high)


def test_against_another_variant_and_against_one_without_runs(record: Record) -> None:
    fill(record, "plain", 0.0)
    fill(record, "matched", 10.0)
    found = by_variant(record, against="matched")
    assert found["matched"].comparison is None
    assert found["plain"].comparison.difference.mean == pytest.approx(-13.5)
    assert all(s.comparison is None for s in summarise(record, against="nesterov"))


def test_comparisons_of_a_table_are_corrected_together(record: Record) -> None:
    fill(record, "plain", 0.0)
    for variant, gain in (("theorem1", 1e-3), ("ghadimi_lan", 5.0), ("nesterov", -3.0)):
        fill(record, variant, gain)
    for seed in range(8):  # symmetric about plain
        base = record.read("plain", seed)["evaluation_return"]
        add(record, "matched", seed, base + (-1) ** seed)
    found = [s.comparison for s in summarise(record) if s.comparison is not None]
    p = [d.p_value for d in found]
    assert p == [2 / 2**8] * 3 + [1.0]
    assert [d.corrected for d in found] == holm(p).tolist()
    assert {d.family for d in found} == {4}
    assert [d.word for d in found] == ["better", "better", "worse", "no difference found"]
    table = to_markdown(summarise(record))
    assert "sign-flip tests, Holm's correction for m = 4, n = 8 pairs, smallest p 0.0078." in table


def test_diverged_runs_are_counted_and_in_no_mean(record: Record) -> None:
    fill(record, "plain", 0.0, range(7))
    add(record, "plain", 7, [0.0, 1e9], diverged="at iteration 2: return is not finite")
    fill(record, "matched", 10.0, range(1, 8))
    add(record, "matched", 0, [0.0], diverged="at iteration 1: gradient is not finite")
    fill(record, "nesterov", 10.0)
    add(record, "theorem1", 0, [0.0], diverged="at iteration 1: gradient is not finite")
    found = by_variant(record)
    assert found["plain"].n == 7
    assert found["plain"].area.mean < 1e3
    assert found["plain"].diverged == {7: "at iteration 2: return is not finite"}
    pair = found["matched"].comparison
    assert pair.seeds == (1, 2, 3, 4, 5, 6)
    assert (pair.diverged, pair.other_diverged) == (1, 1)
    assert pair.text == "too few seeds on shared seeds, both diverge"
    other = found["nesterov"].comparison
    assert other.text == "better on shared seeds, the other diverges"
    lost = found["theorem1"]
    assert (lost.n, lost.final, lost.area, lost.comparison.difference) == (0, None, None, None)
    assert lost.comparison.text == "too few seeds, both diverge"


def test_a_threshold_is_passed_by_runs_and_not_by_their_mean(record: Record) -> None:
    low, high = CARTPOLE.threshold - 1, CARTPOLE.threshold
    for seed, curve in enumerate([[0, high, low, low], [0, low, high, low], [low] * 4]):
        add(record, "plain", seed, curve)
    for seed in range(3):
        add(record, "matched", seed, [low] * 4)
    add(record, "nesterov", 0, [0, 0, 0, high])
    # A run that diverged has passed what it passed before.
    add(record, "nesterov", 1, [high], diverged="at iteration 1: return is not finite")
    add(record, "nesterov", 2, [0, np.inf], diverged="at iteration 1: return is not finite")
    add(record, "theorem1", 0, [], diverged="at iteration 0: return is not finite")
    found = by_variant(record)
    assert found["plain"].reached == (2, 2.0)
    assert found["matched"].reached == (0, np.inf)
    assert found["nesterov"].reached == (2, 3.0)
    assert found["theorem1"].reached == (0, np.inf)
    assert found["plain"].threshold == 195.0
    assert by_variant(record, threshold=low)["matched"].reached == (3, 0.0)


def test_the_specifications_threshold_belongs_to_its_column(tmp_path) -> None:
    record = Record.create(tmp_path / "r", CARTPOLE)
    rows = {"k": np.arange(2), "evaluation_return": np.zeros(2), "distance": np.arange(2.0)}
    record.add("plain", 0, rows, 1.0, places=[HERE])
    [summary] = summarise(record, column="distance")
    assert (summary.reached, summary.threshold, float(summary.final.mean)) == (None, None, 1.0)


def test_in_the_grid_world_a_threshold_is_passed_downwards(tmp_path) -> None:
    record = Record.create(tmp_path / "r", GRID)
    add(record, "plain", 0, [1.0, 0.1, 0.5])
    add(record, "plain", 1, [1.0, 0.5, 0.01])
    [summary] = summarise(record, threshold=0.1)
    assert summary.reached == (2, 1.5)
    [summary] = summarise(record)
    assert summary.reached is None


def test_tables_agree_with_the_grid_worlds_own_comparison(tmp_path) -> None:
    spec = GridWorldSpec(n=4, episodes=60, seeds=6, variants=("plain", "accelerated", "matched"))
    result, record = run(spec), Record.create(tmp_path / "r", spec)
    for method, curve in result.curves.items():
        for seed, neu in zip(curve.seeds, curve.neu, strict=True):
            record.add(method, seed, {"episode": curve.episodes, "neu": neu}, 1.0, places=[HERE])
    for s in summarise(record):
        assert float(s.area.mean) == pytest.approx(result[s.variant].area.mean(), rel=1e-12)
        if s.comparison is not None:
            own = compare(result, s.variant, "plain")
            assert (s.comparison.p_value, s.comparison.n) == (own.p_value, own.n)
            assert s.comparison.difference.mean < 0
            assert own.word == "better"


def test_many_seeds_are_compared_by_the_same_random_signs_everywhere(tmp_path) -> None:
    spec = replace(CARTPOLE, seeds=18)
    p_values = []
    for name in ("a", "b"):
        record = Record.create(tmp_path / name, spec)
        fill(record, "plain", 0.0, range(18))
        for seed in range(18):
            add(record, "matched", seed, [0.0, 100.0 + 30 * np.sin(seed), 100.0, 100.0, 100.0])
        p_values.append(summarise(record)[1].comparison.p_value)
    assert p_values[0] == p_values[1]
    assert 0.01 < p_values[0] < 0.99  # where other signs would give another number


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "adam"}, "against must be one of"),
        ({"column": "loss"}, "column must be one of"),
        ({"threshold": np.nan}, "threshold must lie in"),
    ],
)
def test_bad_options_are_refused(record: Record, options: dict, message: str) -> None:
    fill(record, "plain", 0.0, (0,))
    with pytest.raises(ValueError, match=message):
        summarise(record, **options)


def test_an_edited_file_is_not_summed_up(record: Record) -> None:
    fill(record, "plain", 0.0)
    file = record.path / "plain-seed03.csv"
    file.write_text(file.read_text().replace("0.0", "1.0", 1))
    with pytest.raises(RecordError, match=r"plain-seed03\.csv is torn or edited"):
        summarise(record)


# --- measures -------------------------------------------------------------------------------------
def test_each_measure_is_one_number_a_run_and_is_named_in_the_verdict(record: Record) -> None:
    high = CARTPOLE.threshold
    add(record, "plain", 0, [0.0, 10.0, high, 30.0])
    add(record, "plain", 1, [0.0, 10.0, 20.0, 30.0])
    add(record, "plain", 2, [high], diverged="at iteration 1")
    expected = {
        "mean": {0: (40 + high) / 3, 1: 20.0},
        "end": {0: 30.0, 1: 30.0},
        "updates": {0: 2.0, 1: 4.0},  # one more than the last: never there
    }
    for measure, values in expected.items():
        assert measured(record, "plain", measure=measure) == Runs(values, 1)
    assert measured(record, "plain", measure="updates", threshold=20.0).values == {0: 2.0, 1: 2.0}
    fill(record, "matched", 0.0)
    for measure, words in zip(
        MEASURES, ("mean over the run", "end", "updates to 195.0"), strict=True
    ):
        found = by_variant(record, measure=measure)["matched"].comparison
        assert found.quantity == words


def test_fewer_updates_are_better(record: Record) -> None:
    for seed in range(8):
        add(record, "plain", seed, [0, 0, 0, 0, 200])
        add(record, "matched", seed, [0, 200, 0, 0, 0])
    words = {m: by_variant(record, measure=m)["matched"].comparison.word for m in MEASURES}
    assert words == {"mean": "no difference found", "end": "worse", "updates": "better"}


def test_a_run_can_be_judged_as_if_it_had_been_stopped(record: Record) -> None:
    for seed in range(7):
        add(record, "plain", seed, [0.0, 10.0, 20.0, 30.0, 200.0])
        add(record, "matched", seed, [0.0, 20.0, 40.0, 0.0, 0.0])
    add(record, "plain", 7, [0.0, 0.0, 0.0, 200.0, 200.0], diverged="at iteration 5")
    for until, word in ((1, "better"), (2, "better"), (3, "no difference found"), (4, "worse")):
        plain, matched = summarise(record, until=until)
        assert matched.comparison.word == word
        assert matched.comparison.quantity == f"mean over the run, stopped at {until}"
        curves = record.curves("matched", "evaluation_return").until(until)
        assert curves.k.tolist() == list(range(until + 1))
        assert matched.area.mean == curves.samples[0, 1:].mean()
        assert matched.final.mean == curves.samples[0, -1]
        assert plain.reached.n == {1: 0, 2: 0, 3: 1, 4: 8}[until]
    whole = measured(record, "matched")
    assert measured(record, "matched", until=4) == whole == Runs(dict.fromkeys(range(7), 15.0))


@pytest.mark.parametrize(
    ("until", "message"),
    [
        (0, "until must be at least 1: got 0"),
        (5, "until must not lie beyond the last row: got 5, but 'plain' ends at 4"),
        (2.5, "until must be an integer"),
    ],
)
def test_a_length_that_no_run_has_is_refused(record: Record, until, message) -> None:
    add(record, "plain", 0, [0.0, 10.0, 20.0, 30.0, 200.0])
    with pytest.raises((ValueError, TypeError), match=message):
        measured(record, "plain", until=until)


def test_runs_of_a_single_row_have_no_other_length(record: Record) -> None:
    add(record, "plain", 0, [7.0])
    assert measured(record, "plain", until=0) == measured(record, "plain") == Runs({0: 7.0})
    with pytest.raises(ValueError, match="got 1, but 'plain' ends at 0"):
        measured(record, "plain", until=1)


def test_updates_need_a_threshold(tmp_path) -> None:
    record = Record.create(tmp_path / "r", GRID)
    add(record, "plain", 0, [1.0, 0.5])
    with pytest.raises(ValueError, match="updates to a threshold need one: got none"):
        measured(record, "plain", measure="updates")
    with pytest.raises(ValueError, match="measure must be one of"):
        measured(record, "plain", measure="median")


# --- verdicts -------------------------------------------------------------------------------------
def pair(n: int, shift: float, diverged: int = 0, other: int = 0) -> tuple[Runs, Runs]:
    """Pairs that all point one way, or that cancel."""
    values = np.arange(1.0, n + 1) * np.sign(shift) if shift else np.resize([1.0, -1.0], n)
    runs = Runs(dict(enumerate(values.tolist())), diverged)
    return runs, Runs(dict.fromkeys(range(n), 0.0), other)


@pytest.mark.parametrize(
    ("family", "better", "text"),
    [
        ([pair(6, 1.0)], "larger", "better"),
        ([pair(6, 1.0)], "smaller", "worse"),
        ([pair(6, -1.0)], "larger", "worse"),
        ([pair(6, 0.0)], "larger", "no difference found"),
        ([pair(5, 1.0)], "larger", "too few seeds"),  # no p below 1/16
        ([pair(0, 0.0)], "larger", "too few seeds"),
        ([pair(10, 0.0)] * 25, "larger", "no difference found"),  # 25 / 512 is below 0.05
        ([pair(10, 0.0)] * 26, "larger", "too few seeds"),  # 26 / 512 is above
        # Six tests of six pairs each: even the best p, 1/32, is above 0.05 once corrected.
        ([pair(6, 1.0)] * 6, "larger", "too few seeds"),
        ([pair(6, 1.0, 2)], "larger", "better on shared seeds, diverges"),
        ([pair(6, 0.0, 2)], "larger", "no difference found on shared seeds, diverges"),
        ([pair(6, 1.0, 0, 1)], "larger", "better on shared seeds, the other diverges"),
        ([pair(6, 1.0, 1, 1)], "larger", "better on shared seeds, both diverge"),
        ([pair(1, 1.0, 3)], "larger", "too few seeds, diverges"),
    ],
)
def test_words(family, better: str, text: str) -> None:
    found = compare_runs({str(i): one for i, one in enumerate(family)}, better=better)
    assert found["0"].text == text
    assert f"m = {len(family)}," in family_text(found)


def test_pairs_are_matched_by_their_seeds_and_not_by_their_order() -> None:
    first, second = Runs({3: 30.0, 1: 10.0, 9: 1.0}), Runs({1: 9.0, 2: 0.0, 3: 28.0})
    found = compare_runs({"x": (first, second)}, better="larger")["x"]
    assert (sorted(found.seeds), float(found.difference.mean)) == ([1, 3], 1.5)
    assert found.ratio == 40 / 37


def test_false_calls_of_a_table_are_as_rare_as_promised() -> None:
    """Over all signs of two independent comparisons, each of methods that do not differ."""
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])  # all sums differ
    p = [paired_difference(sizes * s, 0 * sizes).p_value for s in product([1, -1], repeat=7)]
    calls = [min(holm(pair)) <= 0.05 for pair in product(p, repeat=2)]
    raw = [min(pair) <= 0.05 for pair in product(p, repeat=2)]
    assert np.mean(calls) <= 0.05 < np.mean(raw)


# --- tables ---------------------------------------------------------------------------------------
def cells(table: str) -> list[list[str]]:
    lines = [line.strip("|").split("|") for line in table.partition("\n\n")[0].splitlines()]
    return [[cell.strip() for cell in line] for line in lines]


def test_the_table_says_n_and_diverged_runs_of_every_line(record: Record) -> None:
    fill(record, "plain", 0.0)
    fill(record, "theorem1", 10.0, range(7))
    add(record, "theorem1", 7, [0.0], diverged="at iteration 1: gradient is not finite")
    add(record, "nesterov", 0, [0.0], diverged="at iteration 1: gradient is not finite")
    fill(record, "matched", 10.0, (0,))
    head, rule, *rows = cells(to_markdown(summarise(record)))
    assert head == [
        "variant", "n", "return at the end", "mean over the run", "minus SGD", "pairs", "p",
        "corrected p", "verdict", "reach 195", "when (median)",
    ]  # fmt: skip
    assert {len(row) for row in (rule, *rows)} == {len(head)}
    table = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["n"] for row in table] == ["8", "7 (1 diverged)", "0 (1 diverged)", "1"]
    assert [row["pairs"] for row in table] == ["", "7", "0", "1"]
    assert [row["verdict"] for row in table] == [
        "", "better on shared seeds, diverges", "too few seeds, diverges", "too few seeds",
    ]  # fmt: skip
    assert table[1]["minus SGD"] == "13.0 ± 1.6"  # 10 + seed, seeds 0..6: t = 1.943, s = 2.16
    assert table[2]["mean over the run"] == "none"
    assert "±" not in table[3]["mean over the run"]


def test_a_column_without_a_direction_has_no_verdict(tmp_path) -> None:
    record = Record.create(tmp_path / "r", CARTPOLE)
    for variant, seed in product(("plain", "matched"), range(3)):
        rows = {"k": np.arange(2), "distance": np.array([0.0, seed + len(variant)])}
        record.add(variant, seed, rows, 1.0, places=[HERE])
    head, *rows = cells(to_markdown(summarise(record, column="distance")))
    assert "verdict" not in head
    assert head[2] == "distance from the start at the end"
    assert {len(row) for row in rows} == {len(head)}


def test_without_comparisons_the_table_is_short(record: Record) -> None:
    fill(record, "plain", 0.0, (0,))
    head, _, [_, n, *_] = cells(to_markdown(summarise(record)))
    assert (head[-1], len(head), n) == ("when (median)", 6, "1")
    assert to_markdown([]) == "No run is recorded yet."


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (168.4321, 5.123, "168.4 ± 5.1"),
        (-0.001, 0.5, "0.00 ± 0.50"),
        (4.321e-5, 1.23e-6, "(4.32 ± 0.12)e-5"),
        (0.0432, 0.00123, "0.0432 ± 0.0012"),
        (123.0, 4567.0, "123 ± 4567"),
        (-2.5e7, 3e6, "(-2.50 ± 0.30)e7"),
        (10.0, 0.0, "10 ± 0"),
        (1.5, np.inf, "1.5"),
    ],
)
def test_numbers_have_the_digits_that_their_error_allows(record, mean, half, text) -> None:
    fill(record, "plain", 0.0, (0, 1))
    [summary] = summarise(record)
    band = Band(np.array(mean), np.array(mean - half), np.array(mean + half), 2, 0.9)
    assert cells(to_markdown([replace(summary, final=band)]))[2][2] == text


# --- names and captions ---------------------------------------------------------------------------
def test_every_variant_has_a_name_of_its_own(tmp_path) -> None:
    for spec, known in ((GRID, GRID.variants), (CARTPOLE, variants())):
        record = Record.create(tmp_path / spec.kind, spec)
        names = [variant_name(record, v) for v in known]
        assert len(set(names)) == len(known)
        assert not any("_" in name.replace(r"\gamma_k", "") for name in names)


def test_tuned_variants_are_called_by_their_winner(tmp_path) -> None:
    record = Record.create(tmp_path / "r", GRID)
    record.set_tuning("tuned", Tuning(("0.1", "0.3/k"), (2.0, 1.0)))
    record.set_tuning("tuned_accelerated", Tuning(("delta 0.6", "delta 1"), (1.0, np.inf)))
    assert variant_name(record, "tuned") == "tuned TD(0), step 0.3/k"
    assert variant_name(record, "tuned_accelerated") == "tuned TD(0)-Acc, delta 0.6"


def test_experiments_say_what_their_columns_mean() -> None:
    assert (GRID.column, GRID.task) == ("neu", "grid world, 4 × 4")
    assert (CARTPOLE.column, CARTPOLE.task) == ("evaluation_return", "CartPole-v0")
    assert GRID.quantity("neu").better == "smaller"
    returns = CARTPOLE.quantity("return")
    assert (returns.better, returns.least, returns.most) == ("larger", 1.0, 40.0)  # its horizon
    assert CARTPOLE.quantity("entropy").better is None
    assert named("figure3-ant").quantity("return").most == np.inf


def test_a_caption_tells_date_n_processor_and_revision(record: Record) -> None:
    assert describe(record) == "No run is recorded yet."
    for variant in CARTPOLE.variants[:5]:
        fill(record, variant, 0.0)
    record.spec = replace(record.spec, variants=CARTPOLE.variants[:5])
    day = record.files["plain-seed00"]["finished"][:10]
    for entry in record.files.values():
        entry["finished"] = day  # midnight may fall between two of them
    assert describe(record) == f"Recorded on {day}, n = 8, on Some CPU, revision 0123456."


def test_a_caption_of_a_growing_record_with_many_places(record: Record) -> None:
    elsewhere = {"processor": "Other CPU", "revision": "f" * 40 + "+changes"}
    fill(record, "plain", 0.0, range(3))
    add(record, "matched", 0, [0.0], diverged="at iteration 1", where=elsewhere)
    add(record, "matched", 1, [0.0], diverged="at iteration 1", where=elsewhere)
    add(record, "matched", 2, [0.0, 1.0], where=elsewhere)
    for stem, entry in record.files.items():
        entry["finished"] = f"2026-11-{28 + (stem == 'plain-seed00')}T01:02:03+00:00"
    assert describe(record) == (
        "Recorded from 2026-11-28 to 2026-11-29, n = 0 to 3 of 8, on Other CPU and Some CPU, "
        "revisions 0123456 and fffffff+changes; diverged: 2 of SGD with matched steps."
    )


def test_the_rows_before_divergence_end_where_numbers_do(record: Record) -> None:
    add(record, "plain", 0, [1.0, np.nan, 2.0], diverged="at iteration 2")
    k, values = until_divergence(record, record.curves("plain", "evaluation_return"), 0)
    assert (k.tolist(), values.tolist()) == ([0], [1.0])


def test_tables_need_neither_matplotlib_nor_torch() -> None:
    code = (
        "import sys, amgd.experiments.summaries; "
        "assert not {'torch', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
