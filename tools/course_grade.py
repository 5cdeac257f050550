"""Grade a folder of submissions.

    SUBMISSIONS/<student>/<assignment>/<name>.ipynb     what students handed in
    OUT/grades.csv            points of each student in each assignment
    OUT/to_grade.csv          answers that a person must read; fill in the points and run `marks`
    OUT/review.csv            whatever else a person should look at
    OUT/feedback/             a page for each submission, which loads nothing from outside
    OUT/gradebook.db          nbgrader's gradebook

Nothing of a submission is trusted. The notebook that runs is the release, with only the answers (and added cells) of
the student put into it; tests, points and order are the course's. It runs in ``course_tester.py``; one that fails in any
way does not touch the others.

    python tools/course_grade.py grade SUBMISSIONS [--out OUT] [--jobs 2] [--without-isolation]
    python tools/course_grade.py marks SUBMISSIONS [--out OUT]
"""

import argparse
import ast
import csv
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import nbformat
from bs4 import BeautifulSoup
from course_build import (
    COURSE,
    NBGRADER,
    Assignment,
    assignments,
    nbgrader_entry,
    release_notebook,
    settings,
    source_notebook,
    written,
)
from course_sandbox import FULL, START_SECONDS, Limits, isolation
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader import preprocessors as steps
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import generate_feedback
from traitlets.config import Config

STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
FILE_LIMIT = 10 * 2**20  # bytes of a submitted notebook
CELL_LIMIT = 200_000  # characters of a cell
EXTRA_LIMIT = 200  # added cells
TO_GRADE = ("student", "assignment", "cell", "of", "points", "comment")
REVIEW = ("student", "assignment", "what", "cell", "detail")
GRADES = ("student", "assignment", "points", "of", "by_tests", "by_hand", "waiting", "passed")


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


# ---------------------------------------------------------------- reading submissions


def collect(folder: Path, papers: dict[Assignment, Paper]) -> list[Submission]:
    """What is in a folder of submissions; an assignment counts once one student has handed it in."""
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
        key = entry.get("grade_id") if isinstance(entry, dict) else None
        key = key if isinstance(key, str) else cell.get("id")
        if key not in release:
            key = plain.get(source)
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
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    return make(source)


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


# ---------------------------------------------------------------- running


def run(submission: Submission, limits: Limits, isolated: bool, slot: int) -> NotebookNode | None:
    """Run a merged notebook in its own processes; None if that broke down."""
    with tempfile.TemporaryDirectory(prefix="grading-") as name:
        folder = Path(name)
        files = {"notebook": str(folder / "in.ipynb"), "result": str(folder / "out.ipynb")}
        Path(files["notebook"]).write_text(json.dumps(submission.notebook), "utf8")
        job = files | {"limits": asdict(limits), "isolated": isolated, "slot": slot}
        (folder / "job.json").write_text(json.dumps(job), "utf8")
        tester = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("course_tester.py")),
                str(folder / "job.json"),
            ],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"MPLBACKEND": "agg"},
        )
        try:
            _, error = tester.communicate(timeout=limits.notebook_seconds + 2 * START_SECONDS)
        except subprocess.TimeoutExpired:
            tester.terminate()  # it ends the worker first
            with suppress(subprocess.TimeoutExpired):
                tester.wait(10)
            tester.kill()
            submission.findings.append(Finding("stopped", detail="the time of the notebook is up"))
            return None
        if tester.returncode != 0:
            words = error.decode("utf8", "replace").strip().splitlines() or ["no message"]
            submission.findings.append(Finding("could not be graded", detail=words[-1][:300]))
            return None
        result = nbformat.from_dict(json.loads(Path(files["result"]).read_text("utf8")))
    for trouble in result.metadata.pop("trouble", []):
        submission.findings.append(Finding("stopped or crashed", detail=str(trouble)[:300]))
    return result


# ---------------------------------------------------------------- nbgrader's gradebook


def resources(out: Path, student: str, assignment: Assignment) -> dict[str, Any]:
    """What nbgrader's steps want to know."""
    return {
        "nbgrader": {
            "student": student,
            "assignment": assignment.name,
            "notebook": assignment.notebook,
            "db_url": database(out),
        },
        "unique_key": assignment.notebook,
    }


def database(out: Path) -> str:
    """Address of the gradebook."""
    return f"sqlite:///{out / 'gradebook.db'}"


def open_gradebook(out: Path) -> Gradebook:
    """The gradebook; nbgrader calls a program of its environment when it makes a new one."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]
    return Gradebook(database(out))


def register(out: Path, assignment: Assignment, source: NotebookNode) -> None:
    """Enter an assignment with its cells and points."""
    with open_gradebook(out) as book:
        book.update_or_create_assignment(assignment.name)
    notebook, told = nbformat.from_dict(source), resources(out, ".", assignment)
    for step in (steps.LockCells, steps.ClearSolutions, steps.ComputeChecksums, steps.SaveCells):
        notebook, told = step(config=NBGRADER).preprocess(notebook, told)


def record(out: Path, submission: Submission, result: NotebookNode | None) -> None:
    """Enter the points that the tests give; without a result all are 0."""
    student, assignment = submission.student, submission.assignment
    with open_gradebook(out) as book, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader 0.9.6 relates rows before it adds them
        book.update_or_create_student(student)
        book.update_or_create_submission(assignment.name, student)
        if result is None:
            entry = book.find_submission_notebook(assignment.notebook, assignment.name, student)
            for grade in entry.grades:
                grade.auto_score, grade.needs_manual_grade = 0, False
            book.db.commit()
    if result is not None:
        steps.SaveAutoGrades().preprocess(result, resources(out, student, assignment))
        path = out / "autograded" / student / assignment.name / f"{assignment.notebook}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written(result), "utf8")


def enter_marks(out: Path, rows: list[dict[str, str]], course: Path = COURSE) -> int:
    """Enter points given by hand; give the number of rows that had any."""
    entered = 0
    notebooks = {a.name: a.notebook for a in assignments(course)}
    with open_gradebook(out) as book:
        for row in rows:
            if not row["points"].strip():
                continue
            notebook = notebooks.get(row["assignment"], "")
            where = (row["cell"], notebook, row["assignment"], row["student"])
            try:
                grade = book.find_grade(*where)
                points = float(row["points"])
            except (MissingEntry, ValueError) as error:
                raise ValueError(f"to_grade.csv: {row}: {error}") from error
            if not 0 <= points <= grade.max_score:
                raise ValueError(f"to_grade.csv: {row}: points must lie in 0 to {grade.max_score}")
            grade.manual_score, grade.needs_manual_grade = points, False
            book.find_comment(*where).manual_comment = row["comment"] or None
            entered += 1
        book.db.commit()
    return entered


# ---------------------------------------------------------------- what comes out


def export(out: Path, pass_share: float) -> list[dict[str, Any]]:
    """Write grades.csv and to_grade.csv from the gradebook."""
    rows, waiting = [], []
    with open_gradebook(out) as book:
        for entry in sorted(
            (s for a in book.assignments for s in a.submissions),
            key=lambda s: (s.student.id, s.assignment.name),
        ):
            student, assignment = entry.student.id, entry.assignment.name
            grades = [g for n in entry.notebooks for g in n.grades]
            by_hand = [g for g in grades if g.cell.cell_type == "markdown"]
            open_ones = [g for g in by_hand if g.needs_manual_grade]
            possible = entry.score + sum(g.max_score for g in open_ones)
            needed = pass_share * entry.max_score
            passed = "yes" if entry.score >= needed else "open" if possible >= needed else "no"
            hand_points = sum(g.score for g in by_hand)
            values = (
                student,
                assignment,
                entry.score,
                entry.max_score,
                entry.score - hand_points,
                hand_points,
                len(open_ones),
                passed,
            )
            rows.append(dict(zip(GRADES, values, strict=True)))
            waiting += [
                dict(zip(TO_GRADE, (student, assignment, g.name, g.max_score, "", ""), strict=True))
                for g in open_ones
            ]
    write_table(out / "grades.csv", GRADES, rows)
    write_table(out / "to_grade.csv", TO_GRADE, waiting)
    return rows


def write_table(path: Path, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Write a table; no cell of it is a formula when a spreadsheet opens it."""

    def harmless(value: Any) -> Any:
        text = str(value)
        return (
            f"'{text}"
            if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r"))
            else value
        )

    with path.open("w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows({k: harmless(v) for k, v in row.items()} for row in rows)


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a table."""
    with path.open(newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


def feedback(out: Path, student: str, assignment: Assignment) -> Path:
    """Write the page that a student gets: answers, results, points and comments, without the hidden tests."""
    name = f"{assignment.notebook}.ipynb"
    notebook = nbformat.read(out / "autograded" / student / assignment.name / name, as_version=4)
    told = resources(out, student, assignment)
    for step in (steps.GetGrades, steps.ClearHiddenTests):
        notebook, told = step().preprocess(notebook, told)
    config = Config()
    # nbgrader's own template; the options are those of its GenerateFeedback.
    folder = Path(generate_feedback.__file__).parents[1] / "server_extensions" / "formgrader"
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.extra_template_basedirs = [str(folder / "templates")]
    styles = folder / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=told)
    path = out / "feedback" / student / assignment.name / f"{assignment.notebook}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(harmless_page(page), "utf8")
    write_mathjax(out / "feedback" / MATHJAX)
    return path


def write_mathjax(path: Path) -> None:
    """Put MathJax beside the pages, where it is installed (extra ``book``); else formulas show as TeX."""
    with suppress(PackageNotFoundError):
        found = [f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js"]
        if found and not path.exists():
            code = Path(str(found[0].locate())).read_text("utf8")
            path.write_text(f"window.MathJax = {json.dumps(MATHJAX_OPTIONS)};\n{code}", "utf8")


# The one script is MathJax, from the file beside the pages; scripts in the page do not run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self' file:"
MATHJAX = "mathjax.js"
MATHJAX_OPTIONS = {
    "tex": {"inlineMath": [["$", "$"]]},
    "loader": {"load": []},
    "options": {"enableMenu": False},
}
ADDRESSES = (
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "poster",
    "background",
    "data",
    "xlink:href",
)


def harmless_page(page: str) -> str:
    """A page without scripts and without anything from outside; the browser is told to refuse both as well."""
    soup = BeautifulSoup(page, "html.parser")
    for tag in soup(
        ["script", "link", "iframe", "frame", "object", "embed", "base", "form", "meta", "svg"]
    ):
        tag.decompose()
    for tag in soup(True):
        for name in list(tag.attrs):
            value = str(tag[name]).strip().lower()
            local = value.startswith(("#", "data:image/png;", "data:image/jpeg;"))
            if (
                name.lower().startswith("on")
                or (name.lower() in ADDRESSES and not local)
                or (name.lower() == "style" and ("url" in value or "\\" in value or "@" in value))
            ):
                del tag[name]
    for style in soup("style"):
        if style.string:
            style.string = re.sub(r"@import[^;]*;|url\([^)]*\)", "", style.string)
    for attributes in (
        {"charset": "utf-8"},
        {"http-equiv": "Content-Security-Policy", "content": POLICY},
    ):
        soup.head.insert(0, soup.new_tag("meta", attrs=attributes))
    soup.head.append(soup.new_tag("script", src=f"../../{MATHJAX}"))
    return str(soup)


# ---------------------------------------------------------------- the two commands


def grade(
    submissions: Path,
    out: Path,
    jobs: int = 2,
    isolated: bool = True,
    course: Path = COURSE,
    **limits_instead: float,
) -> list[dict[str, Any]]:
    """Grade all submissions; give the rows of grades.csv."""
    told = settings(course)
    limits = Limits(**told["limits"] | limits_instead)
    papers = {}
    for assignment in assignments(course):
        source = source_notebook(assignment.text.read_text("utf8"), told["year"])
        papers[assignment] = Paper(source, release_notebook(source))
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = collect(submissions, papers)
    for assignment in {s.assignment for s in work}:
        register(out, assignment, papers[assignment].source)
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(
            lambda pair: run(pair[1], limits, isolated, pair[0]) if pair[1].notebook else None,
            enumerate(work),
        )
        for submission, result in zip(work, results, strict=True):
            record(out, submission, result)
            if result is not None:
                feedback(out, submission.student, submission.assignment)
            print(
                f"{submission.student} {submission.assignment.name}: {len(submission.findings)} findings"
            )
    review = [
        {"student": s.student, "assignment": s.assignment.name, **asdict(f)}
        for s in work
        for f in s.findings
    ]
    write_table(out / "review.csv", REVIEW, review)
    return export(out, told["pass_share"])


def marks(out: Path, course: Path = COURSE) -> list[dict[str, Any]]:
    """Enter the points of to_grade.csv; write grades and feedback again."""
    print(f"{enter_marks(out, read_table(out / 'to_grade.csv'), course)} marks entered")
    named = {a.name: a for a in assignments(course)}
    for path in sorted((out / "autograded").glob("*/*/*.ipynb")):
        feedback(out, path.parts[-3], named[path.parts[-2]])
    return export(out, settings(course)["pass_share"])


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=["grade", "marks"])
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--out", type=Path, help="default: SUBMISSIONS-graded")
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (default 2)")
    parser.add_argument(
        "--without-isolation",
        action="store_true",
        help="grade although this machine cannot isolate a student's code (see the lecturers' page)",
    )
    args = parser.parse_args()
    folder = args.submissions.resolve()
    out = (args.out or folder.with_name(f"{folder.name}-graded")).resolve()
    if not folder.is_dir():
        parser.error(f"no folder {folder}")
    if out == folder or folder in out.parents:
        parser.error("--out must lie outside of the submissions")
    if args.command == "marks":
        rows = marks(out)
    else:
        isolated = isolation() == FULL
        if not isolated and not args.without_isolation:
            parser.error(
                "this machine cannot isolate a student's code: expected Linux with namespaces "
                "(unshare --map-root-user --net --mount --pid true must work); use another machine, "
                "or pass --without-isolation if you trust the students with your files"
            )
        rows = grade(folder, out, args.jobs, isolated)
    print(f"{len(rows)} grades in {out / 'grades.csv'}; see also to_grade.csv and review.csv there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
