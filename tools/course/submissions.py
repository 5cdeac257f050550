"""Read what students handed in, and put their answers into the course's notebook.

    SUBMISSIONS/<student>/<assignment>/<name>.ipynb

Nothing of a submission is trusted. The notebook that runs is the release, with only the answers
(and added cells) of the student put into it; tests, points and order are the course's.
"""

import ast
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.course.build import Assignment, nbgrader_entry

STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
FILE_LIMIT = 10 * 2**20  # bytes of a submitted notebook
CELL_LIMIT = 200_000  # characters of a cell
EXTRA_LIMIT = 200  # added cells


@dataclass(frozen=True)
class Finding:
    """Something that a person should look at."""

    what: str
    cell: str = ""
    detail: str = ""


@dataclass
class Submission:
    """One student's notebook of one assignment."""

    student: str
    assignment: Assignment
    notebook: NotebookNode | None = None  # None: there is nothing to run
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Paper:
    """An assignment as the grader needs it."""

    source: NotebookNode
    release: NotebookNode


def collect(folder: Path, papers: dict[Assignment, Paper]) -> list[Submission]:
    """All submissions of a folder; an assignment counts once one student has handed it in."""
    students = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_dir() or not STUDENT.fullmatch(path.name):
            print(f"left out, not a student's folder: {path.name!r}")
        else:
            students.append(path)
    handed_in = [a for a in papers if any((s / a.name).exists() for s in students)]
    return [read(s, a, papers[a]) for s in students for a in handed_in]


def read(student: Path, assignment: Assignment, paper: Paper) -> Submission:
    """Read one notebook, whatever stands in its place."""
    submission = Submission(student.name, assignment)
    note = submission.findings
    folder = student / assignment.name
    expected = f"{assignment.notebook}.ipynb"
    if folder.is_symlink():
        note.append(Finding("not a file", detail="the folder is a link"))
        return submission
    names = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    notebooks = [n for n in names if n.endswith(".ipynb")]
    name = expected
    if expected not in names and len(notebooks) == 1:
        name = notebooks[0]
        note.append(Finding("wrong name", detail=f"{name[:100]} was taken for {expected}"))
    if others := [n[:100] for n in names if n != name and not n.startswith(".")]:
        note.append(Finding("other files", detail=f"left out: {', '.join(others)[:500]}"))
    if name not in names:
        note.append(Finding("missing", detail=f"no file {expected}"))
        return submission
    try:
        text = read_regular(folder / name)
        submitted = nbformat.reads(text, as_version=4)
        submission.notebook, findings = merge(paper, submitted)
        note += findings
    except Exception as error:  # a file can be broken in any way
        note.append(Finding("not a notebook", detail=f"{type(error).__name__}: {str(error)[:300]}"))
    return submission


def read_regular(path: Path) -> str:
    """Text of a file that is a file, and not too large."""
    number = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with open(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > FILE_LIMIT:
            raise ValueError(f"it has {status.st_size} bytes (limit {FILE_LIMIT})")
        return file.read(FILE_LIMIT + 1).decode("utf8")


def merge(paper: Paper, submitted: NotebookNode) -> tuple[NotebookNode, list[Finding]]:
    """The course's notebook with a student's answers and added cells in it.

    Test cells are those of the source, with hidden tests; the order is that of the release.
    """
    release = {c.id: c for c in paper.release.cells}
    tests = {c.id: c for c in paper.source.cells if is_test(c)}
    plain = {c.source: c.id for c in paper.release.cells if not nbgrader_entry(c)}
    found: dict[str, NotebookNode] = {}
    extra: dict[str, list[NotebookNode]] = {"": []}
    findings: list[Finding] = []
    last = ""
    for cell in submitted.cells:
        source = cell.source if isinstance(cell.source, str) else ""
        if len(source) > CELL_LIMIT:
            findings.append(Finding("too long", detail=f"a cell of {len(source)} characters"))
            continue
        entry = cell.metadata.get("nbgrader")
        named = entry.get("grade_id") if isinstance(entry, dict) else None
        key = named if isinstance(named, str) else cell.get("id")
        if not isinstance(key, str) or key not in release:
            key = plain.get(source, "")
        if key in release and key not in found:
            found[key], last = cell, key
            continue
        if key in release and nbgrader_entry(release[key]):
            findings.append(Finding("cell stands twice", key, "the first one counts as the answer"))
        if cell.cell_type in ("code", "markdown"):
            extra.setdefault(last, []).append(_cell(cell.cell_type, source))
    if not any(nbgrader_entry(release[key]) for key in found):
        raise ValueError("it holds no cell of this assignment")

    cells: list[NotebookNode] = []
    number = 0
    for key, own in [("", None), *release.items()]:
        if own is not None:
            cells += _answered(own, found.get(key), tests.get(key), findings)
        for cell in extra.get(key, []):
            number += 1
            if number <= EXTRA_LIMIT:
                cell.id = f"added-{number}"
                cells.append(cell)
    notebook = nbformat.from_dict(paper.release | {"cells": cells})
    findings += foreign_help(paper.source, notebook)
    return notebook, findings


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell gives points by running."""
    entry = nbgrader_entry(cell)
    return bool(entry.get("grade")) and not entry.get("solution")


def _cell(kind: str, source: str) -> NotebookNode:
    v4 = nbformat.v4
    cell: NotebookNode = (
        v4.new_code_cell(source) if kind == "code" else v4.new_markdown_cell(source)
    )
    return cell


def _answered(
    own: NotebookNode,
    theirs: NotebookNode | None,
    test: NotebookNode | None,
    findings: list[Finding],
) -> list[NotebookNode]:
    """One cell of the course, with the student's content where that is allowed."""
    entry, cell = nbgrader_entry(own), nbformat.from_dict(own)
    named = bool(entry)
    if theirs is None:
        if named:
            findings.append(Finding("deleted cell", own.id))
        return [cell] if named or own.cell_type == "markdown" else []
    same = theirs.cell_type == own.cell_type and theirs.source.strip() == own.source.strip()
    if test is not None or entry.get("locked"):
        if not same:
            findings.append(Finding("changed cell", own.id, "the course's own was used"))
        cell.source = (test or own).source
    elif own.cell_type == "code" or entry.get("solution"):
        cell.source = theirs.source
    return [cell]


def foreign_help(source: NotebookNode, notebook: NotebookNode) -> list[Finding]:
    """Answers that use the package where the model answer does not."""
    setup = "\n".join(
        c.source for c in source.cells if nbgrader_entry(c).get("locked") and not is_test(c)
    )
    package = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(setup))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "amgd"
        for alias in node.names
    } | {"amgd"}

    def uses(code: str) -> set[str]:
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        names |= {str(n.module).split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
        names |= {a.name.split(".")[0] for n in nodes if isinstance(n, ast.Import) for a in n.names}
        return names & package

    model = {c.id: uses(c.source) for c in source.cells if c.cell_type == "code"}
    findings = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or not nbgrader_entry(cell).get("solution"):
            continue
        names = set() if model[cell.id] else uses(cell.source)
        if names:
            detail = f"uses {', '.join(sorted(names))}, the model answer does not"
            findings.append(Finding("uses the package", cell.id, detail))
    return findings
