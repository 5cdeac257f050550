"""Write all pages: the feedback of each student, and `to_read.html`, the page to mark on.

The page to mark on is one file that needs no network: all answers to a question side by side with
their pictures, above them rubric and model answer. Enter goes to the next answer; Ctrl-S saves
to_grade.csv as a download, which replaces the one in OUT; then run ``make marks``.
"""

import base64
import hashlib
import html
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from tools.course import apart, marks, pages
from tools.course.build import COURSE, assignments, release_notebook, settings

SECONDS, GIGABYTES = 60, 4  # of one page
MATHJAX_OPTIONS = {
    "tex": {"inlineMath": [["$", "$"]]},
    "loader": {"load": []},
    "options": {"enableMenu": False},
}
SCRIPT = Path(__file__).with_name("desk.js").read_text("utf8")


def write_pages(out: Path, course: Path = COURSE, jobs: int = 2) -> None:
    """Write the feedback of each student and the page to mark on."""
    known, ledger, instead = marks.items(course), marks.ledger(out), marks.overrides(out, course)
    share = settings(course)["pass_share"]
    names, hidden = {}, {}
    for assignment in assignments(course):
        release = release_notebook(assignment.read())
        names[assignment.name] = assignment.notebook
        hidden[assignment.name] = {c.id: c.source for c in release.cells}
    write_mathjax(out / "feedback" / pages.MATHJAX)

    def one(entry: tuple[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str, str], str]:
        (student, assignment), result = entry
        cells = known[assignment]
        found = marks.scores(student, assignment, result, cells, ledger, instead)
        told: dict[str, Any] = {
            "title": names[assignment].replace("_", " ").capitalize(),
            "student": student,
            **marks.total(found, cells, share),
            "troubles": _troubles(result),
            "questions": questions(found, cells),
            "cells": {
                cell: {
                    "name": f"{item.title}: {_kind(item)}",
                    "of": item.points,
                    "written": item.written,
                    "hidden": hidden[assignment][cell] if item.hidden else "",
                    "points": found[cell].points,
                    "waits": found[cell].waits,
                    "comment": found[cell].comment,
                }
                for cell, item in cells.items()
            },
        }
        told["waiting"] = sum(cells[c].points for c, s in found.items() if s.waits)
        notebook = out / "autograded" / student / assignment / f"{names[assignment]}.ipynb"
        target = out / "feedback" / student / assignment / f"{names[assignment]}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        path = str(notebook) if "tests" in result else None
        limits = {"seconds": SECONDS, "gigabytes": GIGABYTES}
        try:
            drawn = apart.call(pages.feedback, path, str(target), told, **limits)
        except apart.Failed as error:
            told["troubles"].append(f"This page cannot show your notebook: {error}.")
            target.write_text(pages.page(told["title"], pages.head(told)), "utf8")
            note = pages.plain(f"[cannot be shown: {error}; see autograded]")
            drawn = {c: note for c, i in cells.items() if i.written}
        return {(student, assignment, cell): text for cell, text in drawn.items()}

    with ThreadPoolExecutor(jobs) as pool:
        todo = [(k, r) for k, r in marks.results(out).items() if k[1] in known]
        answers = {k: text for part in pool.map(one, todo) for k, text in part.items()}
    (out / "to_read.html").write_text(desk(out, known, answers), "utf8")


def _kind(item: marks.Item) -> str:
    return "by hand" if item.written else "hidden test" if item.hidden else "visible test"


def _troubles(result: dict[str, Any]) -> list[str]:
    """What a student must know of a submission that was not graded as ever."""
    if result["state"].startswith("graded"):
        return []
    found = [*result.get("files", []), *result.get("findings", [])]
    return [f"{f['what']}: {f['detail']}" if f["detail"] else f["what"] for f in found]


def questions(
    found: dict[str, marks.Score], known: dict[str, marks.Item]
) -> list[tuple[str, float, float, int]]:
    """Name, points, possible points and waiting answers of each question."""
    rows: dict[str, list[Any]] = {}
    for cell, item in known.items():
        row = rows.setdefault(item.title, [item.title, 0.0, 0.0, 0])
        row[1] += found[cell].points
        row[2] += item.points
        row[3] += found[cell].waits
    return [(name, points, of, waiting) for name, points, of, waiting in rows.values()]


def desk(
    out: Path, known: dict[str, dict[str, marks.Item]], answers: dict[tuple[str, str, str], str]
) -> str:
    """The page to mark on."""
    rows = marks.read_table(out / "to_grade.csv")
    parts = [
        "<header><h1>To read</h1><p><span id='left'></span> answers wait. Enter: next answer; "
        "Shift-Enter: the one before; Ctrl-S: save. <button id='save'>Save to_grade.csv</button> "
        "Put the file in the place of the old one, and run make marks.</p></header>"
    ]
    last = None
    for number, row in enumerate(rows):
        here = row["assignment"], row["cell"]
        if here != last:
            item = known[here[0]][here[1]]
            model = pages.markdown(item.source)
            parts.append("</section>" if last else "")
            parts.append(
                f"<h2>{html.escape(f'{here[0]}, {item.title}')}: {item.points:g} points</h2>"
                f"<details open><summary>Model answer and rubric</summary>{model}</details>"
                "<section class='answers'>"
            )
            last = here
        field = f"data-row='{number}' data-column"
        name = html.escape(row["student"])
        value, comment = html.escape(row["points"]), html.escape(row["comment"])
        parts.append(
            f"<div class='student'><h3>{name}</h3><p>{html.escape(row['state'])}</p>"
            f"{answers.get((row['student'], *here), '')}"
            f"<div class='row'><label>Points of {html.escape(row['of'])} <input type='number' "
            f"min='0' max='{html.escape(row['of'])}' step='any' {field}='points' value='{value}' "
            f"aria-label='points of {name}'></label><input type='text' {field}='comment' "
            f"value='{comment}' placeholder='comment' aria-label='comment for {name}'></div></div>"
        )
    parts.append("</section>" if last else "")
    script = SCRIPT.replace("COLUMNS", json.dumps(marks.TO_GRADE))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(rows).replace("<", "\\u003c")
    parts.append(
        f"<script type='application/json' id='rows'>{data}</script><script>{script}</script>"
    )
    math = f'<script src="feedback/{pages.MATHJAX}"></script>'
    return pages.page("To read", "\n".join(parts), math, f"'sha256-{digest}'", "wide")


def write_mathjax(path: Path) -> None:
    """Put MathJax beside the pages; where it is not installed (extra ``book``), TeX shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(PackageNotFoundError):
        found = [f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js"]
        if found and not path.exists():
            code = Path(str(found[0].locate())).read_text("utf8")
            path.write_text(f"window.MathJax = {json.dumps(MATHJAX_OPTIONS)};\n{code}", "utf8")
