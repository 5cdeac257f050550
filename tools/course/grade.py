"""Grade a folder of submissions.

    SUBMISSIONS/<student>/<assignment>/<name>.ipynb     what students handed in
    SUBMISSIONS/roster.csv    optional: who is in the course (columns id and name)

    OUT/grades.csv            points of each student in each assignment
    OUT/to_read.html          all written answers, side by side; or fill in
    OUT/to_grade.csv          the same as a table; then run ``make marks``
    OUT/review.csv            whatever else a person should look at
    OUT/feedback/             a page for each submission, which loads nothing from outside
    OUT/autograded/           the notebooks as they have run

Each submission is read, run and shown in processes of their own. Whatever happens there becomes a
row of that student and touches no other. What has been graded already is not run again.

    python -m tools.course.grade SUBMISSIONS [--out OUT] [--jobs 2] [--again] [--without-isolation]
                                 [--course FOLDER]
"""

import argparse
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amgd.experiments.records import write_atomic
from tools.course import apart, desk, marks, paper, similar
from tools.course.build import (
    COURSE,
    Assignment,
    assignments,
    release_notebook,
    settings,
    written,
)
from tools.course.collect import Roster
from tools.course.personal import own_number
from tools.course.sandbox import FULL, START_SECONDS, Limits, isolation
from tools.course.submissions import Finding, find_notebook, identity, shown

Result = dict[str, Any]
GONE = ", no folder"  # of a result whose submission is not among those that are graded


def students(submissions: Path) -> tuple[dict[str, Path], list[str]]:
    """Folder of each student by id, and what lies beside the folders."""
    on_roster = Roster(read_list(submissions, "roster.csv")).rows
    listed = [*on_roster, *(row["id"] for row in read_list(submissions, "collected.csv"))]
    found = {student: submissions / student for student in listed}
    others = []
    for path in sorted(submissions.iterdir()):
        if path.name.startswith(".") or path.name in ("roster.csv", "collected.csv"):
            continue
        if path.is_dir() or path.is_symlink():
            found[identity(path.name)] = path
        else:
            others.append(shown(path.name))
    return found, others


def read_list(submissions: Path, name: str) -> list[dict[str, str]]:
    """Rows of a table beside the folders, if there is one."""
    path = submissions / name
    return marks.read_table(path, ("id",)) if path.exists() else []


def grade(
    submissions: Path,
    out: Path,
    jobs: int = 2,
    isolated: bool = True,
    course: Path = COURSE,
    again: bool = False,
    **limits_instead: float,
) -> list[dict[str, Any]]:
    """Grade all submissions; give the rows of grades.csv."""
    limits = Limits(**settings(course)["limits"] | limits_instead)
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    marks.overrides(out, course)  # a wrong row is told before the work, not after it
    rows = marks.read_table(out / "to_grade.csv") if (out / "to_grade.csv").exists() else []
    try:
        marks.enter_marks(out, rows, course)  # what has been typed is for the answers as they were
    except ValueError as error:
        print(f"not entered, kept in to_grade.csv: {error}")
    found, others = students(submissions)
    collected = {(r["id"], r["assignment"]): r for r in read_list(submissions, "collected.csv")}
    for name in others:
        print(f"left out, not a student's folder: {name!r}")
    old = marks.results(out)
    every = assignments(course)
    handed_in = [a for a in every if any((f / a.name).exists() for f in found.values())]
    if not handed_in and not old:
        raise ValueError(
            f"no student's folder in {submissions} holds a folder of an assignment "
            f"({', '.join(a.name for a in every)}): put notebooks there, or let make collect do it"
        )
    with apart.workplace() as place:
        papers = {a: _paper(place, a) for a in handed_in}

        def one(todo: tuple[int, tuple[str, Path, Assignment]]) -> None:
            slot, (student, folder, assignment) = todo
            job = {
                "limits": asdict(limits),
                "isolated": isolated,
                "slot": slot,
                "place": str(place),
                "own": own_number(course, student),
            }
            known = old.get((student, assignment.name), {})
            target = place / f"{slot}.ipynb"
            result = examine(folder, assignment, papers[assignment], job, known, target, again)
            if folder.name != student:
                detail = f"the folder is called {shown(folder.name)}"
                result["files"].append(asdict(Finding("odd name", detail=detail)))
            if row := collected.get((student, assignment.name)):
                add_to(result, row)
            graded = out / "autograded" / student / assignment.name / f"{assignment.notebook}.ipynb"
            if target.exists() or "tests" not in result:
                marks.keep(out, graded)
                graded.unlink(missing_ok=True)
            if target.exists():
                graded.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(target, graded)
            marks.save_result(out, student, assignment.name, result)
            print(f"{student} {assignment.name}: {result['state']}", flush=True)

        with ThreadPoolExecutor(jobs) as pool:
            work = [(s, f, a) for a in handed_in for s, f in found.items()]
            list(pool.map(one, enumerate(work)))
    graded_now = {(student, assignment.name) for student, _, assignment in work}
    for (student, name), result in old.items():
        if (student, name) not in graded_now:
            state = result["state"].removesuffix(GONE) + GONE
            marks.save_result(out, student, name, result | {"state": state})
    alike = {a.name: compare(out, a, found) for a in handed_in}
    write_atomic(out / "results" / marks.ALIKE, f"{json.dumps(alike, indent=1)}\n".encode())
    grades = marks.export(out, course)
    desk.write_pages(out, course, jobs)
    return grades


def add_to(result: Result, row: dict[str, str]) -> None:
    """Say what `collect` has found of a student."""
    if row["state"] == "twice":
        result["state"] += ", twice"
        detail = f"the last one was taken: {row['file']}"
        result["files"].append(asdict(Finding("handed in twice", detail=detail)))
    elif result["state"] == "missing" and row["state"] in ("unreadable", "unknown"):
        result["state"] = row["state"]
        what = "not on the roster" if row["state"] == "unknown" else "no notebook"
        result["files"].append(asdict(Finding(what, detail=row["file"])))


def compare(out: Path, assignment: Assignment, found: dict[str, Path]) -> dict[str, Any]:
    """Answers that resemble others, by student."""
    name = f"{assignment.name}/{assignment.notebook}.ipynb"
    paths = {student: out / "autograded" / student / name for student in found}
    graded = {student: str(path) for student, path in paths.items() if path.exists()}
    public = similar.public_answers(assignment)
    try:
        alike: dict[str, Any] = apart.call(
            similar.findings, graded, public, seconds=600, gigabytes=4
        )
    except apart.Failed as error:
        print(f"{assignment.name}: answers could not be compared: {error}")
        return {}
    return alike


def _paper(place: Path, assignment: Assignment) -> tuple[str, str]:
    """Files of source and release for the processes that grade."""
    source = assignment.read()
    paths = []
    for kind, notebook in (("source", source), ("release", release_notebook(source))):
        path = place / f"{assignment.name}.{kind}.ipynb"
        path.write_text(written(notebook), "utf8")
        paths.append(str(path))
    return paths[0], paths[1]


def examine(
    folder: Path,
    assignment: Assignment,
    own: tuple[str, str],
    job: dict[str, Any],
    known: Result,
    target: Path,
    again: bool = False,
) -> Result:
    """Result of one submission, whatever happens."""
    limits = Limits(**job["limits"])
    path, notes = find_notebook(folder, assignment.name, f"{assignment.notebook}.ipynb")
    files = [asdict(f) for f in notes]
    if path is None:
        missing = any(f.what == "missing" for f in notes)
        return {"state": "missing" if missing else "unreadable", "files": files}
    digest = None if again else known.get("input")
    try:
        told: Result = apart.call(
            paper.examine,
            *(str(path), own, job, digest, str(target)),
            seconds=limits.notebook_seconds + 2 * START_SECONDS,
            gigabytes=limits.memory_gigabytes + 1,
        )
    except apart.Failed as error:
        target.unlink(missing_ok=True)
        told = {"findings": [asdict(Finding("could not be graded", detail=str(error)))]}
    if told.pop("unchanged", False):
        state = "graded" if "tests" in known else "unreadable"
        return known | {"state": state, "files": files}
    return {"state": "graded" if "tests" in told else "unreadable", "files": files, **told}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (default 2)")
    parser.add_argument("--again", action="store_true", help="run also what has not changed")
    parser.add_argument(
        "--without-isolation",
        action="store_true",
        help="grade although this machine cannot isolate a student's code; see the lecturers' page",
    )
    args = marks.arguments(parser)
    isolated = isolation() == FULL
    if not isolated and not args.without_isolation:
        parser.error(
            "this machine cannot isolate a student's code: expected Linux with namespaces "
            "(unshare --map-root-user --net --mount --pid true must work); use another machine, "
            "or pass --without-isolation if you trust the students with your files"
        )
    try:
        rows = grade(args.submissions, args.out, args.jobs, isolated, args.course, again=args.again)
    except ValueError as error:
        print(f"nothing was graded: {error}", file=sys.stderr)
        return 1
    print(f"{len(rows)} grades in {args.out / 'grades.csv'}")
    print("see also to_read.html (or to_grade.csv) and review.csv there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
