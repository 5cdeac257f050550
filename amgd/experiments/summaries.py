r"""What a record says: a line for each variant, comparisons on shared seeds, words for both.

**One number a run.** A run is summed up by a measure: by default the mean height of its curve after
row 0, the start that all variants share (`amgd.statistics.area_under_curve`).
It rewards an early rise as well as a high end. The grids are tuned by it too: that row 0 counts
there changes no order, since all steps of a grid share it.

**Verdicts** are those of `amgd.experiments.verdicts`: a table compares several variants with one,
and its comparisons are one family.

**Divergence.** A run that diverged has no number. It is counted beside n, and a comparison that had
to leave it out says so in its verdict.

Plan of the module: names and measures, summaries, tables, the sentence for captions.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from amgd import _checks as check
from amgd.experiments.experiment import Quantity
from amgd.experiments.records import Curves, Record
from amgd.experiments.verdicts import AREA, Comparison, Runs, compare_runs, family_text
from amgd.statistics import Band, area_under_curve, first_passage, mean_band

__all__ = [
    "FORMATS",
    "MEASURES",
    "Reached",
    "Summary",
    "describe",
    "measured",
    "summarise",
    "to_markdown",
    "to_text",
    "until_divergence",
    "variant_name",
]

LEVEL = 0.9  # of all intervals of the book
MEASURES = {"mean": AREA, "end": "end", "updates": "updates to the threshold"}
"""What a run can be summed up by, with the words for it."""
FORMATS = ("markdown", "text", "csv", "latex", "json")


# --- names and measures ---------------------------------------------------------------------------
@check.arguments
def variant_name(record: Record, variant: str, *, tex: bool = True) -> str:
    """Return the name of a variant in words, a tuned one with the winner of its grid.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.experiment import Tuning
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     record.set_tuning("tuned", Tuning(("0.1", "0.3"), (-20.0, -40.0)))
    ...     [variant_name(record, variant) for variant in ("matched", "tuned")]
    ['SGD with matched steps', 'tuned SGD, step 0.3']
    """
    name = str(record.spec.words(variant, tex=tex))
    if variant not in record.tuning:
        return name
    best = str(record.tuning[variant]["best"])  # a step, or "delta 0.6"
    return f"{name}, {best}" if best.startswith("delta") else f"{name}, step {best}"


@check.arguments
def measured(
    record: Record,
    variant: str,
    *,
    column: str | None = None,
    measure: Annotated[str, check.choice, MEASURES] = "mean",
    threshold: float | None = None,
    until: int | None = None,
) -> Runs:
    """Return one number for each run of a variant.

    Parameters
    ----------
    record : Record
    variant : str
    column : str, optional
        Default is the one of the paper's figure.
    measure : {"mean", "end", "updates"}
        Mean height after the first row, height of the last row, or the k of the first row at the
        threshold or beyond; one more than the last k for a run that never gets there.
    threshold : float, optional
        For "updates"; default is the one of the specification.
    until : int, optional
        The last k that counts: as if every run had been stopped there. Default is the whole run.

    Returns
    -------
    Runs

    Raises
    ------
    ValueError
        For an unknown column or measure, updates without a threshold, or a length that no run has.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     rows = {"k": np.arange(5), "evaluation_return": np.array([9.0, 1.0, 2.0, 3.0, 6.0])}
    ...     record.add("plain", 0, rows, 0.5)
    ...     [measured(record, "plain", measure=m, threshold=7.0).values for m in MEASURES]
    [{0: 3.0}, {0: 6.0}, {0: 0.0}]
    """
    column = record.spec.column if column is None else column
    threshold = _threshold(record, column, threshold)
    curves = record.curves(variant, column).until(until)
    if not curves.seeds:
        return Runs({}, len(curves.diverged))
    if measure == "mean":
        values = area_under_curve(curves.k, curves.samples, rule="right")
    elif measure == "end":
        values = curves.samples[:, -1]
    elif threshold is None:
        raise ValueError(
            "updates to a threshold need one: got none, and the specification has none for "
            f"{column!r}; pass threshold"
        )
    else:
        passages = first_passage(curves.k, curves.samples, threshold, above=_above(record, column))
        values = np.where(np.isfinite(passages), passages, curves.k[-1] + 1.0)
    return Runs(dict(zip(curves.seeds, values.tolist(), strict=True)), len(curves.diverged))


def _threshold(record: Record, column: str, threshold: float | None) -> float | None:
    if threshold is not None:
        return check.real("threshold", threshold, "it is a height of the curves")
    return record.spec.threshold if column == record.spec.column else None


def _above(record: Record, column: str) -> bool:
    return bool(record.spec.quantity(column).better != "smaller")


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
class Summary:
    """What the record says of one variant.

    Attributes
    ----------
    variant, name, text : str
        As in the specification, and in words with and without TeX.
    column : str
    quantity : Quantity
        What the column means.
    n : int
        Runs that got to the end.
    diverged : mapping of int to str
        Seeds that did not, with what happened.
    final, area : Band or None
        Mean of the last row, and mean of the mean heights, over the n runs; None for n = 0, with
        infinite ends for n = 1.
    against : str or None
        Name of the variant with which it is compared.
    comparison : Comparison or None
        None for that one itself, or if that one has no runs.
    reached : Reached or None
        None without a threshold.
    threshold : float or None
    seconds : float
        Time of all runs of the variant on one core each, by the clock, tuning not included.
    """

    variant: str
    name: str
    text: str
    column: str
    quantity: Quantity
    n: int
    diverged: Mapping[int, str]
    final: Band | None
    area: Band | None
    against: str | None
    comparison: Comparison | None
    reached: Reached | None
    threshold: float | None
    seconds: float


@check.arguments
def summarise(
    record: Record,
    *,
    column: str | None = None,
    against: str | None = None,
    measure: str = "mean",
    threshold: float | None = None,
    until: int | None = None,
) -> list[Summary]:
    """Sum up every variant of a record, finished or growing.

    Parameters
    ----------
    record : Record
    column : str, optional
        Default is the one of the paper's figure.
    against : str, optional
        The variant with which the others are compared; default is the first. If it has no runs
        nothing is compared.
    measure : {"mean", "end", "updates"}
        What the verdicts speak of, see `measured`.
    threshold : float, optional
        Height that counts as reached. Default is the one of the specification, for the column to
        which it belongs.
    until : int, optional
        The last k that counts, see `measured`.

    Returns
    -------
    list of Summary
        In the order of the specification; a variant without a run is left out.

    Raises
    ------
    ValueError
        For an unknown column, variant or measure.
    RecordError
        If a file is missing, torn or edited.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     for seed in range(3):
    ...         for variant, gain in (("plain", 1.0), ("matched", 2.0)):
    ...             rows = {"k": np.arange(5), "evaluation_return": gain * np.arange(5.0) + seed}
    ...             record.add(variant, seed, rows, 0.5)
    ...     plain, matched = summarise(record)
    >>> matched.n, float(matched.area.mean), float(matched.comparison.difference.mean)
    (3, 6.0, 2.5)
    >>> matched.comparison.word  # three pairs have no p-value below 1/4
    'too few seeds'
    """
    spec = record.spec
    column = spec.column if column is None else column
    against = spec.variants[0] if against is None else against
    check.choice("against", against, spec.variants)
    threshold = _threshold(record, column, threshold)
    quantity = spec.quantity(column)
    curves = {v: record.curves(v, column).until(until) for v in spec.variants if record.seeds(v)}
    areas = {v: measured(record, v, column=column, until=until) for v in curves}
    found: Mapping[str, Comparison] = {}
    if against in curves and len(curves) > 1:
        runs = {
            v: measured(record, v, column=column, measure=measure, threshold=threshold, until=until)
            for v in curves
        }
        better = "smaller" if measure == "updates" else quantity.better or "larger"
        words = MEASURES[measure].replace("the threshold", f"{threshold}")
        words += "" if until is None else f", stopped at {until}"
        family = {v: (runs[v], runs[against]) for v in curves if v != against}
        found = compare_runs(family, better=better, quantity=words)
    return [
        Summary(
            variant=variant,
            name=variant_name(record, variant),
            text=variant_name(record, variant, tex=False),
            column=column,
            quantity=quantity,
            n=len(c.seeds),
            diverged=c.diverged,
            final=_band(c.samples[:, -1:].ravel()),
            area=_band(np.array(list(areas[variant].values.values()))),
            against=variant_name(record, against) if found else None,
            comparison=found.get(variant),
            reached=None if threshold is None else _reached(record, c, threshold, until),
            threshold=threshold,
            seconds=sum(
                record.files[record.stem(variant, seed)]["seconds"]
                for seed in record.seeds(variant)
            ),
        )
        for variant, c in curves.items()
    ]


def _band(values: NDArray[np.float64]) -> Band | None:
    return mean_band(values, LEVEL, least=1) if values.size else None


def _reached(record: Record, curves: Curves, threshold: float, until: int | None) -> Reached:
    above = _above(record, curves.column)
    passages = [np.inf] * len(curves.diverged)
    for i, seed in enumerate(curves.diverged):  # these have a curve up to where they diverged
        k, values = until_divergence(record, curves, seed)
        if k.size:
            passages[i] = first_passage(k, values[None], threshold, above=above)[0]
    if curves.seeds:
        passages += first_passage(curves.k, curves.samples, threshold, above=above).tolist()
    if until is not None:
        passages = [k if k <= until else np.inf for k in passages]
    return Reached(int(np.isfinite(passages).sum()), float(np.median(passages)))


@check.arguments
def until_divergence(
    record: Record, curves: Curves, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return k and the rows of a run that diverged, up to the first that is not finite.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure2-cartpole", "smoke"))
    ...     rows = {"k": np.arange(3), "evaluation_return": np.array([9.0, 8.0, np.nan])}
    ...     record.add("plain", 0, rows, 0.1, diverged="at iteration 2: return is not finite")
    ...     until_divergence(record, record.curves("plain", "evaluation_return"), 0)
    (array([0, 1]), array([9., 8.]))
    """
    table = record.read(curves.variant, seed)
    values = table.get(curves.column, np.zeros(0))  # it may have diverged before its first row
    finite = np.logical_and.accumulate(np.isfinite(values))
    return next(iter(table.values()))[finite], values[finite]


# --- tables ---------------------------------------------------------------------------------------
@check.arguments
def to_markdown(summaries: Sequence[Summary]) -> str:
    """Return the summaries as a Markdown table with a line on its verdicts.

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
    return _table(summaries, "markdown")


@check.arguments
def to_text(tables: Mapping[str, Sequence[Summary]], form: str = "text") -> str:
    """Return the tables of some records in one of `FORMATS`.

    Those for people have rounded numbers, half widths of 90% Student-t intervals after ±, and a
    line that says what the verdicts speak of; "csv" and "json" have all digits, a field for each
    number.

    Parameters
    ----------
    tables : mapping of str to sequence of Summary
        By the name of the record.
    form : str
        One of `FORMATS`. "csv" is one table and "json" one object, however many records there are.

    Examples
    --------
    >>> to_text({"mine": []}, "json")
    '{"mine": []}'
    """
    check.choice("form", form, FORMATS)
    fields = {name: [_fields(s) for s in found] for name, found in tables.items()}
    if form == "json":
        return json.dumps(fields, indent=1 if any(fields.values()) else None, allow_nan=False)
    if form == "csv":
        return _to_csv([{"record": name} | row for name, rows in fields.items() for row in rows])
    comment = "% " if form == "latex" else ""
    shown = [f"{comment}{name}\n\n{_table(found, form)}" for name, found in tables.items()]
    return "\n\n".join(shown)


def _table(summaries: Sequence[Summary], form: str) -> str:
    if not summaries:
        return "No run is recorded yet."
    found = {s.variant: s.comparison for s in summaries if s.comparison is not None}
    judged = bool(found) and summaries[0].quantity.better is not None
    rows = [_cells(s, bool(found), judged, tex=form != "text") for s in summaries]
    head = _head(summaries, judged, tex=form != "text")
    note = f"\n\n{family_text(found)}" if judged else ""
    if form == "markdown":
        lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + note
    if form == "latex":
        head, *rows = ([_latex(cell) for cell in row] for row in (head, *rows))
    style = {"latex": "latex_raw", "text": "simple"}[form]
    return str(tabulate(rows, head, tablefmt=style, disable_numparse=True)) + note


def _head(summaries: Sequence[Summary], judged: bool, *, tex: bool) -> list[str]:
    first = summaries[0]
    head = ["variant", "n", f"{first.quantity.label} at the end", AREA]
    compared = [s for s in summaries if s.comparison is not None]
    if compared:
        other = next(s for s in summaries if s.comparison is None)
        head += [f"minus {other.name if tex else other.text}", "pairs", "p", "corrected p"]
        head += ["verdict"] * judged
    if first.threshold is not None:
        head += [f"reach {first.threshold:g}", "when (median)"]
    return head


def _cells(s: Summary, compared: bool, judged: bool, *, tex: bool) -> list[str]:
    n = f"{s.n} ({len(s.diverged)} diverged)" if s.diverged else f"{s.n}"
    cells = [s.name if tex else s.text, n, _with_error(s.final), _with_error(s.area)]
    c = s.comparison
    if compared and c is None:
        cells += [""] * (4 + judged)
    elif c is not None:
        cells += ["none" if c.difference is None else _with_error(c.difference), f"{c.n}"]
        cells += [f"{c.p_value:.2g}", f"{c.corrected:.2g}"]
        cells += [c.text] * judged
    if s.reached is not None:
        when = f"{s.reached.median:g}" if np.isfinite(s.reached.median) else "never"
        cells += [f"{s.reached.n} of {s.n + len(s.diverged)}", when]
    return cells


def _latex(cell: str) -> str:
    """Return a cell as LaTeX: its numbers, and in words what LaTeX has another use for."""
    if re.fullmatch(r"\(?-?[\d.]+( ± [\d.]+)?\)?(e[+-]?\d+)?", cell):
        number = re.sub(r"e\+?(-?)0*(\d+)", r" \\cdot 10^{\1\2}", cell.replace("±", r"\pm"))
        return f"${number}$"
    words = cell.split("$")  # every second part is a formula
    words[::2] = (re.sub(r"([%_&#])", r"\\\1", part) for part in words[::2])
    return "$".join(words)


def _fields(s: Summary) -> dict[str, Any]:
    """Return the numbers of a summary, one a field; what there is not is None."""

    def band(name: str, value: Band | None) -> dict[str, float | None]:
        ends = ("mean", "low", "high")
        found = {end: None if value is None else float(getattr(value, end)) for end in ends}
        return {
            f"{name}_{end}": x if x is None or np.isfinite(x) else None for end, x in found.items()
        }

    c = s.comparison
    when = None if s.reached is None or not np.isfinite(s.reached.median) else s.reached.median
    return {
        "variant": s.variant,
        "name": s.text,
        "column": s.column,
        "n": s.n,
        "diverged": len(s.diverged),
        **band("end", s.final),
        **band("run", s.area),
        "against": s.against,
        "quantity": None if c is None else c.quantity,
        **band("difference", None if c is None else c.difference),
        "pairs": None if c is None else c.n,
        "p": None if c is None else c.p_value,
        "corrected_p": None if c is None else c.corrected,
        "comparisons": None if c is None else c.family,
        "smallest_p": None if c is None else c.least_p,
        "verdict": None if c is None or s.quantity.better is None else c.text,
        "threshold": s.threshold,
        "reached": None if s.reached is None else s.reached.n,
        "when_median": when,
        "seconds": s.seconds,
    }


def _to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


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
@check.arguments
def describe(record: Record) -> str:
    """Say when and where a record was made, of how many runs, in a sentence for captions.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> where = {"processor": "Some CPU", "revision": 4 * "0123456789"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure1-grid10", "smoke"))
    ...     rows = {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5])}
    ...     record.add("plain", 0, rows, 0.1, places=[where])
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
    places = [place for stem in record.files for place in record.places(stem)]
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
