r"""Does a record come out again? The first rows of a run, computed anew and compared bit for bit.

The same specification gives the same bits on the same processor with the same versions of the
packages. Elsewhere a sum may be taken in another order; learning is chaotic, so the last bit of one
row is soon the first digit of another. `changes_since` says whether that can be the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from amgd import _checks as check
from amgd.experiments.experiment import Columns
from amgd.experiments.provenance import Changes, changes, surroundings
from amgd.experiments.records import Record
from amgd.experiments.runner import winner

__all__ = ["Difference", "changes_since", "first_difference", "rerun"]


@dataclass(frozen=True)
class Difference:
    """The first place in which two tables differ.

    Attributes
    ----------
    row : int
        Of the table, from 0.
    column : str
    recorded, again : float
        What the record says and what came out; NaN where a table has no such row.
    """

    row: int
    column: str
    recorded: float
    again: float

    @property
    def size(self) -> float:
        """Distance of the two numbers."""
        return abs(self.again - self.recorded)


@check.arguments
def rerun(
    record: Record, variant: str, seeds: Sequence[check.Natural], rows: int
) -> dict[int, Columns]:
    """Compute the first rows of some runs anew, without a look at their files.

    Parameters
    ----------
    record : Record
    variant : str
        Of its specification.
    seeds : sequence of int
    rows : int
        How many, at least 1. The grid world takes a second or two and gives all.

    Returns
    -------
    dict of int to dict of str to ndarray
        The columns by seed; fewer rows if the run diverges before.

    Raises
    ------
    ValueError
        If the grid of a tuned variant is not recorded: then nobody knows its step.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = named("figure1-grid10", "smoke")
    ...     record = runner.record(spec, folder, variants=["plain"])
    ...     again = rerun(record, "plain", [1], rows=1)[1]
    ...     print(first_difference(record.read("plain", 1), again))
    None
    """
    check.choice("variant", variant, record.spec.variants)
    check.integer("rows", rows, 1, "there is nothing to compare in none")
    rate = None
    if record.spec.grid(variant):
        best = record.tuning.get(variant, {}).get("best", "")
        rate = winner(record.spec, variant, best)
        if rate is None:
            raise ValueError(
                f"the rate of {variant!r} is not known: {record.path} says {best!r} (expected one "
                f"of {record.spec.grid(variant)}); `amgd run` finds it again in the runs for tuning"
            )
    return record.spec.rerun(variant, seeds, rate, rows)  # type: ignore[no-any-return]


@check.arguments
def first_difference(
    recorded: Columns, again: Columns, rows: int | None = None
) -> Difference | None:
    """Return the first place where two tables differ in a bit, row by row, or None.

    Parameters
    ----------
    recorded, again : mapping of str to ndarray
        Columns of one length each.
    rows : int, optional
        Compare no more than these; default is all, and one that has more rows than the other then
        differs.

    Examples
    --------
    >>> one = {"k": np.array([0, 1]), "return": np.array([2.0, 3.0])}
    >>> first_difference(one, one)
    >>> first_difference(one, one | {"return": np.array([2.0, 3.5])})
    Difference(row=1, column='return', recorded=3.0, again=3.5)
    """
    names = [*recorded, *(name for name in again if name not in recorded)]
    lengths = [len(values) for table in (recorded, again) for values in table.values()]
    for row in range(max(lengths, default=0) if rows is None else min(rows, max(lengths))):
        for name in names:
            pair = (_at(recorded, name, row), _at(again, name, row))
            if repr(pair[0]) != repr(pair[1]):  # as files have it: -0.0 is not 0.0, NaN is NaN
                return Difference(row, name, *pair)
    return None


def _at(table: Columns, name: str, row: int) -> float:
    values = table.get(name, np.zeros(0))
    return float(values[row]) if row < len(values) else np.nan


@check.arguments
def changes_since(record: Record, variant: str, seed: int) -> Changes:
    """Return what differs here from where a run was recorded, or from one part of it to the next.

    Parameters
    ----------
    record : Record
    variant, seed
        A recorded run.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = named("figure1-grid10", "smoke")
    ...     any(changes_since(runner.record(spec, folder, variants=["plain"]), "plain", 0))
    False
    """
    stem = check.among("variant and seed", Record.stem(variant, seed), record.files)
    here = surroundings(record.spec.environment)
    found = [changes(place, here) for place in record.places(stem)]
    return Changes(*(list(dict.fromkeys(chain(*kind))) for kind in zip(*found, strict=True)))
