"""Which answers resemble others: the same syntax tree, whatever its names and numbers.

A tree is read as the sequence of its nodes without names, constants, docstrings and annotations;
two answers resemble each other by the share of runs of five nodes that they have in common. Short
answers are left out: there is one way to write them.
A hint to look, and no proof: two people may write the same. How often the planted right solutions,
which were written apart, raise it stands in ``similar.json``.

    python -m tools.course.similar      measure false alarms, write similar.json
"""

import ast
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.course.build import COURSE, Assignment, assignments, nbgrader_entry
from tools.course.rates import read_planted

RUN = 5  # nodes
SHORTEST = 60  # runs of an answer that is compared
ALIKE = 0.6  # share of runs in common from which on a person should look
RECORD = COURSE / "similar.json"
Shape = frozenset[tuple[str, ...]]


def nodes(tree: ast.AST) -> Iterator[str]:
    """Kinds of the nodes, from the top down."""
    body: Any = getattr(tree, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    match first:
        case ast.Expr(value=ast.Constant(value=str())):  # a docstring
            tree.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    if isinstance(tree, ast.arg):
        tree.annotation = None
    yield type(tree).__name__
    for child in ast.iter_child_nodes(tree):
        yield from nodes(child)


def shape(code: str) -> Shape:
    """Runs of nodes of some code; empty if it is none, or too short to be compared."""
    try:
        kinds = list(nodes(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    runs = frozenset(zip(*(kinds[i:] for i in range(RUN)), strict=False))
    return runs if len(runs) >= SHORTEST else frozenset()


def resemblance(one: Shape, other: Shape) -> float:
    """Share of the runs that both have, 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def public_answers(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Solutions that stand in the repository: cells by the name of the solution."""
    cells = {
        c.id: c.source
        for c in assignment.everything().cells
        if c.cell_type == "code" and nbgrader_entry(c).get("solution")
    }
    found = {"the model answer": cells}
    for path in assignment.right:
        found[f"the solution {path.stem}"] = read_planted(path).cells
    return found


def findings(
    notebooks: dict[str, str], public: dict[str, dict[str, str]]
) -> dict[str, list[dict[str, str]]]:
    """Answers that resemble a public one or another student's, by student; called apart."""
    shapes: dict[str, dict[str, Shape]] = {}
    names = {cell for cells in public.values() for cell in cells}
    for student, path in notebooks.items():
        cells = json.loads(Path(path).read_text("utf8"))["cells"]
        shapes[student] = {c["id"]: shape(c["source"]) for c in cells if c["id"] in names}
    known = {name: {c: shape(code) for c, code in cells.items()} for name, cells in public.items()}
    found: dict[str, list[dict[str, str]]] = {}
    for student, own in shapes.items():
        for cell, mine in own.items():
            others = [*known.items(), *((f"{s}'s", o) for s, o in shapes.items() if s != student)]
            told = {n: resemblance(mine, cells.get(cell, frozenset())) for n, cells in others}
            alike = sorted(
                (n for n, share in told.items() if share >= ALIKE), key=lambda n: -told[n]
            )
            if alike:
                detail = ", ".join(f"{n} ({told[n]:.0%})" for n in alike[:5])
                row = {"what": "resembles", "cell": cell, "detail": detail}
                found.setdefault(student, []).append(row)
    return found


def false_alarms(assignment: Assignment) -> dict[str, int]:
    """Pairs of public solutions of the same cell that would be told, of those long enough."""
    alarms = pairs = 0
    solutions = public_answers(assignment)
    for one, other in itertools.combinations(solutions.values(), 2):
        for cell in one.keys() & other.keys():
            first, second = shape(one[cell]), shape(other[cell])
            if first and second:
                pairs += 1
                alarms += resemblance(first, second) >= ALIKE
    return {"pairs": pairs, "alarms": alarms}


def main() -> None:
    """Record the false alarms."""
    table: dict[str, Any] = {a.name: false_alarms(a) for a in assignments()}
    RECORD.write_text(json.dumps(table, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
