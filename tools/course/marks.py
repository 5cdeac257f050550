"""Enter the points that a person gave, and write the tables and pages anew.

OUT/to_grade.csv     written answers with the points given so far; fill in the rest
OUT/overrides.csv    other points for any cell, with a reason; you write it
OUT/marks.csv        every mark ever entered, with a digest of the answer that was read; only grows
OUT/grades.csv       points of each student in each assignment
OUT/before           copies of what was replaced

    python -m tools.course.marks SUBMISSIONS [--out OUT]

A mark belongs to the text and the pictures that were read. It holds as long as these stay the same,
however often the rest is graded; when they change, the answer waits again and its row says which
points the old text had.
"""

import argparse
import csv
import functools
import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amgd.experiments.records import write_atomic
from tools.course.build import (
    COURSE,
    assignments,
    nbgrader_entry,
    paper,
    settings,
    source_notebook,
)
from tools.course.submissions import is_hidden, is_written

TO_GRADE = ("student", "assignment", "cell", "of", "points", "comment", "state", "answer")
MARKS = ("student", "assignment", "cell", "points", "comment", "answer")
OVERRIDES = ("student", "assignment", "cell", "points", "reason")
GRADES = (
    "student",
    "assignment",
    "state",
    "points",
    "of",
    "by_tests",
    "by_hand",
    "waiting",
    "passed",
)
REVIEW = ("student", "assignment", "what", "cell", "detail")
ALIKE = "similar.json"  # in OUT/results: answers that resemble others
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for a formula
Key = tuple[str, str, str]  # student, assignment, cell
Row = dict[str, str]


@dataclass(frozen=True)
class Item:
    """A cell that gives points."""

    points: float
    written: bool
    title: str  # of its question
    source: str
    hidden: bool


def items(course: Path = COURSE) -> dict[str, dict[str, Item]]:
    """Cells that give points, by assignment and name."""
    told = settings(course)
    given = told["year"], told.get("secret", "")
    return {a.name: _items(a.text.read_text("utf8"), a.name, *given) for a in assignments(course)}


@functools.lru_cache(maxsize=20)
def _items(text: str, assignment: str, year: int, secret: str) -> dict[str, Item]:
    cells, title = {}, ""
    for cell in paper(source_notebook(text, year), assignment, secret).cells:
        if cell.cell_type == "markdown":
            for line in re.findall(r"^#{1,3} (.+)$", cell.source, re.M):
                title = line
        entry = nbgrader_entry(cell)
        if entry.get("grade"):
            points = float(entry["points"])
            cells[cell.id] = Item(points, is_written(cell), title, cell.source, is_hidden(cell))
    return cells


# ---------------------------------------------------------------- tables


def write_table(path: Path, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Write a table; no cell of it is a formula when a spreadsheet opens it."""

    def harmless(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows({k: harmless(v) for k, v in row.items()} for row in rows)
    write_atomic(path, text.getvalue().encode())


def read_table(path: Path, columns: tuple[str, ...] = ()) -> list[Row]:
    """Read a table as Excel, LibreOffice or Numbers have saved it.

    UTF-8 with or without its mark, UTF-16, or Windows' cp1252; commas, semicolons or tabs between
    the cells. Empty rows are left out.

    Raises
    ------
    ValueError
        If one of the columns is missing.
    """
    raw = path.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep="):
        text, first = rest, rest.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    head = [name.strip().strip('"').lower() for name in next(lines, [])]
    if missing := [c for c in columns if c not in head]:
        raise ValueError(f"{path.name} lacks the columns {missing}: got {head}")

    def plain(value: str) -> str:
        return value[1:] if value.startswith("'") and value[1:].startswith(FORMULA) else value

    rows = [
        dict.fromkeys(head, "") | dict(zip(head, map(plain, line), strict=False)) for line in lines
    ]
    return [row for row in rows if any(value.strip() for value in row.values())]


def number(text: str) -> float:
    """A number as people write it: 4.5 or 4,5."""
    return float(re.sub(r"^(\s*[+-]?\d*),(\d+\s*)$", r"\1.\2", text))


def keep(out: Path, path: Path) -> None:
    """Put a copy of a file into OUT/before; equal copies are kept once."""
    if not path.is_file():
        return
    content = path.read_bytes()
    place = out / "before" / path.relative_to(out)
    place.parent.mkdir(parents=True, exist_ok=True)
    copies = sorted(place.parent.glob(f"{place.stem}.[0-9]*{place.suffix}"))
    if not copies or copies[-1].read_bytes() != content:
        number = int(copies[-1].name.split(".")[-2]) + 1 if copies else 1
        place.with_name(f"{place.stem}.{number:04d}{place.suffix}").write_bytes(content)


# ---------------------------------------------------------------- results


def result_path(out: Path, student: str, assignment: str) -> Path:
    """Where the result of a submission is kept."""
    return out / "results" / student / f"{assignment}.json"


def save_result(out: Path, student: str, assignment: str, result: dict[str, Any]) -> None:
    """Keep a result, and the digests of all answers that the student has given before."""
    path = result_path(out, student, assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text("utf8")) if path.exists() else {}
    earlier = {cell: {*digests} for cell, digests in old.get("earlier", {}).items()}
    for cell, digest in old.get("answers", {}).items():
        earlier.setdefault(cell, set()).add(digest)
    result = result | {"earlier": {cell: sorted(digests) for cell, digests in earlier.items()}}
    write_atomic(path, f"{json.dumps(result, indent=1)}\n".encode())


def results(out: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """All results, by student and assignment."""
    found = sorted((out / "results").glob("*/*.json"))
    return {(p.parent.name, p.stem): json.loads(p.read_text("utf8")) for p in found}


# ---------------------------------------------------------------- marks


def key(row: Row) -> Key:
    """What a row is about."""
    return row["student"].strip(), row["assignment"].strip(), row["cell"].strip()


def ledger(out: Path) -> list[Row]:
    """Every mark that has been entered, the oldest first."""
    path = out / "marks.csv"
    return read_table(path, MARKS) if path.exists() else []


def checked(row: Row, known: dict[str, dict[str, Item]], file: str) -> float:
    """Points of a row, if they may be given."""
    _, assignment, cell = key(row)
    item = known.get(assignment, {}).get(cell)
    if item is None:
        raise ValueError(f"{file}: {row}: there is no cell {cell!r} in {assignment!r}")
    try:
        points = number(row["points"])
    except ValueError as error:
        raise ValueError(f"{file}: {row}: points must be a number: {error}") from error
    if not 0 <= points <= item.points:
        raise ValueError(f"{file}: {row}: points must lie in 0 to {item.points:g}")
    return points


def enter_marks(out: Path, rows: list[Row], course: Path = COURSE) -> int:
    """Add marks to the ledger; give the number of new ones. All rows are right, or none counts."""
    known, now, old = items(course), results(out), ledger(out)
    last = {(*key(m), m["answer"]): m for m in old}
    new = []
    for row in rows:
        if not row.get("points", "").strip():
            continue
        student, assignment, cell = key(row)
        points = checked(row, known, "to_grade.csv")
        result = now.get((student, assignment), {})
        current = result.get("answers", {}).get(cell, "")
        answer = row.get("answer", "").strip() or current
        if not answer or answer not in {current, *result.get("earlier", {}).get(cell, ())}:
            raise ValueError(f"to_grade.csv: {row}: {student!r} has given no such answer")
        mark = dict(
            zip(MARKS, (*key(row), f"{points:g}", row.get("comment", ""), answer), strict=True)
        )
        if last.get((*key(row), answer)) != mark:
            new.append(mark)
    if new:
        write_table(out / "marks.csv", MARKS, [*old, *new])
    return len(new)


def overrides(out: Path, course: Path = COURSE) -> dict[Key, Row]:
    """Points that a lecturer has set, whatever tests and marks say."""
    path = out / "overrides.csv"
    rows = read_table(path, OVERRIDES) if path.exists() else []
    known = items(course)
    for row in rows:
        row["points"] = f"{checked(row, known, 'overrides.csv'):g}"
        if not row["reason"].strip():
            raise ValueError(f"overrides.csv: {row}: a reason is missing; the student reads it")
    return {key(row): row for row in rows}


@dataclass(frozen=True)
class Score:
    """What one cell of one student has."""

    points: float
    waits: bool = False
    comment: str = ""
    before: str = ""  # points that an older text of the answer had


def scores(
    student: str,
    assignment: str,
    result: dict[str, Any],
    known: dict[str, Item],
    marks: list[Row],
    instead: dict[Key, Row],
) -> dict[str, Score]:
    """Points of each cell: an override, the tests, or the mark for the answer as it stands."""
    found = {}
    for cell, item in known.items():
        own = (student, assignment, cell)
        answer = result.get("answers", {}).get(cell)
        if own in instead:
            row = instead[own]
            found[cell] = Score(number(row["points"]), comment=row["reason"])
        elif not item.written:
            found[cell] = Score(result.get("tests", {}).get(cell, 0.0))
        elif answer is None:
            found[cell] = Score(0.0)
        else:
            found[cell] = _marked(answer, [m for m in marks if key(m) == own])
    return found


def _marked(answer: str, given: list[Row]) -> Score:
    """What a written answer has by the marks of its cell, the oldest first."""
    if read := [m for m in given if m["answer"] == answer]:
        return Score(number(read[-1]["points"]), comment=read[-1]["comment"])
    return Score(0.0, waits=True, before=given[-1]["points"] if given else "")


def total(
    found: dict[str, Score], known: dict[str, Item], pass_share: float
) -> dict[str, float | int | str]:
    """Sums over the cells, and whether they pass."""
    points = sum(s.points for s in found.values())
    of = sum(i.points for i in known.values())
    by_hand = sum(s.points for c, s in found.items() if known[c].written)
    waiting = [known[c].points for c, s in found.items() if s.waits]
    needed = pass_share * of
    passed = "yes" if points >= needed else "open" if points + sum(waiting) >= needed else "no"
    values = (points, of, points - by_hand, by_hand, len(waiting), passed)
    return dict(zip(GRADES[3:], values, strict=True))


def export(out: Path, course: Path = COURSE) -> list[dict[str, Any]]:
    """Write grades.csv, to_grade.csv and review.csv; give the rows of the first.

    Points that stand in to_grade.csv and have not been entered yet stay in it.
    """
    known, marks, instead = items(course), ledger(out), overrides(out, course)
    share = settings(course)["pass_share"]
    path = out / "to_grade.csv"
    typed = {(*key(r), r.get("answer", "")): r for r in read_table(path)} if path.exists() else {}
    grades, waiting, review = [], [], []
    for (student, assignment), result in results(out).items():
        cells = known.get(assignment)
        if cells is None:
            continue
        found = scores(student, assignment, result, cells, marks, instead)
        sums = total(found, cells, share)
        grades.append(
            {"student": student, "assignment": assignment, "state": result["state"]} | sums
        )
        findings = [*result.get("files", []), *result.get("findings", [])]
        review += [{"student": student, "assignment": assignment} | f for f in findings]
        for cell, score in found.items():
            answer = result.get("answers", {}).get(cell)
            if answer is None or not cells[cell].written or (student, assignment, cell) in instead:
                continue
            of, points = f"{cells[cell].points:g}", f"{score.points:g}"
            comment, state = score.comment, "marked"
            if score.waits:
                row = typed.get((student, assignment, cell, answer), {})
                points, comment = row.get("points", ""), row.get("comment", "")
                state = f"changed since a mark of {score.before}" if score.before else "waits"
            told = (student, assignment, cell, of, points, comment, state, answer)
            waiting.append(dict(zip(TO_GRADE, told, strict=True)))
    path_alike = out / "results" / ALIKE
    alike = json.loads(path_alike.read_text("utf8")) if path_alike.exists() else {}
    for assignment, by_student in alike.items():
        for student, rows in by_student.items():
            review += [{"student": student, "assignment": assignment} | row for row in rows]
    waiting.sort(key=lambda r: (r["assignment"], r["cell"], r["state"] == "marked", r["student"]))
    keep(out, path)
    write_table(path, TO_GRADE, waiting)
    write_table(out / "grades.csv", GRADES, grades)
    write_table(out / "review.csv", REVIEW, review)
    if not (out / "overrides.csv").exists():
        write_table(out / "overrides.csv", OVERRIDES, [])
    return grades


def enter(out: Path, course: Path = COURSE) -> list[dict[str, Any]]:
    """Enter the points of to_grade.csv; write tables and pages again."""
    from tools.course.desk import write_pages

    rows = read_table(out / "to_grade.csv", ("student", "assignment", "cell", "points"))
    print(f"{enter_marks(out, rows, course)} new marks entered")
    grades = export(out, course)
    write_pages(out, course)
    return grades


def arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line, with what grading and marking share: the two folders."""
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--out", type=Path, help="default: SUBMISSIONS-graded")
    parser.add_argument("--course", type=Path, default=COURSE, help="default: notebooks/coursework")
    args = parser.parse_args()
    folder = args.submissions = args.submissions.resolve()
    args.out = (args.out or folder.with_name(f"{folder.name}-graded")).resolve()
    args.course = args.course.resolve()
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
    try:
        rows = enter(args.out, args.course)
    except (ValueError, FileNotFoundError) as error:
        print(f"nothing was entered: {error}", file=sys.stderr)
        return 1
    print(f"{len(rows)} grades in {args.out / 'grades.csv'}; see also to_grade.csv there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
