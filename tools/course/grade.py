"""Grade a folder of submissions.

    SUBMISSIONS/<student>/<assignment>/<name>.ipynb     what students handed in
    OUT/grades.csv            points of each student in each assignment
    OUT/to_grade.csv          answers that a person must read; fill in the points, then run
    ``marks`` OUT/review.csv            whatever else a person should look at OUT/feedback/
    a page for each submission, which loads nothing from outside OUT/gradebook.db
    nbgrader's gradebook

Each notebook runs in a process of its own, ``tester.py``; one that fails in any way does not touch
the others.

    python -m tools.course.grade SUBMISSIONS [--out OUT] [--jobs 2] [--without-isolation]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools.course.build import (
    COURSE,
    ROOT,
    assignments,
    release_notebook,
    settings,
    source_notebook,
)
from tools.course.feedback import write_feedback
from tools.course.gradebook import record, register
from tools.course.marks import arguments, export, write_table
from tools.course.sandbox import FULL, START_SECONDS, Limits, isolation
from tools.course.submissions import Finding, Paper, Submission, collect

REVIEW = ("student", "assignment", "what", "cell", "detail")


def run(submission: Submission, limits: Limits, isolated: bool, slot: int) -> NotebookNode | None:
    """Run a merged notebook in its own processes; None if that broke down."""
    with tempfile.TemporaryDirectory(prefix="grading-") as name:
        folder = Path(name)
        files = {"notebook": str(folder / "in.ipynb"), "result": str(folder / "out.ipynb")}
        Path(files["notebook"]).write_text(json.dumps(submission.notebook), "utf8")
        job = files | {"limits": asdict(limits), "isolated": isolated, "slot": slot}
        (folder / "job.json").write_text(json.dumps(job), "utf8")
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
        tester = subprocess.Popen(
            [sys.executable, "-m", "tools.course.tester", str(folder / "job.json")],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": path},
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
        result: NotebookNode = nbformat.from_dict(
            json.loads(Path(files["result"]).read_text("utf8"))
        )
    for trouble in result.metadata.pop("trouble", []):
        submission.findings.append(Finding("stopped or crashed", detail=str(trouble)[:300]))
    return result


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
            student, assignment = submission.student, submission.assignment
            record(out, submission, result)
            if result is not None:
                write_feedback(out, student, assignment)
            print(f"{student} {assignment.name}: {len(submission.findings)} findings")
    review = [
        {"student": s.student, "assignment": s.assignment.name, **asdict(f)}
        for s in work
        for f in s.findings
    ]
    write_table(out / "review.csv", REVIEW, review)
    return export(out, told["pass_share"])


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (default 2)")
    parser.add_argument(
        "--without-isolation",
        action="store_true",
        help="grade although this machine cannot isolate a student's code; see the lecturers' page",
    )
    args = arguments(parser)
    isolated = isolation() == FULL
    if not isolated and not args.without_isolation:
        parser.error(
            "this machine cannot isolate a student's code: expected Linux with namespaces "
            "(unshare --map-root-user --net --mount --pid true must work); use another machine, "
            "or pass --without-isolation if you trust the students with your files"
        )
    rows = grade(args.submissions, args.out, args.jobs, isolated)
    files = "to_grade.csv and review.csv"
    print(f"{len(rows)} grades in {args.out / 'grades.csv'}; see also {files} there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
