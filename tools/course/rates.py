"""Measure how fair the tests of the coursework are.

The reference solution of an assignment must pass all its tests in (nearly) every year, each planted
wrong solution must lose points, and each planted right solution, which is written in another style
than the reference, must lose none.
Here a notebook is run as a script, without a kernel, once for each of many years: the year is the
seed of data and tests.

A planted wrong solution is a file ``wrong/<assignment>/<name>.py``. Its docstring tells the mistake
and what the first test that fails should say; sections ``# %% <cell>`` replace solution cells of
the source::

    '''Forgets the factor 1/2 of total variation.

    caught by: sc-distance-check
    says: twice as large
    '''

    # %% sc-distance
    def distance(P, k): ...

``says`` is part of the message that a student reads; a mistake that only hidden tests find has no
such line.
A planted right solution is a file ``right/<assignment>/<name>.py`` of the same form. Its docstring
tells in what it differs from the reference, and no test.

    python -m tools.course.rates                        measure all, write pass_rates.json
    python -m tools.course.rates 1_slow_chains          measure one
    python -m tools.course.rates 1_slow_chains --once   this year only: print what fails
"""

import argparse
import ast
import builtins
import contextlib
import functools
import hashlib
import io
import json
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tools.course.build import (
    COURSE,
    YEAR,
    Assignment,
    assignments,
    nbgrader_entry,
    settings,
    source_notebook,
)

RATES = COURSE / "pass_rates.json"
SKIP = "skip-in-rates"  # tag of cells that only draw
YEARS = 100
IMPORT = re.compile(r"^(?:from|import) .*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Planted:
    """A planted solution: a wrong one names the test that catches it, a right one has none."""

    name: str
    about: str  # the mistake of a wrong one, the style of a right one
    caught_by: str | None
    says: str | None
    cells: dict[str, str] = field(hash=False)


@dataclass(frozen=True)
class Failure:
    """A test cell that did not pass, and what it said."""

    cell: str
    message: str


def read_planted(path: Path) -> Planted:
    """Read a planted solution; it is wrong or right by its folder."""
    text = path.read_text("utf8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    keys = dict(re.findall(r"^(caught by|says): (.+)$", doc, re.M))
    sections = re.split(r"^# %% (\S+)\n", text, flags=re.M)[1:]
    cells = {name: body.strip() for name, body in zip(sections[::2], sections[1::2], strict=True)}
    kind = path.parent.parent.name
    told = {"wrong": "caught by" in keys, "right": not keys}
    if not doc or not cells or not told[kind]:
        raise ValueError(
            f"{path.name} must have a docstring, which tells 'caught by: <test cell>' if and only "
            "if the solution is wrong, and hold a section '# %% <solution cell>': got a "
            f"{kind} solution with keys {sorted(keys)} and sections {sorted(cells)}"
        )
    return Planted(path.stem, doc.splitlines()[0], keys.get("caught by"), keys.get("says"), cells)


@functools.cache
def _code_cells(text: str) -> list[tuple[str, bool, str]]:
    """Name, whether it is a test, and source of each cell that counts."""
    found = []
    for cell in source_notebook(text, year=0).cells:
        if cell.cell_type == "code" and SKIP not in cell.metadata.get("tags", []):
            entry = nbgrader_entry(cell)
            name = entry.get("grade_id", cell.id)
            found.append((name, bool(entry.get("grade")), cell.source))
    return found


@functools.cache
def _compiled(name: str, source: str) -> Any:
    return compile(source, f"<{name}>", "exec")


class Script:
    """The code of an assignment, to be run many times.

    Parameters
    ----------
    assignment : Assignment
        Which one.
    year : int
        Year that stands in its notebook.
    replace : dict, optional
        Other code for solution cells, by the cells' names.
    """

    def __init__(
        self, assignment: Assignment, year: int, replace: dict[str, str] | None = None
    ) -> None:
        replace = replace or {}
        cells = _code_cells(assignment.text.read_text("utf8"))
        if unknown := set(replace) - {name for name, *_ in cells}:
            raise ValueError(f"{assignment.name} has no cell {sorted(unknown)}")
        self.cells: list[tuple[str, bool, Any]] = []
        unchanged = bool(replace)  # tests before the first replaced cell pass as ever
        for name, is_test, source in cells:
            unchanged = unchanged and name not in replace
            if is_test and unchanged:
                continue
            source = YEAR.sub(f"YEAR = {year}", replace.get(name, source))
            self.cells.append((name, is_test, _compiled(name, source)))

    def failures(self, first_only: bool = False) -> Iterable[Failure]:
        """Run the cells in order, as the grader does; give the tests that fail."""
        space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        for name, is_test, code in self.cells:
            try:
                with contextlib.ExitStack() as ours:  # what a notebook sets for itself
                    ours.enter_context(warnings.catch_warnings())
                    ours.enter_context(np.printoptions())
                    ours.enter_context(contextlib.redirect_stdout(io.StringIO()))
                    warnings.simplefilter("ignore")
                    exec(code, space)
            except Exception as error:
                if is_test:
                    yield Failure(name, f"{type(error).__name__}: {error}")
                    if first_only:
                        return


def first_failures(
    assignment: Assignment, years: list[int], replace: dict[str, str] | None = None
) -> list[str | None]:
    """Name of the first failing test in each of some years, None where all pass."""
    found = []
    for year in years:
        failure = next(iter(Script(assignment, year, replace).failures(first_only=True)), None)
        found.append(failure.cell if failure else None)
    return found


def digest(assignment: Assignment) -> str:
    """Hash of all code that the rates depend on: cells that only draw are not run.

    From where a name is imported decides no rate: a place that is wrong lets every run fail, and
    that is seen in the run of the reference.
    """
    code = [source for _, _, source in _code_cells(assignment.text.read_text("utf8"))]
    code += [p.name + p.read_text("utf8") for p in assignment.wrong + assignment.right]
    without = (IMPORT.sub("", part) for part in code)
    return hashlib.sha256("\0".join(without).encode()).hexdigest()[:16]


def measure(assignment: Assignment, years: list[int], jobs: int) -> dict[str, Any]:
    """Pass rates of the reference and of each right solution, fail rate of each wrong one."""
    planted = [*map(read_planted, assignment.wrong + assignment.right)]
    chunks = [years[i::jobs] for i in range(jobs) if years[i::jobs]]
    with ProcessPoolExecutor(jobs) as pool:
        runs = {
            solution: [pool.submit(first_failures, assignment, chunk, cells) for chunk in chunks]
            for solution, cells in [(None, None), *((p, p.cells) for p in planted)]
        }
        results = {
            solution: Counter(r for part in parts for r in part.result())
            for solution, parts in runs.items()
        }
    passed = {solution: found.pop(None, 0) for solution, found in results.items()}
    entry: dict[str, Any] = {
        "digest": digest(assignment),
        "years": [years[0], years[-1]],
        "reference": {"passed": passed[None], "runs": len(years)},
        "wrong": {},
        "right": {},
    }
    for solution in planted:
        caught_by = dict(sorted(results[solution].items()))
        if solution.caught_by:
            entry["wrong"][solution.name] = {
                "mistake": solution.about,
                "failed": len(years) - passed[solution],
                "runs": len(years),
                "caught_by": caught_by,
            }
        else:
            entry["right"][solution.name] = {
                "style": solution.about,
                "passed": passed[solution],
                "runs": len(years),
                "refused_by": caught_by,
            }
    return entry


def once(assignment: Assignment, year: int) -> bool:
    """Print what each solution fails this year; say whether all is as the files claim."""
    good = True
    for solution in [None, *map(read_planted, assignment.right)]:
        start = time.perf_counter()
        failures = list(Script(assignment, year, solution.cells if solution else None).failures())
        seconds = time.perf_counter() - start
        name = f"right, {solution.name}" if solution else "reference"
        print(f"{'BAD' if failures else 'ok '} {name}: {seconds:.1f} s, {len(failures)} tests fail")
        for failure in failures:
            print(f"    {failure.cell}: {failure.message}")
        good &= not failures
    for wrong in map(read_planted, assignment.wrong):
        failure = next(iter(Script(assignment, year, wrong.cells).failures(True)), Failure("-", ""))
        as_told = failure.cell == wrong.caught_by and (wrong.says or "") in failure.message
        good &= as_told
        print(f"{'ok ' if as_told else 'BAD'} {wrong.name}: {failure.cell}: {failure.message}")
        if not as_told:
            print(f"    expected {wrong.caught_by}: {wrong.says}")
    return good


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="assignments; all if none is named")
    parser.add_argument("--once", action="store_true", help="this year only, write nothing")
    parser.add_argument(
        "--years", type=int, default=YEARS, help=f"how many years (default {YEARS})"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    args = parser.parse_args()
    os.environ["MPLBACKEND"] = "agg"
    year = settings()["year"]
    found = {a.name: a for a in assignments()}
    if unknown := set(args.names) - set(found):
        parser.error(f"no assignment {sorted(unknown)}; there are {sorted(found)}")
    chosen = [found[n] for n in args.names or found]
    if args.once:
        return 0 if all([once(a, year) for a in chosen]) else 1
    for assignment in chosen:
        entry = measure(assignment, list(range(year, year + args.years)), args.jobs)
        rates = json.loads(RATES.read_text("utf8")) if RATES.exists() else {}
        rates[assignment.name] = entry
        RATES.write_text(json.dumps(dict(sorted(rates.items())), indent=1) + "\n", "utf8")
        counts = {k: v["failed"] for k, v in entry["wrong"].items()}
        counts |= {f"right, {k}": v["passed"] for k, v in entry["right"].items()}
        print(assignment.name, entry["reference"], counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
