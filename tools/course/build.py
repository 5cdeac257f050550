"""Make the notebooks of the coursework from their text.

``notebooks/coursework/source/<assignment>/<name>.md`` is what lecturers write: MyST text with
solutions, hidden tests and model answers. Two notebooks are functions of it and of ``course.toml``:

* the source notebook beside it, which holds everything;
* ``release/<assignment>/<name>.ipynb``, which students get: nbgrader's own steps remove the
  solutions, the hidden tests and the model answers, and lock the tests.

Nothing in them depends on the clock or on chance. The number after ``YEAR =`` is replaced by the
year of ``course.toml``.

A question may stand in the text in several variants, one after the other. A cell with the metadata
``variant: "2 distance"`` begins variant ``distance`` of question ``2``, which lasts until the next
such cell; ``variant: ""`` ends it. The source notebook holds all of them. A paper, what students
get and what is graded, holds one of each question: the first, or those that the secret of
``course.toml`` chooses. Hidden tests then draw from that secret too.

    python -m tools.course.build             text -> source and release notebooks
    python -m tools.course.build --to-text   source notebooks -> text (after editing in Jupyter),
                                             then the same
    python -m tools.course.build --check     exit 1 if a notebook is not what its text gives
"""

import argparse
import hashlib
import hmac
import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors as steps
from traitlets.config import Config

from tools.notebooks.text import KERNEL

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "notebooks" / "coursework"

# What a cell's nbgrader entry holds when the text does not say otherwise.
DEFAULTS = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
YEAR = re.compile(r"^YEAR = \d+\b", re.M)
VARIANT = "variant"  # metadata of the cell with which a variant begins
HIDDEN = "BEGIN HIDDEN TESTS"
HIDDEN_SEED = "[YEAR, "  # how each hidden test begins its seeds
SHORTEST_SECRET = 16  # characters
Choice = dict[str, str]  # the variant of each question

# LockCells to CheckCellMetadata is nbgrader's GenerateAssignment, without its database.
RELEASE_STEPS = (
    steps.LockCells,
    steps.ClearSolutions,
    steps.ClearOutput,
    steps.CheckCellMetadata,
    steps.ClearHiddenTests,
    steps.ClearMarkScheme,
    steps.ComputeChecksums,
    steps.CheckCellMetadata,
)
STUB = '# YOUR CODE HERE\nraise NotImplementedError("missing: your answer comes here")'
NBGRADER = Config()
NBGRADER.ClearSolutions.code_stub = {"python": STUB}
NBGRADER.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"


@dataclass(frozen=True)
class Assignment:
    """Where the files of one assignment stand."""

    name: str  # folder, such as 1_slow_chains
    notebook: str  # name of the notebook without suffix
    course: Path = COURSE

    @property
    def text(self) -> Path:
        """MyST text, the origin of the other two."""
        return self.course / "source" / self.name / f"{self.notebook}.md"

    @property
    def source(self) -> Path:
        """Notebook with solutions and hidden tests."""
        return self.text.with_suffix(".ipynb")

    @property
    def release(self) -> Path:
        """Notebook for students."""
        return self.course / "release" / self.name / f"{self.notebook}.ipynb"

    @property
    def wrong(self) -> list[Path]:
        """Planted wrong solutions."""
        return sorted((self.course / "wrong" / self.name).glob("*.py"))

    @property
    def right(self) -> list[Path]:
        """Planted right solutions, in other styles than the reference."""
        return sorted((self.course / "right" / self.name).glob("*.py"))

    def everything(self) -> NotebookNode:
        """The source notebook that its text and the year of its course give, with all variants."""
        return source_notebook(self.text.read_text("utf8"), settings(self.course)["year"])

    def read(self) -> NotebookNode:
        """The paper that its course hands out, with solutions and hidden tests."""
        return paper(self.everything(), self.name, settings(self.course).get("secret", ""))


def settings(course: Path = COURSE) -> dict[str, Any]:
    """Read ``course.toml``."""
    told = tomllib.loads((course / "course.toml").read_text("utf8"))
    secret = told.get("secret", "")
    if not isinstance(secret, str) or 0 < len(secret) < SHORTEST_SECRET:
        raise ValueError(
            f"course.toml: a secret must have at least {SHORTEST_SECRET} characters: got "
            f"{len(str(secret))}; python -c 'import secrets; print(secrets.token_hex())' makes one"
        )
    return told


def assignments(course: Path = COURSE) -> list[Assignment]:
    """All assignments, by name; each folder under ``source`` holds one text or one notebook."""
    found = []
    for folder in sorted(p for p in (course / "source").iterdir() if p.is_dir()):
        names = {p.stem for p in folder.iterdir() if p.suffix in (".md", ".ipynb")}
        if len(names) != 1:
            raise ValueError(
                f"{folder.name} must hold one assignment: found {sorted(names)} "
                "(expected one .md text)"
            )
        found.append(Assignment(folder.name, names.pop(), course))
    return found


def nbgrader_entry(cell: NotebookNode) -> dict[str, Any]:
    """What a cell means to nbgrader; empty for ordinary cells."""
    entry: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return entry


def source_notebook(text: str, year: int) -> NotebookNode:
    """The notebook with everything in it that belongs to a text."""
    notebook = jupytext.reads(text, fmt="md:myst")
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    replaced = 0
    for cell in notebook.cells:
        if nbgrader_entry(cell):
            cell.metadata.nbgrader = DEFAULTS | {"cell_type": cell.cell_type} | nbgrader_entry(cell)
        if cell.cell_type == "code":
            cell.source, count = YEAR.subn(f"YEAR = {year}", cell.source)
            replaced += count
    if replaced != 1:
        raise ValueError(
            "an assignment must set YEAR once, on a line of its own: "
            f"found {replaced} lines 'YEAR = ...'"
        )
    return with_stable_ids(notebook)


def places(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, str, str]]:
    """Each cell with question and name of its variant; both are empty for what all papers hold."""
    question = name = ""
    for cell in notebook.cells:
        if VARIANT in cell.metadata:
            question, _, name = cell.metadata[VARIANT].partition(" ")
        yield cell, question, name


def bank(notebook: NotebookNode) -> dict[str, dict[str, float]]:
    """Points of the tests of each variant, by question and name."""
    found: dict[str, dict[str, float]] = {}
    for cell, question, name in places(notebook):
        if question:
            points = nbgrader_entry(cell).get("points", 0)
            variants = found.setdefault(question, {})
            variants[name] = variants.get(name, 0) + points
    return found


def number(secret: str, *of: str) -> int:
    """A number that nobody can tell who does not know the secret."""
    digest = hmac.new(secret.encode(), "\0".join(of).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:6])


def choose(known: dict[str, dict[str, float]], assignment: str, secret: str) -> Choice:
    """The variant of each question: the first, or by the secret.

    Of what a secret chooses, at most a third of the points are for first variants, whose answers
    anybody can find solved in the paper without a secret.
    """
    first = {question: next(iter(variants)) for question, variants in known.items()}
    if not secret:
        return first
    for attempt in itertools.count():
        choice = {
            q: [*variants][number(secret, assignment, q, str(attempt)) % len(variants)]
            for q, variants in known.items()
        }
        public = sum(known[q][name] for q, name in choice.items() if name == first[q])
        if 3 * public <= sum(known[q][name] for q, name in choice.items()):
            return choice
    raise AssertionError("unreachable")


def chosen(notebook: NotebookNode, choice: Choice) -> NotebookNode:
    """A source notebook with one variant of each question."""
    kept = []
    for cell, question, name in places(notebook):
        if not question or choice[question] == name:
            cell = nbformat.from_dict(cell)
            cell.metadata.pop(VARIANT, None)
            kept.append(cell)
    return with_stable_ids(nbformat.from_dict(notebook | {"cells": kept}))


def paper(notebook: NotebookNode, assignment: str, secret: str = "") -> NotebookNode:
    """What is handed out and graded, of a source notebook with all variants."""
    made = chosen(notebook, choose(bank(notebook), assignment, secret))
    for cell in made.cells:
        if secret and HIDDEN in cell.source:
            seed = f"{HIDDEN_SEED}{number(secret, assignment, cell.id)}, "
            cell.source = cell.source.replace(HIDDEN_SEED, seed)
    return made


def with_stable_ids(notebook: NotebookNode) -> NotebookNode:
    """Give each cell an id: its name in nbgrader, or a hash of what it says."""
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        cell.id = nbgrader_entry(cell).get("grade_id") or f"{digest}-{seen[digest]}"
        seen[digest] += 1
    return notebook


def release_notebook(source: NotebookNode) -> NotebookNode:
    """The students' version of a source notebook."""
    notebook = nbformat.from_dict(source)
    resources: dict[str, Any] = {}
    for step in RELEASE_STEPS:
        notebook, resources = step(config=NBGRADER).preprocess(notebook, resources)
    return with_stable_ids(notebook)


def notebook_text(path: Path) -> str:
    """The MyST text that belongs to a source notebook, without what the defaults say already."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": KERNEL}
    for cell in notebook.cells:
        if entry := nbgrader_entry(cell):
            implied = DEFAULTS | {"cell_type": cell.cell_type}
            cell.metadata.nbgrader = {
                k: v for k, v in entry.items() if k not in implied or implied[k] != v
            }
    return str(jupytext.writes(notebook, fmt="md:myst"))


def written(notebook: NotebookNode) -> str:
    """A notebook as it stands in its file."""
    return str(nbformat.writes(notebook)) + "\n"


def expected_files(course: Path = COURSE) -> dict[Path, str]:
    """Every generated notebook with what it must hold."""
    files = {}
    for assignment in assignments(course):
        files[assignment.source] = written(assignment.everything())
        files[assignment.release] = written(release_notebook(assignment.read()))
    return files


def stale(course: Path = COURSE) -> list[str]:
    """Generated notebooks that are missing, outdated, or have lost their text."""
    expected = expected_files(course)
    present = set((course / "release").rglob("*.ipynb")) | set((course / "source").rglob("*.ipynb"))
    differing = {p for p, t in expected.items() if not p.exists() or p.read_text("utf8") != t}
    return sorted(p.relative_to(course).as_posix() for p in differing | (present - set(expected)))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--to-text", action="store_true", help="take source notebooks as origin")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if outdated")
    args = parser.parse_args()
    if args.check:
        bad = stale()
        print(
            "\n".join(f"notebooks/coursework/{name} is outdated: run make course" for name in bad)
        )
        return bool(bad)
    if args.to_text:
        for assignment in assignments():
            assignment.text.write_text(notebook_text(assignment.source), "utf8")
    for path, text in expected_files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
