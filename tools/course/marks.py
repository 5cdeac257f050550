"""Enter the points that a person gave, and write the tables anew.

OUT/grades.csv            points of each student in each assignment
OUT/to_grade.csv          answers that a person must read; fill in the points and run this program

python -m tools.course.marks SUBMISSIONS [--out OUT]
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

from tools.course.build import COURSE, assignments, settings
from tools.course.feedback import write_feedback
from tools.course.gradebook import enter_marks, open_gradebook

TO_GRADE = ("student", "assignment", "cell", "of", "points", "comment")
GRADES = ("student", "assignment", "points", "of", "by_tests", "by_hand", "waiting", "passed")


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


def enter(out: Path, course: Path = COURSE) -> list[dict[str, Any]]:
    """Enter the points of to_grade.csv; write grades and feedback again."""
    print(f"{enter_marks(out, read_table(out / 'to_grade.csv'), course)} marks entered")
    named = {a.name: a for a in assignments(course)}
    for path in sorted((out / "autograded").glob("*/*/*.ipynb")):
        write_feedback(out, path.parts[-3], named[path.parts[-2]])
    return export(out, settings(course)["pass_share"])


def arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line, with what grading and marking share: the two folders."""
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--out", type=Path, help="default: SUBMISSIONS-graded")
    args = parser.parse_args()
    folder = args.submissions = args.submissions.resolve()
    args.out = (args.out or folder.with_name(f"{folder.name}-graded")).resolve()
    if not folder.is_dir():
        parser.error(f"no folder {folder}")
    if args.out == folder or folder in args.out.parents:
        parser.error("--out must lie outside of the submissions")
    return args


def main() -> int:
    """Command line."""
    args = arguments(
        argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    )
    rows = enter(args.out)
    print(f"{len(rows)} grades in {args.out / 'grades.csv'}; see also to_grade.csv there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
