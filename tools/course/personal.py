"""Hand out a copy of each assignment for each student, with data of the student's own.

What the set-up of an assignment draws with ``np.random.default_rng(YEAR)`` may differ for each
student: it is drawn from the year and a number that belongs to the student's id and the secret of
``course.toml``. With ``own_values = true`` there, the grader puts the same number in, so answers
and pictures are graded with the data that the student had.

    python -m tools.course.personal ROSTER FOLDER     writes FOLDER/<id>/<assignment>/<name>.ipynb
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.course.build import (
    COURSE,
    assignments,
    nbgrader_entry,
    number,
    release_notebook,
    settings,
    written,
)
from tools.course.collect import Roster
from tools.course.marks import read_table

DRAWN = "np.random.default_rng(YEAR)"


def own_number(course: Path, student: str) -> int | None:
    """The number of a student; None where all students have the same data."""
    told = settings(course)
    return number(told.get("secret", ""), "student", student) if told.get("own_values") else None


def personal(notebook: NotebookNode, own: int | None) -> NotebookNode:
    """A source or release notebook whose set-up draws with the number of a student."""
    made: NotebookNode = nbformat.from_dict(notebook)
    for cell in made.cells:
        entry = nbgrader_entry(cell)
        if own is not None and entry.get("locked") and not entry.get("grade"):
            cell.source = cell.source.replace(DRAWN, f"np.random.default_rng([YEAR, {own}])")
    return made


def hand_out(roster: Path, folder: Path, course: Path = COURSE) -> int:
    """Write the notebooks of all students; give their number."""
    ids = Roster(read_table(roster, ("id",))).rows
    for assignment in assignments(course):
        release = release_notebook(assignment.read())
        for student in ids:
            path = folder / student / assignment.name / assignment.release.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(personal(release, own_number(course, student))), "utf8")
    return len(ids) * len(assignments(course))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("roster", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    try:
        print(f"{hand_out(args.roster, args.folder)} notebooks in {args.folder}")
    except (ValueError, OSError) as error:
        print(f"nothing was handed out: {error}", file=sys.stderr)
        return 1
    if not settings().get("own_values"):
        print("all with the same data: course.toml says own_values = false")
    return 0


if __name__ == "__main__":
    sys.exit(main())
