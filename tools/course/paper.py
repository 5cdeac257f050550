"""Grade one submission: read it, put its answers into the course's notebook, and run that.

All this happens in a process of its own (`apart.call`). What it leaves is the notebook with its
outputs, and a small result: points of the tests, digests of the written answers, findings.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools.course import tester
from tools.course.build import nbgrader_entry
from tools.course.personal import personal
from tools.course.sandbox import Limits
from tools.course.submissions import (
    Finding,
    Paper,
    answer_digest,
    is_test,
    is_written,
    merge,
    read_cells,
    read_regular,
)

OUTPUT_LIMIT = 20 * 2**20  # characters of all outputs that are kept of a notebook


def examine(
    path: str,
    paper: tuple[str, str],
    job: dict[str, Any],
    known: str | None,
    target: str,
) -> dict[str, Any]:
    """Grade the notebook at a path; write it with its outputs to ``target``.

    Parameters
    ----------
    path, target : str
        What was handed in, and where the graded notebook goes.
    paper : tuple of str
        Files of the source and of the release.
    job : dict
        ``limits``, ``isolated``, ``slot``, ``place``, the folder to work in, and ``own``, the
        number of the student if each has data of their own.
    known : str or None
        Digest of what has been graded already: of the same, nothing is run again.
    """
    try:
        content = read_regular(Path(path))
    except (OSError, ValueError) as error:
        return {"findings": [asdict(Finding("not a notebook", detail=str(error)[:300]))]}
    own = [Path(p).read_text("utf8") for p in paper]
    digest = hashlib.sha256(content + "".join([*own, str(job["own"])]).encode()).hexdigest()
    if digest == known:
        return {"input": digest, "unchanged": True}
    source, release = (personal(nbformat.reads(t, as_version=4), job["own"]) for t in own)
    try:
        notebook, findings = merge(Paper(source, release), read_cells(content))
    except (ValueError, RecursionError) as error:
        message = f"{type(error).__name__}: {str(error)[:300]}"
        return {"input": digest, "findings": [asdict(Finding("not a notebook", detail=message))]}
    del content
    stubs = {c.id: c.source.strip() for c in release.cells if is_written(c)}
    answers = {
        c.id: answer_digest(c)
        for c in notebook.cells
        if is_written(c) and (c.source.strip() != stubs[c.id] or c.get("attachments"))
    }
    trouble = run(notebook, job)
    findings += [Finding("stopped or crashed", detail=str(t)[:300]) for t in trouble]
    tests = {c.id: passed(c) for c in notebook.cells if is_test(c)}
    Path(target).write_text(json.dumps(notebook, indent=1) + "\n", "utf8")
    return {
        "input": digest,
        "findings": [asdict(f) for f in findings],
        "tests": tests,
        "answers": answers,
    }


def run(notebook: NotebookNode, job: dict[str, Any]) -> list[str]:
    """Run a notebook, its answers in a sandbox; put the outputs into it and give the troubles."""
    place = Path(job["place"]) if job.get("place") else None
    link = tester.Link(Limits(**job["limits"]), job["isolated"], job["slot"], place)
    try:
        tester.run_notebook(notebook, link)
    finally:
        link.close()
    room = OUTPUT_LIMIT
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            room -= len(json.dumps(output))
            if room < 0 and output["output_type"] != "error":
                output.clear()
                output.update(output_type="stream", name="stdout", text="[too many outputs]")
    return link.trouble


def passed(cell: NotebookNode) -> float:
    """Points of a test cell: all of them, or none if it has failed."""
    failed = any(o["output_type"] == "error" for o in cell.outputs)
    return 0.0 if failed else float(nbgrader_entry(cell)["points"])
