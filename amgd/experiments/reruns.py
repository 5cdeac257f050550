r"""Does a record come out again? The first rows of a run, computed anew and compared bit for bit.

The same specification gives the same bits on the same processor with the same versions of the
packages. Elsewhere a sum may be taken in another order; learning is chaotic, so the last bit of one
row is soon the first digit of another. `changed_places` says whether that can be the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd.errors import Diverged
from amgd.experiments.gridworld import run
from amgd.experiments.records import Record, surroundings
from amgd.experiments.runner import grid_world_columns, training_columns
from amgd.experiments.specs import GridWorldSpec
from amgd.reinforce.training import Trainer

__all__ = ["Difference", "changed_places", "first_difference", "rerun"]

Columns = Mapping[str, NDArray[Any]]


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


def rerun(
    record: Record, variant: str, seeds: Sequence[int], rows: int
) -> dict[int, dict[str, NDArray[Any]]]:
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
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = named("figure1-grid10", "smoke")
    ...     record = runner.record(spec, folder, variants=["plain"])
    ...     again = rerun(record, "plain", [1], rows=1)[1]
    ...     print(first_difference(record.read("plain", 1), again))
    None
    """
    check.choice("variant", variant, record.spec.variants)
    check.integer("rows", rows, 1, "there is nothing to compare in none")
    if isinstance(record.spec, GridWorldSpec):
        curve = run(replace(record.spec, methods=(variant,)))[variant]
        return {seed: grid_world_columns(curve, seed) for seed in seeds}
    rate = _rate(record, variant)
    return {seed: _train(record, variant, seed, rate, rows) for seed in seeds}


def _rate(record: Record, variant: str) -> float | None:
    """Return the step that tuning has chosen, None for a variant without a grid."""
    grid = record.spec.grid(variant)
    if not grid:
        return None
    best = record.tuning.get(variant, {}).get("best")
    found = [rate for rate in grid if f"{rate:g}" == best]
    if not found:
        raise ValueError(
            f"the step of {variant!r} is not known: {record.path} says {best!r} (expected one of "
            f"{grid}); `amgd run` tries them"
        )
    return float(found[0])


def _train(
    record: Record, variant: str, seed: int, rate: float | None, rows: int
) -> dict[str, NDArray[Any]]:
    trainer = Trainer(record.spec.training_for(variant, (seed,), rate))
    try:
        while trainer.k < rows and not trainer.done:
            trainer.advance()
    except Diverged as error:
        return training_columns(error.recorded, 0)
    return training_columns(trainer.log, 0)


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


def changed_places(record: Record, variant: str, seed: int) -> list[str]:
    """Return what is different here from where a run was recorded and may change its last bits.

    Parameters
    ----------
    record : Record
    variant, seed
        A recorded run.

    Returns
    -------
    list of str
        Such as "numpy 2.1.0 there, 2.4.1 here". The version of `amgd` itself is left out: whether
        its results have changed is what a comparison is to show.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = named("figure1-grid10", "smoke")
    ...     changed_places(runner.record(spec, folder, variants=["plain"]), "plain", 0)
    []
    """
    entry = record.files[Record.stem(variant, seed)]
    there, here = (
        _bits_depend_on(place)
        for place in (record.surroundings[entry["surroundings"]], surroundings())
    )
    names = [*there, *(name for name in here if name not in there)]
    return [
        f"{name} {there.get(name, 'missing')} there, {here.get(name, 'missing')} here"
        for name in names
        if there.get(name) != here.get(name)
    ]


def _bits_depend_on(place: Mapping[str, Any]) -> dict[str, str]:
    versions = {name: text for name, text in place["versions"].items() if name != "amgd"}
    return {name: place[name] for name in ("processor", "system", "python")} | versions
