"""A course with one small assignment, and ways to hand it in."""

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.course import build

CELL_SECONDS = 6
TOML = f"""
year = 2030
pass_share = 0.5
[limits]
notebook_seconds = 120
cell_seconds = {CELL_SECONDS}
memory_gigabytes = 2
processes = 40
file_megabytes = 5
"""

TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A small assignment

```{code-cell} ipython3
:nbgrader: {grade_id: s-setup, locked: true}

import numpy as np

YEAR = 2030
data = np.arange(3.0)
```

Write `double(x)`.

```{code-cell} ipython3
:nbgrader: {grade_id: s-double, solution: true}

def double(x):
    ### BEGIN SOLUTION
    return 2 * np.asarray(x)
    ### END SOLUTION
```

```{code-cell} ipython3
:nbgrader: {grade_id: s-double-check, grade: true, locked: true, points: 2}

assert np.shape(double(data)) == (3,), "one number for each entry"
assert np.allclose(double(data), [0, 2, 4]), "not twice the data"
```

Hidden test, 3 points: other data.

```{code-cell} ipython3
:nbgrader: {grade_id: s-double-hidden, grade: true, locked: true, points: 3}

# hidden test, 3 points
### BEGIN HIDDEN TESTS
hidden = np.random.default_rng([YEAR, 1]).normal(size=(4, 2))
expected_by_the_hidden_test = hidden + hidden
assert np.allclose(double(hidden), expected_by_the_hidden_test), "wrong for a matrix"
### END HIDDEN TESTS
```

Set `total` to the sum of `data`.

```{code-cell} ipython3
:nbgrader: {grade_id: s-total, solution: true}

total = float(data.sum())
```

```{code-cell} ipython3
:nbgrader: {grade_id: s-total-check, grade: true, locked: true, points: 1}

assert total == 3, "not the sum"
```

Write a class `Walker(rng)` with a method `step()` and an attribute `place`.

```{code-cell} ipython3
:nbgrader: {grade_id: s-walker, solution: true}

class Walker:
    def __init__(self, rng):
        self.rng, self.place = rng, 0

    def step(self):
        self.place += int(self.rng.choice([-1, 1]))
        return self.place
```

```{code-cell} ipython3
:nbgrader: {grade_id: s-walker-check, grade: true, locked: true, points: 2}

walker = Walker(np.random.default_rng(0))
assert walker.place == 0, "a walker starts at 0"
places = [walker.step() for _ in range(5)]
assert walker.place == places[-1], "the place is where the last step led"
```

Hidden test, 2 points: bad input and helpers.

```{code-cell} ipython3
:nbgrader: {grade_id: s-walker-hidden, grade: true, locked: true, points: 2}

# hidden test, 2 points
### BEGIN HIDDEN TESTS
class Steady:
    def choice(self, options):
        return options[1]
walker = Walker(Steady())
assert [walker.step() for _ in range(3)] == [1, 2, 3], "steps do not add up"
try:
    Walker(None).step()
except AttributeError:
    pass
else:
    raise AssertionError("a walker without a generator cannot walk")
### END HIDDEN TESTS
```

Say why.

+++ {"nbgrader": {"grade_id": "s-why", "grade": true, "solution": true, "points": 2}}

Because a sum of two equal numbers is twice the number.

Rubric.
(a) 2 points: any reason.
"""


def make(folder: Path) -> build.Assignment:
    """Write the course into a folder."""
    (folder / "source" / "1_small").mkdir(parents=True)
    (folder / "course.toml").write_text(TOML)
    (folder / "source" / "1_small" / "small.md").write_text(TEXT)
    assignment = build.Assignment("1_small", "small", folder)
    for path, text in build.expected_files(folder).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return assignment


def papers(assignment) -> list[build.Choice]:
    """Papers that hold each variant of each question at least once."""
    known = build.bank(assignment.everything())
    return [
        {q: [*variants][min(n, len(variants) - 1)] for q, variants in known.items()}
        for n in range(max(map(len, known.values()), default=1))
    ]


def answered(assignment: build.Assignment, answers: dict[str, str] | None = None) -> NotebookNode:
    """A release with all right answers, except for those given."""
    source = {c.id: c for c in nbformat.read(assignment.source, as_version=4).cells}
    notebook = nbformat.read(assignment.release, as_version=4)
    for cell in notebook.cells:
        if build.nbgrader_entry(cell).get("solution"):
            cell.source = (answers or {}).get(cell.id, source[cell.id].source)
    return notebook


def hand_in(
    folder: Path,
    student: str,
    assignment: build.Assignment,
    notebook: NotebookNode,
    change: Callable[[dict], None] | None = None,
    name: str | None = None,
) -> Path:
    """Put a notebook where a student's belongs, after a change to its JSON."""
    content = json.loads(build.written(notebook))
    if change:
        change(content)
    path = folder / student / assignment.name / (name or f"{assignment.notebook}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path
