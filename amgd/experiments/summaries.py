r"""What a record says: a line for each variant, comparisons on shared seeds, words for both.

**One number a run.** A run is summed up by the mean height of its curve after row 0, the start
that all variants share (`amgd.statistics.area_under_curve`).
It rewards an early rise as well as a high end. The grids are tuned by it too: that row 0 counts there
changes no order, since all steps of a grid share it.

**Pairs.** Seed i of every variant has the same random streams, so a comparison takes the
differences on the seeds that both variants finished.
The p-value is that of the sign-flip test, exact up to 16 pairs.
A table compares several variants with one, so its verdicts use Holm's correction
(`amgd.statistics.holm`): with six independent comparisons at 0.05 and no correction
the chance of some false call would be a quarter, and a reader takes home whatever the table calls
better.
The uncorrected p-values are printed, for a reader who came with a single question.

**Few seeds.** The smallest p-value of n pairs is 2^(1-n). Where even that could not pass, the
verdict is "too few seeds": silence of such a test says nothing.

**Divergence.** A run that diverged has no area. It is counted beside n, and a comparison that had
to leave it out says so in its verdict.

Plan of the module: names and quantities, summaries, verdicts, the table, the sentence for captions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd.experiments.records import Curves, Record
from amgd.experiments.specs import METHODS, VARIANTS, GridWorldSpec
from amgd.statistics import (
    Band,
    PairedComparison,
    area_under_curve,
    first_passage,
    holm,
    mean_band,
    paired_difference,
)

__all__ = [
    "Quantity",
    "Reached",
    "SeedComparison",
    "Summary",
    "default_column",
    "describe",
    "quantity",
    "summarise",
    "task_name",
    "to_markdown",
    "until_divergence",
    "variant_name",
    "verdict",
]

LEVEL = 0.9  # of all intervals of the book
ALPHA = 0.05  # largest corrected p-value that is called a difference


# --- names and quantities -------------------------------------------------------------------------
class Quantity(NamedTuple):
    """What a column of a record means.

    Attributes
    ----------
    label : str
        In words, for an axis or a table.
    better : {"larger", "smaller"} or None
        Which direction is better; None if neither is.
    log : bool
        Whether it is drawn on a logarithmic axis.
    """

    label: str
    better: str | None
    log: bool


_QUANTITIES = {
    "neu": Quantity("exact NEU", "smaller", True),
    "neu_estimate": Quantity("estimated NEU", "smaller", True),
    "evaluation_return": Quantity("return", "larger", False),
    "return": Quantity("return of the training batch", "larger", False),
    "distance": Quantity("distance from the start", None, False),
    "gradient_norm": Quantity("norm of the gradient estimate", None, True),
}
_GRID_WORLD_NAMES = {
    "plain": "TD(0)",
    "accelerated": "TD(0)-Acc",
    "matched": "TD(0) with matched steps",
    "tuned": "tuned TD(0)",
    "tuned_accelerated": "tuned TD(0)-Acc",
}
_REINFORCE_NAMES = {
    "plain": "SGD",
    "theorem1": "AMGD of Theorem 1",
    "ghadimi_lan": r"AMGD with $\gamma_k=k\beta/2$",
    "nesterov": "Nesterov",
    "matched": "SGD with matched steps",
    "tuned": "tuned SGD",
    "tuned_accelerated": "tuned AMGD",
}


def quantity(column: str) -> Quantity:
    """Return what a column of a record means; an unknown one is called by its name.

    Examples
    --------
    >>> quantity("evaluation_return").better, quantity("theta0").label
    ('larger', 'theta0')
    """
    return _QUANTITIES.get(column, Quantity(column.replace("_", " "), None, False))


def default_column(record: Record) -> str:
    """Return the column of the paper's figure: the exact NEU, or the evaluation's return.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     default_column(Record.create(folder, named("figure1-grid10")))
    'neu'
    """
    return "neu" if isinstance(record.spec, GridWorldSpec) else "evaluation_return"


def variant_name(record: Record, variant: str) -> str:
    """Return the name of a variant in words, a tuned one with the winner of its grid.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     best = record.set_tuning("tuned", ["0.1", "0.3"], [-20.0, -40.0])
    ...     [variant_name(record, variant) for variant in ("matched", "tuned")]
    ['SGD with matched steps', 'tuned SGD, step 0.3']
    """
    grid_world = isinstance(record.spec, GridWorldSpec)
    name = (_GRID_WORLD_NAMES if grid_world else _REINFORCE_NAMES)[variant]
    if variant not in record.tuning:
        return name
    best = str(record.tuning[variant]["best"])  # a step, or "delta 0.6"
    return f"{name}, {best}" if best.startswith("delta") else f"{name}, step {best}"


def task_name(record: Record) -> str:
    """Return the task in words: the environment, or the size of the grid world.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     task_name(Record.create(folder, named("figure1-grid10")))
    'grid world, 10 × 10'
    """
    if isinstance(record.spec, GridWorldSpec):
        return f"grid world, {record.spec.n} × {record.spec.n}"
    return str(record.spec.training.environment)


# --- summaries ------------------------------------------------------------------------------------
class Reached(NamedTuple):
    """How many runs got to a threshold, and when.

    Attributes
    ----------
    n : int
        Runs that got there, diverged ones included if they did before.
    median : float
        Median k of the first row there over all runs, a run that never gets there counting as
        infinity. So it is infinite unless more than half of the runs get there.
    """

    n: int
    median: float


@dataclass(frozen=True)
class SeedComparison(PairedComparison):
    """A paired comparison of the areas of two variants of a record.

    Attributes
    ----------
    difference : Band
        Mean of variant minus `against` with its Student-t interval.
    p_value : float
        Two-sided, of the sign-flip test.
    corrected : float
        The same after Holm's correction for all comparisons of the table.
    comparisons : int
        How many there are.
    against : str
    seeds : tuple of int
        The seeds that both finished.
    diverged, against_diverged : int
        Runs of either side that diverged.
    """

    corrected: float
    comparisons: int
    against: str
    seeds: tuple[int, ...]
    diverged: int
    against_diverged: int


@dataclass(frozen=True)
class Summary:
    """What the record says of one variant.

    Attributes
    ----------
    variant, name : str
        As in the specification, and in words.
    column : str
    n : int
        Runs that got to the end.
    diverged : mapping of int to str
        Seeds that did not, with what happened.
    final, area : Band or None
        Mean of the last row, and mean of the mean heights, over the n runs; None for n = 0, with
        infinite ends for n = 1.
    difference : SeedComparison or None
        Of the areas, against another variant; None for that one itself, or if fewer than two seeds
        are shared.
    reached : Reached or None
        None without a threshold.
    threshold : float or None
    seconds : float
        Time of all runs of the variant on one core each, by the clock, tuning not included.
    """

    variant: str
    name: str
    column: str
    n: int
    diverged: Mapping[int, str]
    final: Band | None
    area: Band | None
    difference: SeedComparison | None
    reached: Reached | None
    threshold: float | None
    seconds: float


def summarise(
    record: Record,
    *,
    column: str | None = None,
    against: str = "plain",
    threshold: float | None = None,
) -> list[Summary]:
    """Sum up every variant of a record, finished or growing.

    Parameters
    ----------
    record : Record
    column : str, optional
        Default is the one of the paper's figure, see `default_column`.
    against : str
        The variant with which the others are compared. If it has no runs nothing is compared.
    threshold : float, optional
        Height that counts as reached. Default is the one of the specification, for the column to
        which it belongs.

    Returns
    -------
    list of Summary
        In the order of the specification; a variant without a run is left out.

    Raises
    ------
    ValueError
        For an unknown column or variant.
    RecordError
        If a file is missing, torn or edited.

    Notes
    -----
    For more than 16 shared seeds the sign patterns are drawn at random, from a generator that
    depends on the record's hash only: the same record has the same table everywhere.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     for seed in range(3):
    ...         for variant, gain in (("plain", 1.0), ("matched", 2.0)):
    ...             rows = {"k": np.arange(5), "evaluation_return": gain * np.arange(5.0) + seed}
    ...             record.add(variant, seed, rows, 0.5)
    ...     plain, matched = summarise(record)
    >>> matched.n, float(matched.area.mean), float(matched.difference.difference.mean)
    (3, 6.0, 2.5)
    >>> verdict(matched.difference, "larger")  # three pairs have no p-value below 1/4
    'too few seeds'
    """
    column = default_column(record) if column is None else column
    check.choice("against", against, tuple(dict.fromkeys(METHODS + VARIANTS)))
    if threshold is not None:
        threshold = check.real("threshold", threshold, "it is a height of the curves")
    elif column == "evaluation_return":
        threshold = getattr(record.spec, "threshold", None)
    curves = {v: record.curves(v, column) for v in record.spec.variants if record.seeds(v)}
    areas = {v: _areas(c) for v, c in curves.items()}
    summaries = [
        Summary(
            variant=variant,
            name=variant_name(record, variant),
            column=column,
            n=len(c.seeds),
            diverged=c.diverged,
            final=_band(c.samples[:, -1:].ravel()),
            area=_band(np.array(list(areas[variant].values()))),
            difference=_compare(record, curves, areas, variant, against),
            reached=None if threshold is None else _reached(record, c, threshold),
            threshold=threshold,
            seconds=sum(
                record.files[record.stem(variant, seed)]["seconds"]
                for seed in record.seeds(variant)
            ),
        )
        for variant, c in curves.items()
    ]
    return _correct(summaries)


def _areas(curves: Curves) -> dict[int, float]:
    if not curves.seeds:
        return {}
    values = area_under_curve(curves.k, curves.samples, rule="right").tolist()
    return dict(zip(curves.seeds, values, strict=True))


def _band(values: NDArray[np.float64]) -> Band | None:
    return mean_band(values, LEVEL, least=1) if values.size else None


def _compare(
    record: Record,
    curves: Mapping[str, Curves],
    areas: Mapping[str, Mapping[int, float]],
    variant: str,
    against: str,
) -> SeedComparison | None:
    """Compare two variants on the seeds that both finished."""
    if variant == against or against not in areas:
        return None
    first, second = areas[variant], areas[against]
    shared = tuple(seed for seed in first if seed in second)
    if len(shared) < 2:
        return None
    found = paired_difference(
        [first[seed] for seed in shared],
        [second[seed] for seed in shared],
        level=LEVEL,
        rng=np.random.default_rng(int(record.hash, 16)),
    )
    return SeedComparison(
        found.difference,
        found.p_value,
        corrected=found.p_value,
        comparisons=1,
        against=against,
        seeds=shared,
        diverged=len(curves[variant].diverged),
        against_diverged=len(curves[against].diverged),
    )


def _correct(summaries: Sequence[Summary]) -> list[Summary]:
    """Give each comparison its corrected p-value."""
    found = [s.difference for s in summaries if s.difference is not None]
    if not found:
        return list(summaries)
    corrected = iter(holm([comparison.p_value for comparison in found]).tolist())
    return [
        s
        if s.difference is None
        else replace(
            s,
            difference=replace(s.difference, corrected=next(corrected), comparisons=len(found)),
        )
        for s in summaries
    ]


def _reached(record: Record, curves: Curves, threshold: float) -> Reached:
    above = quantity(curves.column).better != "smaller"
    passages = [np.inf] * len(curves.diverged)
    for i, seed in enumerate(curves.diverged):  # these have a curve up to where they diverged
        k, values = until_divergence(record, curves, seed)
        if k.size:
            passages[i] = first_passage(k, values[None], threshold, above=above)[0]
    if curves.seeds:
        passages += first_passage(curves.k, curves.samples, threshold, above=above).tolist()
    return Reached(int(np.isfinite(passages).sum()), float(np.median(passages)))


def until_divergence(
    record: Record, curves: Curves, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return k and the rows of a run that diverged, up to the first that is not finite.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     rows = {"k": np.arange(3), "evaluation_return": np.array([9.0, 8.0, np.nan])}
    ...     record.add("plain", 0, rows, 0.1, diverged="at iteration 2: return is not finite")
    ...     until_divergence(record, record.curves("plain", "evaluation_return"), 0)
    (array([0, 1]), array([9., 8.]))
    """
    table = record.read(curves.variant, seed)
    values = table[curves.column]
    finite = np.logical_and.accumulate(np.isfinite(values))
    return next(iter(table.values()))[finite], values[finite]


# --- verdicts -------------------------------------------------------------------------------------
def verdict(
    comparison: PairedComparison | None, better: str | None = "larger", *, alpha: float = ALPHA
) -> str:
    """Say in words what a comparison shows of its first variant.

    Parameters
    ----------
    comparison : PairedComparison or None
        A `SeedComparison` is judged by its corrected p-value, and its diverged runs are named.
    better : {"larger", "smaller"}
        Which direction is better.
    alpha : float in (0, 1)
        Largest p-value that counts as a difference.

    Returns
    -------
    str
        "better" or "worse"; "no difference" (none was seen: the interval says how large one could
        be); "too few seeds" if no outcome of so few pairs could have been called a difference;
        "cannot be decided" without a comparison.
        If runs diverged, the word is followed by who did, "diverges", "the other diverges" or "both
        diverge", as in "better on shared seeds, diverges".

    Examples
    --------
    >>> higher = paired_difference([5.0, 7.0, 6.0, 8.0, 9.0, 7.5], [1.0, 2.0, 0.0, 1.5, 1.0, 2.5])
    >>> verdict(higher), verdict(higher, "smaller"), verdict(higher, alpha=0.01), verdict(None)
    ('better', 'worse', 'too few seeds', 'cannot be decided')
    """
    check.choice("better", better, ("larger", "smaller"))
    alpha = check.real("alpha", alpha, "0.05 is usual", "(0, 1)")
    if comparison is None:
        return "cannot be decided"
    check.instance("comparison", comparison, PairedComparison, "pass one of a Summary")
    p_value, comparisons, left_out = comparison.p_value, 1, ""
    if isinstance(comparison, SeedComparison):
        p_value, comparisons = comparison.corrected, comparison.comparisons
        left_out = _who_diverged(comparison.diverged, comparison.against_diverged)
    if p_value <= alpha:
        word = "better" if (comparison.difference.mean > 0) == (better == "larger") else "worse"
    elif comparisons * 2.0 ** (1 - comparison.difference.n) > alpha:
        word = "too few seeds"
    else:
        word = "no difference"
    if not left_out:
        return word
    return (
        f"{word}, {left_out}" if word == "too few seeds" else f"{word} on shared seeds, {left_out}"
    )


def _who_diverged(own: int, other: int) -> str:
    if own and other:
        return "both diverge"
    return "diverges" if own else "the other diverges" if other else ""


# --- the table ------------------------------------------------------------------------------------
def to_markdown(summaries: Sequence[Summary]) -> str:
    """Return the summaries as a Markdown table, with n and the diverged runs of every line.

    The numbers after ± are half widths of 90% Student-t intervals.

    Parameters
    ----------
    summaries : sequence of Summary
        As `summarise` returns them.

    Examples
    --------
    >>> print(to_markdown([]))
    No run is recorded yet.
    """
    if not summaries:
        return "No run is recorded yet."
    column = quantity(summaries[0].column)
    compared = [s.difference for s in summaries if s.difference is not None]
    names = {s.variant: s.name for s in summaries}
    head = ["variant", "n", f"{column.label} at the end", "mean over the run"]
    if compared:
        head += [f"minus {names[compared[0].against]}", "pairs", "p", "corrected p"]
        head += ["verdict"] * (column.better is not None)
    if summaries[0].threshold is not None:
        head += [f"reach {summaries[0].threshold:g}", "when (median)"]
    against = compared[0].against if compared else None
    rows = [_cells(s, against, column.better) for s in summaries]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(s: Summary, against: str | None, better: str | None) -> list[str]:
    n = f"{s.n} ({len(s.diverged)} diverged)" if s.diverged else f"{s.n}"
    cells = [s.name, n, _with_error(s.final), _with_error(s.area)]
    if against is not None:
        cells += _comparison_cells(s, against, better)
    if s.reached is not None:
        when = f"{s.reached.median:g}" if np.isfinite(s.reached.median) else "never"
        cells += [f"{s.reached.n} of {s.n + len(s.diverged)}", when]
    return cells


def _comparison_cells(s: Summary, against: str, better: str | None) -> list[str]:
    d = s.difference
    if d is not None:
        cells = [_with_error(d.difference), f"{len(d.seeds)}", f"{d.p_value:.2g}"]
        cells += [f"{d.corrected:.2g}"]
        word = verdict(d, better) if better is not None else ""
    else:
        cells = [""] * 4
        word = "" if s.variant == against else "cannot be decided" if s.n else "diverges"
    return cells if better is None else [*cells, word]


def _with_error(band: Band | None) -> str:
    """Write "12.3 ± 0.4": the half width with two digits, the mean with as many decimals."""
    if band is None:
        return "none"
    mean, half = float(band.mean), float(band.high - band.mean)
    if not np.isfinite(half):  # a single run
        return f"{mean:.3g}"
    if half == 0.0:
        return f"{mean:.4g} ± 0"
    size = max(abs(mean), half)
    if 1e-3 <= size < 1e5:
        return _rounded(mean, half)
    power = int(np.floor(np.log10(size)))
    return f"({_rounded(mean / 10.0**power, half / 10.0**power)})e{power}"


def _rounded(mean: float, half: float) -> str:
    digits = max(0, 1 - int(np.floor(np.log10(half))))
    mean = round(mean, digits) + 0.0  # no "-0.0"
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


# --- the sentence for captions --------------------------------------------------------------------
def describe(record: Record) -> str:
    """Say when and where a record was made, of how many runs, in a sentence for captions.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> where = {"processor": "Some CPU", "revision": 4 * "0123456789"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure1-grid10", "smoke"))
    ...     rows = {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5])}
    ...     record.add("plain", 0, rows, 0.1, where=where)
    ...     print(describe(record))
    Recorded on ..., n = 0 to 1 of 3, on Some CPU, revision 0123456.
    """
    if not record.files:
        return "No run is recorded yet."
    finished = {
        v: sum(record.files[record.stem(v, seed)]["diverged"] is None for seed in record.seeds(v))
        for v in record.spec.variants
    }
    diverged = {v: len(record.seeds(v)) - n for v, n in finished.items()}
    least, most, seeds = min(finished.values()), max(finished.values()), record.spec.seeds
    n = f"n = {least}" if least == most else f"n = {least} to {most}"
    if least < seeds:
        n += f" of {seeds}"
    days = sorted({entry["finished"][:10] for entry in record.files.values()})
    day = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    places = [record.surroundings[entry["surroundings"]] for entry in record.files.values()]
    processors = " and ".join(_distinct(place["processor"] for place in places))
    revisions = _distinct(_short(place["revision"]) for place in places)
    revision = ("revision " if len(revisions) == 1 else "revisions ") + " and ".join(revisions)
    sentence = f"Recorded {day}, {n}, on {processors}, {revision}"
    lost = ", ".join(f"{n} of {variant_name(record, v)}" for v, n in diverged.items() if n)
    return f"{sentence}; diverged: {lost}." if lost else f"{sentence}."


def _distinct(words: Iterable[str]) -> list[str]:
    return sorted(set(words))


def _short(revision: str) -> str:
    """Shorten a commit, which may be followed by "+changes"."""
    commit, plus, changes = revision.partition("+")
    return (commit[:7] if len(commit) == 40 else commit) + plus + changes
