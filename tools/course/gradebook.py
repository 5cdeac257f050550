"""Enter assignments, results and marks into nbgrader's gradebook, ``OUT/gradebook.db``."""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors as steps
from nbgrader.api import Gradebook, MissingEntry

from tools.course.build import COURSE, NBGRADER, Assignment, assignments, written
from tools.course.submissions import Submission


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
