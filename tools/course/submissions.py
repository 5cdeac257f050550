"""Read what students handed in, and put their answers into the course's notebook.

    SUBMISSIONS/<student>/<assignment>/<name>.ipynb

Nothing of a submission is trusted. The notebook that runs is the release, with only the answers
(and added cells) of the student put into it; tests, points and order are the course's. Outputs are
dropped at once and limit nothing. A picture that is pasted into a written answer is a part of it.
"""

import ast
import base64
import hashlib
import json
import os
import re
import stat
import symtable
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools.course.build import HIDDEN, nbgrader_entry

STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
FILE_LIMIT = 512 * 2**20  # bytes of a submitted notebook, outputs and all
CELL_LIMIT = 200_000  # characters of a cell
EXTRA_LIMIT = 200  # added cells
PICTURE_LIMIT = 20 * 2**20  # characters of all pasted pictures
PICTURES = ("image/png", "image/jpeg")


@dataclass(frozen=True)
class Finding:
    """Something that a person should look at."""

    what: str
    cell: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Paper:
    """An assignment as the grader needs it."""

    source: NotebookNode
    release: NotebookNode


@dataclass
class Cell:
    """What counts of a submitted cell."""

    kind: str
    source: str
    name: str  # in nbgrader, or its id
    pictures: dict[str, dict[str, str]] = field(default_factory=dict)


def clean(text: str) -> str:
    """Text that every file can hold: halves of characters are joined or replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def identity(name: str) -> str:
    """The id of a student whose folder has this name: the name, if it can stand in a path."""
    if STUDENT.fullmatch(name):
        return name
    raw = os.fsencode(name)
    plain = unicodedata.normalize("NFKD", raw.decode("utf8", "replace"))
    plain = re.sub(r"[^A-Za-z0-9]+", "-", plain.encode("ascii", "ignore").decode()).strip("-")
    return f"{plain[:40] or 'student'}-{hashlib.sha256(raw).hexdigest()[:6]}"


def find_notebook(
    student: Path, assignment: str, expected: str
) -> tuple[Path | None, list[Finding]]:
    """The file that counts in a student's folder, whatever else lies there."""
    note: list[Finding] = []
    folder = student / assignment
    if student.is_symlink() or folder.is_symlink():
        return None, [Finding("not a file", detail="the folder is a link")]
    names = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    notebooks = [n for n in names if n.endswith(".ipynb") and not n.startswith(".")]
    name = expected
    if expected not in names and len(notebooks) == 1:
        name = notebooks[0]
        note.append(Finding("wrong name", detail=f"{shown(name)} was taken for {expected}"))
    if others := [shown(n) for n in names if n != name and not n.startswith(".")]:
        note.append(Finding("other files", detail=f"left out: {', '.join(others)[:500]}"))
    if name not in names:
        return None, [*note, Finding("missing", detail=f"no file {expected}")]
    return folder / name, note


def shown(name: str) -> str:
    """A file's name as text."""
    return os.fsencode(name).decode("utf8", "replace")[:100]


def read_regular(path: Path) -> bytes:
    """Content of a file that is a file, and not too large."""
    number = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with open(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > FILE_LIMIT:
            raise ValueError(f"it has {status.st_size} bytes (limit {FILE_LIMIT})")
        return file.read(FILE_LIMIT + 1)


def read_cells(content: bytes) -> list[Cell]:
    """The cells of a notebook file: plain JSON in any of its encodings, without outputs."""
    told = json.loads(content)
    cells = told.get("cells") if isinstance(told, dict) else None
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells, so it is no notebook of format 4")
    found = []
    pictures = 0
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        source = clean(source).replace("\r\n", "\n") if isinstance(source, str) else ""
        metadata = cell.get("metadata")
        entry = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        name = entry.get("grade_id") if isinstance(entry, dict) else None
        name = name if isinstance(name, str) else cell.get("id")
        kept = _pictures(cell.get("attachments"))
        pictures += sum(len(data) for bundle in kept.values() for data in bundle.values())
        kept = kept if pictures <= PICTURE_LIMIT else {}
        found.append(
            Cell(str(cell.get("cell_type")), source, name if isinstance(name, str) else "", kept)
        )
    return found


def _pictures(told: Any) -> dict[str, dict[str, str]]:
    """Pasted pictures, by their names."""
    found = {}
    for name, bundle in told.items() if isinstance(told, dict) else ():
        for kind in PICTURES:
            data = bundle.get(kind) if isinstance(bundle, dict) else None
            if isinstance(data, str):
                data = "".join(data.split())
                try:
                    base64.b64decode(data, validate=True)
                except ValueError:
                    continue
                found[clean(name)] = {kind: data}
    return found


def merge(paper: Paper, submitted: list[Cell]) -> tuple[NotebookNode, list[Finding]]:
    """The course's notebook with a student's answers and added cells in it.

    Test cells are those of the source, with hidden tests; the order is that of the release.
    """
    release = {c.id: c for c in paper.release.cells}
    tests = {c.id: c for c in paper.source.cells if is_test(c)}
    plain = {c.source: c.id for c in paper.release.cells if not nbgrader_entry(c)}
    found: dict[str, Cell] = {}
    extra: dict[str, list[NotebookNode]] = {"": []}
    findings: list[Finding] = []
    last = ""
    for cell in submitted:
        if len(cell.source) > CELL_LIMIT:
            findings.append(Finding("too long", detail=f"a cell of {len(cell.source)} characters"))
            continue
        key = cell.name if cell.name in release else plain.get(cell.source, "")
        if key in release and key not in found:
            found[key], last = cell, key
            continue
        if key in release and nbgrader_entry(release[key]):
            findings.append(Finding("cell stands twice", key, "the first one counts as the answer"))
        if cell.kind in ("code", "markdown"):
            extra.setdefault(last, []).append(_cell(cell))
    if not any(nbgrader_entry(release[key]) for key in found):
        raise ValueError("it holds no cell of this assignment")

    cells: list[NotebookNode] = []
    number = 0
    for key, own in [("", None), *release.items()]:
        if own is not None:
            cells += _answered(own, found.get(key), tests.get(key), findings)
        for added in extra.get(key, []):
            number += 1
            if number <= EXTRA_LIMIT:
                added.id = f"added-{number}"
                cells.append(added)
    notebook = nbformat.from_dict(paper.release | {"cells": cells})
    findings += foreign_help(paper.source, notebook)
    return notebook, findings


def is_test(cell: NotebookNode) -> bool:
    """Whether a cell gives points by running."""
    entry = nbgrader_entry(cell)
    return bool(entry.get("grade")) and not entry.get("solution")


def is_hidden(cell: NotebookNode) -> bool:
    """Whether a source cell holds tests that students do not get."""
    return HIDDEN in cell.source


def is_written(cell: NotebookNode) -> bool:
    """Whether a person gives the points of a cell."""
    entry = nbgrader_entry(cell)
    return bool(entry.get("grade")) and bool(entry.get("solution"))


def _cell(cell: Cell) -> NotebookNode:
    v4 = nbformat.v4
    made: NotebookNode = (
        v4.new_code_cell(cell.source) if cell.kind == "code" else v4.new_markdown_cell(cell.source)
    )
    if cell.pictures and cell.kind == "markdown":
        made.attachments = nbformat.from_dict(cell.pictures)
    return made


def _answered(
    own: NotebookNode, theirs: Cell | None, test: NotebookNode | None, findings: list[Finding]
) -> list[NotebookNode]:
    """One cell of the course, with the student's content where that is allowed."""
    entry, cell = nbgrader_entry(own), nbformat.from_dict(own)
    named = bool(entry)
    if theirs is None:
        if named:
            findings.append(Finding("deleted cell", own.id))
        return [cell] if named or own.cell_type == "markdown" else []
    same = theirs.kind == own.cell_type and theirs.source.strip() == own.source.strip()
    if test is not None or entry.get("locked"):
        if not same:
            findings.append(Finding("changed cell", own.id, "the course's own was used"))
        cell.source = (test or own).source
    elif own.cell_type == "code" or entry.get("solution"):
        cell.source = theirs.source
        if theirs.pictures and own.cell_type == "markdown":
            cell.attachments = nbformat.from_dict(theirs.pictures)
    return [cell]


def answer_digest(cell: NotebookNode) -> str:
    """Hash of the text and the pictures of a written answer."""
    pictures = sorted((cell.get("attachments") or {}).items())
    told = json.dumps([cell.source.strip(), pictures], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def foreign_help(source: NotebookNode, notebook: NotebookNode) -> list[Finding]:
    """Answers that use the package where the model answer does not, alone or by an added cell."""
    setup = "\n".join(
        c.source for c in source.cells if nbgrader_entry(c).get("locked") and not is_test(c)
    )
    package = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(setup))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "amgd"
        for alias in node.names
    } | {"amgd"}

    def names_in(code: str) -> tuple[set[str], set[str]]:
        """Names that code uses, and those that it defines."""
        try:
            nodes = list(ast.walk(ast.parse(code)))
            symbols = symtable.symtable(code, "cell", "exec").get_symbols()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set(), set()
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        names |= {str(n.module).split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
        names |= {a.name.split(".")[0] for n in nodes if isinstance(n, ast.Import) for a in n.names}
        own = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
        return names, own - package

    model = {c.id: names_in(c.source)[0] & package for c in source.cells if c.cell_type == "code"}
    helpers: dict[str, set[str]] = {}  # names that added cells make with the package
    findings = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or is_test(cell):
            continue
        used, defined = names_in(cell.source)
        names = (used & package).union(*(helpers[n] for n in used & set(helpers)))
        if cell.id.startswith("added-"):
            helpers |= dict.fromkeys(defined, names) if names else {}
        elif nbgrader_entry(cell).get("solution") and names and not model[cell.id]:
            detail = f"uses {', '.join(sorted(names))}, the model answer does not"
            findings.append(Finding("uses the package", cell.id, detail))
    return findings
