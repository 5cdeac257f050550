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

Where a question has variants, a solution runs in the paper with the variants that it answers, and
the model answers of all but the first variants are measured as right solutions.

The rate of a solution depends on the code that ran, and no other: a digest of it stands in
``pass_rates.json``, and a solution whose digest holds is not measured again.

    python -m tools.course.rates                        measure what has changed
    python -m tools.course.rates 1_slow_chains          measure one assignment
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
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from amgd.experiments.records import write_atomic
from tools.course.build import (
    COURSE,
    YEAR,
    Assignment,
    Choice,
    assignments,
    bank,
    choose,
    chosen,
    nbgrader_entry,
    paper,
    places,
    settings,
    source_notebook,
)

RATES = COURSE / "pass_rates.json"
SKIP = "skip-in-rates"  # tag of cells that only draw
YEARS = 100
HELPER = Path(__file__).with_name("same.py")  # decides in hidden tests
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


def rights(assignment: Assignment) -> list[Planted]:
    """Right solutions: the planted ones, and the model answers of variants but the first."""
    return [*map(read_planted, assignment.right), *_models(assignment.text.read_text("utf8"))]


@functools.cache
def _models(text: str) -> list[Planted]:
    everything = source_notebook(text, year=0)
    known = bank(everything)
    found = []
    for number in range(1, max(map(len, known.values()), default=0)):
        names = {q: [*variants][number] for q, variants in known.items() if len(variants) > number}
        cells = {
            cell.id: cell.source
            for cell, question, name in places(everything)
            if nbgrader_entry(cell).get("solution") and names.get(question) == name
        }
        about = f"Model answers of variant {number + 1} of each question."
        found.append(Planted(f"variant_{number + 1}", about, None, None, cells))
    return found


def _choice(assignment: str, everything: Any, answered: Iterable[str]) -> Choice:
    """The paper that asks for some answers; where none of them decides, the first variants."""
    asked = {c.id: {q: name} for c, q, name in places(everything) if q and c.id in answered}
    choice = choose(bank(everything), assignment, "")
    for cell in answered:
        choice |= asked.get(cell, {})
    return choice


@functools.cache
def _code_cells(
    text: str, assignment: str, answered: tuple[str, ...], secret: str
) -> list[tuple[str, bool, str]]:
    """Name, whether it is a test, and source of each cell of a paper that counts."""
    everything = source_notebook(text, year=0)
    if secret:
        made = paper(everything, assignment, secret)
    else:
        made = chosen(everything, _choice(assignment, everything, answered))
    found = []
    for cell in made.cells:
        if cell.cell_type == "code" and SKIP not in cell.metadata.get("tags", []):
            entry = nbgrader_entry(cell)
            name = entry.get("grade_id", cell.id)
            found.append((name, bool(entry.get("grade")), cell.source))
    return found


@functools.cache
def _compiled(name: str, source: str) -> Any:
    return compile(source, f"<{name}>", "exec")


def _run(
    assignment: Assignment, replace: dict[str, str], secret: str = ""
) -> list[tuple[str, bool, str]]:
    """The cells that run: tests before the first replaced cell pass as ever."""
    text = assignment.text.read_text("utf8")
    cells = _code_cells(text, assignment.name, tuple(sorted(replace)), secret)
    if unknown := set(replace) - {name for name, *_ in cells}:
        raise ValueError(f"{assignment.name} has no cell {sorted(unknown)}")
    found = []
    unchanged = bool(replace)
    for name, is_test, source in cells:
        unchanged = unchanged and name not in replace
        if not (is_test and unchanged):
            found.append((name, is_test, replace.get(name, source)))
    return found


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
    secret : str, optional
        Secret that chooses the paper; without one it is that of the replaced cells.
    """

    def __init__(
        self,
        assignment: Assignment,
        year: int,
        replace: dict[str, str] | None = None,
        secret: str = "",
    ) -> None:
        self.cells = [
            (name, is_test, _compiled(name, YEAR.sub(f"YEAR = {year}", source)))
            for name, is_test, source in _run(assignment, replace or {}, secret)
        ]

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


@functools.cache
def _decides(source: str) -> str:
    """What of some code can change whether it passes: no imports, no words of a failed test."""
    tree = ast.parse(IMPORT.sub("", source))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
    return ast.unparse(tree)


def digest(
    assignment: Assignment, solution: Planted | None = None, caught_by: Iterable[str] = ()
) -> str:
    """Hash of the code that the rate of a solution depends on; without one, of the reference.

    A solution that never passes runs up to the last cell that has caught it, and no further.
    From where a name is imported decides no rate: a place that is wrong lets every run fail, and
    that is seen in the run of the reference. Nor does it count what a failed test says.
    """
    cells = _run(assignment, solution.cells if solution else {})
    names = [name for name, *_ in cells]
    end = max((names.index(name) for name in caught_by), default=len(cells) - 1)
    code = "\0".join(_decides(source) for _, _, source in cells[: end + 1])
    if re.search(r"\b(same|numbers)\(", code):
        code += _decides(HELPER.read_text("utf8"))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def current(
    assignment: Assignment, solution: Planted | None, rate: dict[str, Any], runs: int
) -> bool:
    """Whether a recorded rate is that of the code as it stands, over years enough."""
    stopped = rate.get("caught_by", {}) if rate.get("failed") == rate.get("runs") else {}
    try:
        return bool(
            rate["runs"] >= runs and rate["digest"] == digest(assignment, solution, stopped)
        )
    except (KeyError, ValueError):  # never measured, or caught by a cell that is gone
        return False


def measure(
    assignment: Assignment,
    years: list[int],
    jobs: int,
    known: dict[str, Any] | None = None,
    save: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> dict[str, Any]:
    """Pass rates of the reference and of each right solution, fail rate of each wrong one.

    A rate of ``runs`` runs is that of the first so many years. What ``known`` holds of the same
    code and as many years is kept; ``save`` gets the entry after each solution.
    """
    known = known if known and known["year"] == years[0] else {}
    entry: dict[str, Any] = {
        "year": years[0],
        "reference": {},
        "wrong": {},
        "right": {},
    }
    chunks = [years[i::jobs] for i in range(jobs) if years[i::jobs]]
    waiting = []
    with ProcessPoolExecutor(jobs) as pool:
        for solution in [None, *rights(assignment), *map(read_planted, assignment.wrong)]:
            old = _place(known, solution)
            if current(assignment, solution, old, len(years)):
                _place(entry, solution).update(old | told(solution))
                continue
            cells = solution.cells if solution else None
            parts = [pool.submit(first_failures, assignment, chunk, cells) for chunk in chunks]
            waiting.append((solution, parts))
            _place(entry, solution)  # keeps the order of the files
        for solution, parts in waiting:
            rate = _rate(solution, Counter(r for part in parts for r in part.result()), len(years))
            stopped = rate["caught_by"] if rate.get("failed") == len(years) else {}
            rate["digest"] = digest(assignment, solution, stopped)
            _place(entry, solution).update(rate)
            save(entry)
    save(entry)
    return entry


def _place(entry: dict[str, Any], solution: Planted | None) -> dict[str, Any]:
    """Where the rate of a solution stands in the entry of its assignment."""
    if solution is None:
        place: dict[str, Any] = entry.setdefault("reference", {})
    else:
        kind = "wrong" if solution.caught_by else "right"
        place = entry.setdefault(kind, {}).setdefault(solution.name, {})
    return place


def told(solution: Planted | None) -> dict[str, str]:
    """What the file of a solution says of it."""
    if solution is None:
        return {}
    return {"mistake" if solution.caught_by else "style": solution.about}


def _rate(solution: Planted | None, found: Counter[str | None], runs: int) -> dict[str, Any]:
    """How often a solution passed, or failed and where."""
    passed = found.pop(None, 0)
    if solution is None:
        return {"passed": passed, "runs": runs}
    cells = dict(sorted((str(k), v) for k, v in found.items()))
    if solution.caught_by:
        return told(solution) | {"failed": runs - passed, "runs": runs, "caught_by": cells}
    return told(solution) | {"passed": passed, "runs": runs, "refused_by": cells}


def recorded() -> dict[str, Any]:
    """All rates that have been measured."""
    rates: dict[str, Any] = json.loads(RATES.read_text("utf8")) if RATES.exists() else {}
    return rates


def save(name: str, entry: dict[str, Any]) -> None:
    """Record the rates of an assignment."""
    rates = dict(sorted((recorded() | {name: entry}).items()))
    write_atomic(RATES, f"{json.dumps(rates, indent=1)}\n".encode())


def once(assignment: Assignment, year: int) -> bool:
    """Print what each solution fails this year; say whether all is as the files claim."""
    good = True
    for solution in [None, *rights(assignment)]:
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
        years = list(range(year, year + args.years))
        known = recorded().get(assignment.name)
        entry = measure(assignment, years, args.jobs, known, partial(save, assignment.name))
        counts = {k: v["failed"] for k, v in entry["wrong"].items()}
        counts |= {f"right, {k}": v["passed"] for k, v in entry["right"].items()}
        print(assignment.name, entry["reference"], counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
