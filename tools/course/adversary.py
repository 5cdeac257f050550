"""Hand hidden tests a zoo of answers: nothing empty may pass, and no right sequence may fail.

Each function of the reference is wrapped: it computes the right answer and gives back something
else in its place. A wrong kind must fail every hidden test that calls the function; an equal one,
which holds the same values in another sequence, must pass them all.
A class is wrapped through its lists: whichever list of an object a test reads is replaced.

    python -m tools.course.adversary        measure all, write adversary.json (some seconds)
"""

import contextlib
import inspect
import io
import json
import sys
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.course.build import COURSE, Assignment, assignments, nbgrader_entry
from tools.course.rates import SKIP
from tools.course.submissions import is_hidden
from tools.course.tester import names_in

TEST = "<hidden test>"
RECORD = COURSE / "adversary.json"
Change = Callable[[Any], Any]


def _leaf(change: Change) -> Change:
    """A change of each value in a tuple of values, or of the one value."""
    return lambda value: tuple(map(change, value)) if isinstance(value, tuple) else change(value)


def _array(change: Change) -> Change:
    return _leaf(lambda value: change(np.asarray(value)))


def _sequence(make: Change) -> Change:
    """The same values in another kind of sequence; a single number stays one."""

    def change(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim:
            return make(value.tolist())
        return value

    return change


WRONG: dict[str, Change] = {
    "nothing": lambda value: None,
    "an empty list": lambda value: [],
    "an empty array": lambda value: np.empty(0),
    "empty parts": _leaf(lambda part: []),
    "no rows of the right width": _array(lambda part: np.empty((0, *part.shape[1:]))),
    "rows of width 0": _array(lambda part: np.empty((*part.shape[:-1], 0))),
    "none of the right shape": _array(lambda part: np.empty((0, *part.shape))),
    "a row too few": _array(lambda part: part[:-1] if part.ndim else np.empty(0)),
    "one axis too many": _array(lambda part: part[None]),
    "zeros": _array(np.zeros_like),
    "ones": _array(np.ones_like),
    "one constant for all": lambda value: 0.25,
    "not a number": _array(lambda part: np.full(part.shape, np.nan)),
    "infinity": _array(lambda part: np.full(part.shape, -np.inf)),
    "text": _array(lambda part: part.astype(str)),
    "true": lambda value: True,
    "an object": lambda value: object(),
    "the other sign": _array(lambda part: -part.astype(float) - 1e-3),
}
EQUAL: dict[str, Change] = {
    "lists": _leaf(_sequence(list)),
    "tuples": _leaf(_sequence(tuple)),
    "deques": _leaf(_sequence(deque)),
    "parts in a list": lambda value: list(value) if isinstance(value, tuple) else value,
    "parts in a deque": lambda value: deque(value) if isinstance(value, tuple) else value,
}
REPEATED = "the answers of the visible test"


class Memory:
    """Answers the visible test, and then gives the same answers again: a copied literal."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self.answer, self.learning, self.calls = answer, True, 0
        self.seen: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answer, or repeat."""
        if self.learning:
            self.seen.append(self.answer(*args, **kwargs))
            return self.seen[-1]
        self.calls += 1
        return self.seen[(self.calls - 1) % len(self.seen)]


def altered(answer: Any, change: Change) -> Any:
    """A function whose answers are changed, or a class whose lists are."""
    if not inspect.isclass(answer):
        return lambda *args, **kwargs: change(answer(*args, **kwargs))

    class Altered(answer):  # type: ignore[misc]
        """The same with other lists."""

        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            asked_by = sys._getframe(1).f_code.co_filename
            return change(tuple(value)) if asked_by == TEST and isinstance(value, list) else value

    return Altered


def passes(code: str, space: dict[str, Any]) -> bool:
    """Whether a test passes where some names stand for other answers."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(compile(code, TEST, "exec"), space)
    except Exception:
        return False
    return True


def measure(assignment: Assignment) -> dict[str, dict[str, list[str]]]:
    """Which hidden tests pass and which fail with each kind of answer, as "cell answer"."""
    space: dict[str, Any] = {"__name__": "__main__"}
    # Tests with what was defined above them: a later variant may define a name anew.
    visible: dict[str, tuple[str, dict[str, Any]]] = {}
    hidden: dict[str, tuple[str, dict[str, Any]]] = {}
    answers: set[str] = set()
    for cell in assignment.everything().cells:
        entry = nbgrader_entry(cell)
        if cell.cell_type != "code" or SKIP in cell.metadata.get("tags", []):
            continue
        if entry.get("grade"):
            group = hidden if is_hidden(cell) else visible
            group[entry["grade_id"]] = cell.source, dict(space)
            continue
        before = set(space)
        exec(compile(cell.source, entry.get("grade_id", cell.id), "exec"), space)
        if entry.get("solution"):
            answers |= set(space) - before
    found: dict[str, dict[str, list[str]]] = {}

    def note(kind: str, cell: str, answer: str, stand_in: Any) -> None:
        code, known = hidden[cell]
        verdict = "pass" if passes(code, known | {answer: stand_in}) else "fail"
        found.setdefault(kind, {"pass": [], "fail": []})[verdict].append(f"{cell} {answer}")

    for cell, (code, known) in hidden.items():
        for answer in sorted(answers & set(names_in(code))):
            right = known[answer]
            for kind, change in (WRONG | EQUAL).items():
                note(kind, cell, answer, altered(right, change))
            if not inspect.isclass(right) and inspect.signature(right).parameters:
                memory = Memory(right)
                for test, above in visible.values():
                    if answer in names_in(test):
                        passes(test, above | {answer: memory})
                memory.learning = False
                note(REPEATED, cell, answer, memory)
    return found


def counts(found: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, int]]:
    """How many hidden tests pass and fail with each kind."""
    return {
        kind: {verdict: len(cells) for verdict, cells in verdicts.items()}
        for kind, verdicts in found.items()
    }


def main() -> None:
    """Record the table."""
    table = {a.name: counts(measure(a)) for a in assignments()}
    RECORD.write_text(json.dumps(table, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
