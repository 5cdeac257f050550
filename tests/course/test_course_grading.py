"""Grading: the whole round trip on assignment 1, and a small course under attack."""

import itertools
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nbgrader", reason="the coursework needs the extra 'teach'")
pytest.importorskip("resource", reason="grading needs process limits (Linux, macOS)")

from bs4 import BeautifulSoup
from small_course import CELL_SECONDS, answered, hand_in, make, papers

from tools.course import build, collect, grade, marks, pages, paper
from tools.course.rates import SKIP, read_planted
from tools.course.sandbox import FULL, Limits, isolation
from tools.course.submissions import Paper, is_test, merge, read_cells

ISOLATED = isolation() == FULL


def loads(page: str) -> list[str]:
    """What a page would load or open, other than pictures in it and places in it."""
    soup = BeautifulSoup(page, "html.parser")
    assert not soup(["iframe", "object", "embed", "link", "base", "form"])
    named = [t.get(a) for t in soup(True) for a in pages.ADDRESSES if t.get(a)]
    assert not [t for t in soup("script") if t.string]
    return [n for n in named if not n.startswith(("#", "data:image/"))]


def by_student(rows: list[dict]) -> dict[str, dict]:
    return {row["student"]: row for row in rows}


# ---------------------------------------------------------------- round trip


HOSTILE = {
    "sc-stationary": """
import builtins, os, numpy, numpy.testing
numpy.allclose = numpy.isclose = lambda *a, **k: True
numpy.testing.assert_allclose = lambda *a, **k: None
builtins.AssertionError = Warning
get_ipython().ast_transformers.append(type("Drop", (), {"visit": lambda self, tree: tree})())
def stationary_law(P):
    os._exit(0)
""",
    "sc-mixing-sum": "while True: pass",
    "sc-bias": """
class Same:
    def __eq__(self, other): return True
measured_bias = lambda *a: Same()
""",
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """Five submissions of assignment 1, graded."""
    folder = tmp_path_factory.mktemp("round_trip")
    assignment = build.assignments()[0]
    submissions = folder / "submissions"
    answers = {c: "" for c in ("sc-worst", "sc-misleading", "sc-bias", "sc-mixing-sum")}
    wrong = {
        "sc-stationary": "def stationary_law(P):\n    return np.full(len(P), 1 / len(P))",
        "sc-misleading": "def misleading(C):\n    return np.eye(3)",
    }
    hand_in(submissions, "perfect", assignment, answered(assignment))
    in_place = next(p for p in assignment.right if p.stem == "in_place")
    other = answered(assignment, read_planted(in_place).cells)
    hand_in(submissions, "other", assignment, other)
    hand_in(submissions, "half", assignment, answered(assignment, answers))
    hand_in(submissions, "wrong", assignment, answered(assignment, wrong))
    hand_in(submissions, "hostile", assignment, answered(assignment, HOSTILE))
    grade.grade(submissions, folder / "out", jobs=2, isolated=ISOLATED, cell_seconds=10)
    return folder / "out"


def test_tests_give_the_expected_points(graded) -> None:
    rows = by_student(marks.read_table(graded / "grades.csv"))
    points = {student: float(row["by_tests"]) for student, row in rows.items()}
    # half: questions 1 to 3; wrong: what needs neither a law nor a chain; hostile: question 7
    assert points["perfect"] == points["other"] == 34
    assert points["half"] == 14
    assert points["wrong"] == WRONG_POINTS
    assert points["hostile"] == 5
    assert {r["of"] for r in rows.values()} == {"40.0"}
    assert rows["perfect"]["passed"] == "yes"
    assert rows["half"]["passed"] == "open"  # 14 + 6 by hand may reach 20
    assert rows["wrong"]["passed"] == rows["hostile"]["passed"] == "no"


# Nothing: every question but the last one builds on the law, and the last one is wrong too.
WRONG_POINTS = 0


def test_a_person_finishes_the_work(graded) -> None:
    waiting = marks.read_table(graded / "to_grade.csv")
    students = {"perfect", "other", "half", "wrong", "hostile"}
    assert {row["student"] for row in waiting} == students
    assert {row["cell"] for row in waiting} == {"sc-judge"}
    given = {"perfect": 6, "other": 4, "half": 5.5, "wrong": 0}
    for row in waiting:
        row["points"] = str(given.get(row["student"], ""))
        row["comment"] = "Good <b>work</b>." if row["student"] == "perfect" else ""
    marks.write_table(graded / "to_grade.csv", marks.TO_GRADE, waiting)
    rows = by_student(marks.enter(graded))
    assert rows["perfect"]["points"] == 40
    assert rows["half"]["points"] == 19.5
    assert (rows["half"]["passed"], rows["half"]["waiting"]) == ("no", 0)
    assert (rows["wrong"]["points"], rows["wrong"]["waiting"]) == (0, 0)
    assert rows["hostile"]["waiting"] == 1
    state = {r["student"]: r["state"] for r in marks.read_table(graded / "to_grade.csv")}
    assert state == dict.fromkeys(students, "marked") | {"hostile": "waits"}

    change = dict(
        zip(marks.OVERRIDES, ("hostile", "1_slow_chains", "sc-bias-check", "2"), strict=False)
    )
    marks.write_table(
        graded / "overrides.csv", marks.OVERRIDES, [change | {"reason": "The test was wrong."}]
    )
    rows = by_student(marks.enter(graded))
    assert (rows["hostile"]["points"], rows["hostile"]["passed"]) == (7, "no")
    assert "The test was wrong." in page_of(graded, "hostile")
    page = page_of(graded, "perfect")
    assert "Good &lt;b&gt;work&lt;/b&gt;." in page
    assert "40 of 40 points" in page


def page_of(graded: Path, student: str) -> str:
    path = graded / "feedback" / student / "1_slow_chains" / "slow_chains.html"
    return path.read_text("utf8")


def test_a_page_of_feedback_names_questions_and_no_path(graded) -> None:
    page = BeautifulSoup(page_of(graded, "half"), "html.parser")
    rows = [[c.text for c in row("td")] for row in page.table("tr")]
    assert rows[0] == ["Question 1: the stationary law", "4 of 4", ""]
    assert [r[0].partition(":")[0] for r in rows] == [f"Question {n}" for n in range(1, 9)]
    assert "Question 3: the mixing time: hidden test: 3 of 3" in page.text
    assert str(build.ROOT) not in page_of(graded, "hostile")
    assert "/home/" not in page_of(graded, "hostile")


def test_grading_again_runs_what_has_changed_and_keeps_marks(graded) -> None:
    path = graded.parent / "submissions" / "half" / "1_slow_chains" / "slow_chains.ipynb"
    notebook = build.nbformat.read(path, as_version=4)
    before = {p: p.stat().st_mtime_ns for p in (graded / "autograded").rglob("*.ipynb")}
    notebook.cells[-1].outputs = []
    path.write_text(build.nbformat.writes(notebook) + " ")
    rows = by_student(grade.grade(graded.parent / "submissions", graded, isolated=ISOLATED))
    changed = {p for p, t in before.items() if p.stat().st_mtime_ns != t}
    assert {p.parent.parent.name for p in changed} == {"half"}
    assert (rows["half"]["points"], rows["half"]["waiting"]) == (19.5, 0)
    assert rows["perfect"]["points"] == 40


def test_feedback_shows_results_and_no_hidden_test(graded) -> None:
    for student in ("perfect", "half", "wrong", "hostile"):
        page = page_of(graded, student)
        assert "np.random.default_rng([YEAR" not in page
        assert "dirichlet(np.ones(states)" not in page
        assert loads(page) == ["../../mathjax.js"]
        assert "default-src 'none'" in page
    assert "the uniform law is not stationary here" in page_of(graded, "wrong")


@pytest.mark.parametrize(
    ("assignment", "choice"),
    [
        pytest.param(a, choice, id=f"{a.name}-{n + 1}")
        for a in build.assignments()
        for n, choice in enumerate(papers(a))
    ],
)
def test_every_reference_passes_where_tests_run_apart(assignment, choice) -> None:
    """What passes in one process passes when answers come from another; pictures are left out."""
    source = build.chosen(assignment.everything(), choice)
    own = Paper(source, build.release_notebook(source))
    submitted = build.release_notebook(source)
    answers = {c.id: c.source for c in source.cells if build.nbgrader_entry(c).get("solution")}
    for cell in submitted.cells:
        cell.source = answers.get(cell.id, cell.source)
    submitted.cells = [c for c in submitted.cells if SKIP not in c.metadata.get("tags", [])]
    result, findings = merge(own, read_cells(build.written(submitted).encode()))
    assert findings == []
    job = {"limits": asdict(Limits()), "isolated": ISOLATED, "slot": 0, "own": None}
    assert paper.run(result, job) == []
    said = {
        c.id: o for c in result.cells for o in c.get("outputs", []) if o["output_type"] == "error"
    }
    assert said == {}
    assert sum(is_test(c) for c in result.cells) >= 10


# ---------------------------------------------------------------- attacks

EVERYTHING = 10  # points by tests in the small course
STUBBORN = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: pass
"""
PEEK = """
import gc, inspect, sys
def double(x):
    for frame in inspect.stack():
        for value in [*frame.frame.f_locals.values(), *frame.frame.f_globals.values()]:
            same_shape = isinstance(value, np.ndarray) and value.shape == np.shape(x)
            if same_shape and not np.array_equal(value, x):
                return value
    for thing in gc.get_objects():
        if isinstance(thing, str) and "expected_by_the_hidden_test =" in thing:
            return eval(thing.split("=")[1])
    return x
"""
FORGE = """
import os, struct
fake = b'{"value": true}'
for number in range(3, 30):
    try: os.write(number, struct.pack(">I", len(fake)) + fake)
    except OSError: pass
total = -1
"""
BOMB = """
import json, os
for number in range(3, 30):
    try: os.write(number, b"\\xff\\xff\\xff\\xff")
    except OSError: pass
"""
PICTURES = """
import base64, json, os, struct
picture = {"output_type": "display_data", "data": {"image/png": "A" * 6 * 10**7}, "metadata": {}}
fake = json.dumps({"outputs": [picture], "error": None}).encode()
number = max(int(n) for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")
             and "socket" in os.readlink(f"/proc/self/fd/{n}"))
os.write(number, struct.pack(">I", len(fake)))
while fake: fake = fake[os.write(number, fake):]
"""
PATCHED = """
import sys
wire = sys.modules["tools.course.wire"]
send = wire.send
picture = {"output_type": "display_data", "data": {"image/png": "A" * 10**6}, "metadata": {}}
wire.send = lambda s, m: send(s, dict(m, outputs=[picture] * 40) if "outputs" in m else m)
total = 3
"""
NAMES_FILES = """
import sys, traceback, warnings
warnings.warn_explicit("old", UserWarning, np.__file__, 1)
print(json.__file__ if (json := __import__("json")) else 0)
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError:
    traceback.print_exc()
    traceback.print_stack()
from numpy import no_such_name
"""
# student: answers that differ from right ones, points by tests, findings
CODE = {
    "names-files": ({"s-total": NAMES_FILES}, 9, set()),
    "pictures": ({"s-total": PICTURES}, None, None),
    "patched-wire": ({"s-total": PATCHED}, 10, set()),
    "half-characters": ({"s-total": "print('\\ud83d'); raise ValueError('\\ud83d')"}, 9, set()),
    "half-in-an-answer": ({"s-why": "It is so \ud83d."}, 10, set()),
    "brackets": ({"s-why": "[" * 80_000}, 10, set()),
    "quotes": ({"s-why": ">" * 19_000}, 10, set()),
    "lists": ({"s-why": "\n".join("  " * n + "- x" for n in range(150))}, 10, set()),
    "long": ({"s-why": "why " * 60_000}, 10, {"too long", "deleted cell"}),
    "endless": ({"s-total": "while True: pass"}, 9, set()),
    "stubborn": ({"s-total": STUBBORN}, 9, {"stopped or crashed"}),
    "exits": ({"s-total": "import os; os._exit(0)"}, 9, {"stopped or crashed"}),
    "crashes": ({"s-total": "import ctypes; ctypes.string_at(0)"}, 9, {"stopped or crashed"}),
    "leaves": ({"s-total": "import sys; sys.exit()"}, 9, set()),
    "memory": ({"s-total": "hoard = [np.ones(10**7) for _ in range(10**6)]"}, 9, set()),
    "disk": ({"s-total": "open('big', 'wb').write(bytes(10**8))"}, 9, set()),
    "output": ({"s-total": "for _ in range(300): print('x' * 10**5)"}, 9, set()),
    "forks": ({"s-total": "import os\nwhile True: os.fork()"}, 9, None),
    "syntax": ({"s-total": "total = = 3"}, 9, set()),
    "loops-when-called": (
        {
            "s-double": "import time\ndef double(x):\n    while True:\n"
            "        try: time.sleep(9)\n        except BaseException: pass"
        },
        5,
        {"stopped or crashed"},
    ),
    "patches": (
        {"s-double": HOSTILE["sc-stationary"].split("def ")[0] + "double = lambda x: x"},
        5,
        set(),
    ),
    "hijacks": ({"s-total": "get_ipython().run_cell = None; total = 3"}, 6, set()),
    "peeks": ({"s-double": PEEK}, 5, set()),
    "equal-to-all": (
        {"s-total": "class Any(float):\n    def __eq__(self, other): return True\ntotal = Any(1)"},
        9,
        set(),
    ),
    "truthy": ({"s-double": "class Thing: pass\ndouble = lambda x: Thing()"}, 5, set()),
    "nan": ({"s-double": "double = lambda x: np.full(np.shape(x), np.nan)"}, 5, set()),
    "forges": ({"s-total": FORGE}, None, None),
    "floods": ({"s-total": BOMB}, 9, {"stopped or crashed"}),
    "own-data": ({"s-total": "data = np.zeros(3); total = 3.0"}, 10, set()),
    "renames": ({"s-double": "def twice(x):\n    return 2 * x"}, 5, set()),
    "helped": ({"s-total": "import amgd; total = 3"}, 10, {"uses the package"}),
}


def test_a_folder_without_assignments_is_refused(tmp_path) -> None:
    assignment = make(tmp_path / "course")
    path = hand_in(tmp_path / "in", "ann", assignment, answered(assignment))
    path.rename(path.parent.parent / path.name)
    path.parent.rmdir()
    with pytest.raises(ValueError, match=r"holds a folder of an assignment \(1_small\): put"):
        grade.grade(tmp_path / "in", tmp_path / "out", course=tmp_path / "course")


def drop(content: dict, name: str) -> None:
    content["cells"] = [c for c in content["cells"] if c["id"] != name]


def cell(content: dict, name: str) -> dict:
    return next(c for c in content["cells"] if c["id"] == name)


def no_test(content: dict) -> None:
    cell(content, "s-double-check")["source"] = "pass"


def more_points(content: dict) -> None:
    cell(content, "s-double-check")["metadata"]["nbgrader"]["points"] = 1000


def twice(content: dict) -> None:
    copy = dict(cell(content, "s-total"), id="copy", source="total = 3")
    content["cells"].insert(content["cells"].index(cell(content, "s-total")) + 1, copy)
    cell(content, "s-total")["source"] = "total = 0"


def forgotten_ids(content: dict) -> None:
    for number, one in enumerate(content["cells"]):
        one["id"] = f"other-{number}"


def as_text(content: dict) -> None:
    cell(content, "s-double")["cell_type"] = "markdown"
    cell(content, "s-double").pop("outputs")
    cell(content, "s-double").pop("execution_count")


def no_metadata(content: dict) -> None:
    for one in content["cells"]:
        one["metadata"], one["id"] = {}, one["id"] + "-x"


def bad_metadata(content: dict) -> None:
    cell(content, "s-total")["metadata"]["nbgrader"] = ["not", "a", "dictionary"]


def script(content: dict) -> None:
    cell(content, "s-why")["source"] = (
        "![x](https://evil.example/b.png) [y](javascript:alert) [z](https://evil.example)\n\n"
        "<script>alert(1)</script> <img src='http://evil.example/a.png' onerror='alert(2)'>\n"
        "<style>@import 'http://evil.example/c';</style> <svg onload='alert(4)'></svg>"
    )
    cell(content, "s-double")["source"] += (
        "\nfrom IPython.display import HTML, display\ndisplay(HTML('<script>alert(3)</script>'))"
    )


def helper(content: dict) -> None:
    where = content["cells"].index(cell(content, "s-double"))
    extra = {
        "cell_type": "code",
        "id": "mine",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    content["cells"].insert(where, extra | {"source": "TWO = 2"})
    cell(content, "s-double")["source"] = "double = lambda x: TWO * x"


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADU"
    "lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def picture(content: dict) -> None:
    cell(content, "s-why")["source"] = "See ![drawing](attachment:drawing.png)."
    cell(content, "s-why")["attachments"] = {"drawing.png": {"image/png": PIXEL}}


def crlf(content: dict) -> None:
    for one in content["cells"]:
        one["source"] = "".join(one["source"]).replace("\n", "\r\n")


def outputs(content: dict) -> None:
    """Two hundred thousand small outputs: little to store, much to check."""
    one = {"output_type": "stream", "name": "stdout", "text": "x"}
    cell(content, "s-double")["outputs"] = [one] * 200_000


def odd_types(content: dict) -> None:
    content["cells"] += [7, None, {"cell_type": ["x"], "source": {"a": 1}, "metadata": 3, "id": []}]
    cell(content, "s-why")["attachments"] = {
        "a.png": {"image/png": 7},
        "b": [1],
        "c": {"image/png": "%"},
    }


def helper_of_the_package(content: dict) -> None:
    helper(content)
    next(c for c in content["cells"] if c["id"] == "mine")["source"] = (
        "import amgd\nTWO = 2 * len(amgd.__name__) / 4 - 0"
    )


# student: change of the notebook's JSON, points by tests, findings
CHANGED = {
    "no-test": (no_test, 10, {"changed cell"}),
    "more-points": (more_points, 10, set()),
    "deletes-a-test": (lambda c: drop(c, "s-double-hidden"), 10, {"deleted cell"}),
    "deletes-an-answer": (lambda c: drop(c, "s-double"), 5, {"deleted cell"}),
    "deletes-set-up": (lambda c: drop(c, "s-setup"), 10, {"deleted cell"}),
    "reverses": (lambda c: c["cells"].reverse(), 10, set()),
    "twice": (twice, 10, {"cell stands twice"}),
    "lost-ids": (forgotten_ids, 10, set()),
    "answer-as-text": (as_text, 10, set()),
    "no-metadata": (no_metadata, None, {"not a notebook"}),
    "bad-metadata": (bad_metadata, 10, set()),
    "picture": (picture, 10, set()),
    "crlf": (crlf, 10, set()),
    "many-outputs": (outputs, 10, set()),
    "helped-from-aside": (helper_of_the_package, 10, {"uses the package"}),
    "odd-types": (odd_types, 10, set()),
    "script": (script, 10, set()),
    "helper": (helper, 10, set()),
}

# student: what stands where the notebook should be
FILES = {
    "text": b"I am not a notebook",
    "empty": b"",
    "bytes": bytes(range(256)),
    "deep": b"[" * 100_000,
    "list": b"[1, 2]",
    "old": b'{"nbformat": 2, "nbformat_minor": 0, "metadata": {}, "worksheets": []}',
    "no-cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}',
    "many-lists": b"[" + b"[]," * 10**6 + b"[]]",
}
MARK = b"\xef\xbb\xbf"  # what Windows' editors put in front of UTF-8

# kind: answers of an honest student that differ from the reference, points by tests
HONEST = {
    "reference": ({}, 10),
    "by-hand": (
        {"s-double": "def double(x):\n    x += x\n    return x", "s-total": "total = 3"},
        10,
    ),
    "in-lists": (
        {"s-double": "def double(x):\n    return [2 * np.array(row) for row in x]"},
        10,
    ),
    "steps-apart": (
        {
            "s-walker": "class Walker:\n    place = 0\n    def __init__(self, rng):\n"
            "        self.rng = rng\n    def step(self):\n        by = self.rng.choice((-1, 1))\n"
            "        self.place = self.place + by\n        return self.place"
        },
        10,
    ),
    "squares": ({"s-double": "def double(x):\n    return x**2"}, 5),
    "one-too-many": ({"s-total": "total = data.sum() + 1"}, 9),
    "empty": (dict.fromkeys(("s-double", "s-total", "s-walker", "s-why"), ""), 0),
}
# How many hand in: `COURSE_STUDENTS=100 pytest tests/course/test_course_grading.py` is a class.
STUDENTS = int(os.environ.get("COURSE_STUDENTS", "0"))


if not ISOLATED:  # for root, who has no limit on processes, this one would not end
    del CODE["forks"]


def hand_in_attacks(folder: Path) -> build.Assignment:
    """Make the small course, and hand in each attack."""
    assignment = make(folder / "course")
    submissions = folder / "submissions"
    for student, (answers, *_) in CODE.items():
        hand_in(submissions, student, assignment, answered(assignment, answers))
    for student, (change, *_) in CHANGED.items():
        hand_in(submissions, student, assignment, answered(assignment), change)
    for student, content in FILES.items():
        hand_in(submissions, student, assignment, answered(assignment)).write_bytes(content)
    good = hand_in(submissions, "zz-good", assignment, answered(assignment))
    hand_in(submissions, "misnamed", assignment, answered(assignment), name="final (2).ipynb")
    (submissions / "link" / "1_small").mkdir(parents=True)
    (submissions / "link" / "1_small" / "small.ipynb").symlink_to(good)
    (submissions / "link-folder").mkdir()
    (submissions / "link-folder" / "1_small").symlink_to(good.parent)
    (submissions / "link-student").symlink_to(good.parents[1])
    (submissions / "pipe" / "1_small").mkdir(parents=True)
    os.mkfifo(submissions / "pipe" / "1_small" / "small.ipynb")
    (submissions / "nothing").mkdir()
    (submissions / "a-file").write_text("not a folder")
    for name in ("=cmd()", "Müller, Zoë_12345_", b"Jos\xe9"):
        odd = submissions / os.fsdecode(name) / "1_small"
        odd.mkdir(parents=True)
        (odd / "small.ipynb").write_bytes(good.read_bytes())
        (odd / os.fsdecode(b"caf\xe9.txt")).touch()
    marked = hand_in(submissions, "bom", assignment, answered(assignment))
    marked.write_bytes(MARK + marked.read_bytes())
    large = hand_in(submissions, "large", assignment, answered(assignment))
    text = large.read_text().replace('"outputs": []', '"outputs": ["' + "x" * 120 * 2**20 + '"]', 1)
    large.write_text(text)
    rows = (
        ("blank", "", "1_small", "twice", "blank-2.ipynb"),
        ("nothing", "", "1_small", "unreadable", "notes.pdf"),
        ("eve", "Eve", "1_small", "unknown", "eve.ipynb"),
    )
    told = [dict(zip(collect.COLUMNS, row, strict=True)) for row in rows]
    marks.write_table(submissions / "collected.csv", collect.COLUMNS, told)
    marks.save_result(folder / "out", "gone", "1_small", {"state": "graded", "tests": {}})
    marks.write_table(
        submissions / "roster.csv", ("id", "name"), [{"id": "absent", "name": "A. B."}]
    )
    blank = build.nbformat.read(assignment.release, as_version=4)
    hand_in(submissions, "blank", assignment, blank)
    return assignment


OTHERS = 3  # students without a folder: one on the roster only, one unknown, one gone


@pytest.fixture(scope="module")
def attacked(tmp_path_factory) -> Path:
    """A class with each attack, and honest students beside them, graded as a lecturer does it."""
    folder = tmp_path_factory.mktemp("attacked")
    assignment = hand_in_attacks(folder)
    submissions = folder / "submissions"
    present = OTHERS + sum(p.is_dir() for p in submissions.iterdir())
    for n, kind in enumerate(itertools.islice(itertools.cycle(HONEST), max(7, STUDENTS - present))):
        hand_in(submissions, f"{kind}-{n}", assignment, answered(assignment, HONEST[kind][0]))
    options = ["--course", folder / "course", "--out", folder / "out"]
    command = [sys.executable, "-m", "tools.course.grade", submissions, *options]
    command += [] if ISOLATED else ["--without-isolation"]
    done = subprocess.run(command, cwd=build.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def outcome(attacked) -> dict[str, dict]:
    rows = by_student(marks.read_table(attacked / "out" / "grades.csv"))
    for row in rows.values():
        row["findings"] = set()
    for finding in marks.read_table(attacked / "out" / "review.csv"):
        rows[finding["student"]]["findings"].add(finding["what"])
    return rows


def test_the_others_are_graded_as_ever(outcome) -> None:
    assert float(outcome["zz-good"]["by_tests"]) == EVERYTHING
    assert outcome["zz-good"]["findings"] == set()


@pytest.mark.parametrize("student", [*CODE, *CHANGED])
def test_an_attack_gains_nothing(outcome, student) -> None:
    _, points, findings = (CODE | CHANGED)[student]
    row = outcome[student]
    if points is None:
        assert float(row["by_tests"]) < EVERYTHING
    else:
        assert float(row["by_tests"]) == points
    if findings is not None:
        assert row["findings"] == findings
    assert row["of"] == "12.0"


@pytest.mark.parametrize("kind", HONEST)
def test_an_honest_student_among_them_gets_the_points(outcome, kind) -> None:
    rows = [row for s, row in outcome.items() if re.fullmatch(rf"{kind}-\d+", s)]
    assert rows
    assert {float(row["by_tests"]) for row in rows} == {HONEST[kind][1]}
    assert [row["findings"] for row in rows] == [set()] * len(rows)


@pytest.mark.parametrize("student", FILES)
def test_what_is_no_notebook_is_told(outcome, student) -> None:
    assert outcome[student]["findings"] == {"not a notebook"}
    assert float(outcome[student]["points"]) == 0
    assert outcome[student]["waiting"] == "0"


@pytest.mark.parametrize(
    ("student", "points", "findings"),
    [
        ("misnamed", 10, {"wrong name"}),
        ("link", 0, {"not a notebook"}),
        ("link-folder", 0, {"not a file"}),
        ("pipe", 0, {"not a notebook"}),
        ("nothing", 0, {"missing", "no notebook"}),
        ("absent", 0, {"missing"}),
        ("blank", 0, {"handed in twice"}),
        ("eve", 0, {"missing", "not on the roster"}),
        ("gone", 0, set()),
        ("bom", 10, set()),
        ("large", 10, set()),
        ("link-student", 0, {"not a file"}),
        ("cmd", 10, {"odd name", "other files"}),
        ("Muller-Zoe-12345", 10, {"odd name", "other files"}),
        ("Jos", 10, {"odd name", "other files"}),
    ],
)
def test_odd_places(outcome, student, points, findings) -> None:
    (student,) = (s for s in outcome if re.fullmatch(f"{student}(-[0-9a-f]{{6}})?", s))
    assert float(outcome[student]["by_tests"]) == points
    assert outcome[student]["findings"] == findings


def test_no_row_is_missing(outcome, attacked) -> None:
    folders = [p for p in (attacked / "submissions").iterdir() if p.is_dir() or p.is_symlink()]
    assert len(outcome) == len(folders) + OTHERS
    assert not STUDENTS or len(outcome) == STUDENTS
    assert len(list((attacked / "out" / "feedback").rglob("*.html"))) == len(outcome)
    states = {s: row["state"] for s, row in outcome.items() if row["state"] != "graded"}
    special = {"nothing": "unreadable", "absent": "missing", "eve": "unknown"}
    special |= {"gone": "graded, no folder", "blank": "graded, twice"}
    unreadable = {*FILES, "no-metadata", "link", "link-folder", "link-student", "pipe"}
    assert states == special | dict.fromkeys(unreadable, "unreadable")


def test_a_pasted_picture_is_shown(attacked) -> None:
    for name in ("feedback/picture/1_small/small.html", "to_read.html"):
        assert f"data:image/png;base64,{PIXEL}" in (attacked / "out" / name).read_text("utf8")


def test_a_page_says_why_there_are_no_points(attacked) -> None:
    page = (attacked / "out" / "feedback" / "deep" / "1_small" / "small.html").read_text("utf8")
    assert "not a notebook: RecursionError" in page
    page = (attacked / "out" / "feedback" / "brackets" / "1_small" / "small.html").read_text("utf8")
    assert f"<pre>{'[' * 80_000}</pre>" in page


def test_an_empty_answer_waits_for_nobody(outcome) -> None:
    assert outcome["blank"]["waiting"] == "0"
    assert outcome["zz-good"]["waiting"] == "1"


def test_feedback_carries_no_script_of_a_student(attacked) -> None:
    page = (attacked / "out" / "feedback" / "script" / "1_small" / "small.html").read_text("utf8")
    assert loads(page) == ["../../mathjax.js"]
    body = page.partition("</head>")[2]  # the head says what may be loaded
    assert not re.search(r"onerror|onload|javascript:|@import|evil\.example", body)
    assert "<script>alert" not in page
    assert "expected_by_the_hidden_test" not in page


def test_feedback_names_no_place_of_this_machine(attacked) -> None:
    """Not in the traceback of a library, of IPython or of the worker, nor in a warning."""
    page = (attacked / "out" / "feedback" / "names-files" / "1_small" / "small.html").read_text()
    for shown in ("numpy/linalg", "IPython/core", "json/__init__.py", "worker.py", "no_such_name"):
        assert shown in page
    assert "numpy/__init__.py:1: UserWarning" in page
    for place in (build.ROOT, np.__path__[0].removesuffix("/numpy"), json.__path__[0][:-5]):
        for path in (attacked / "out" / "feedback").rglob("*.html"):
            assert str(place) not in path.read_text("utf8"), path


def test_large_outputs_are_cut(attacked) -> None:
    pages = list((attacked / "out" / "feedback").rglob("*.html"))
    assert len(pages) > 30
    assert max(p.stat().st_size for p in pages) < 40_000_000


def test_nothing_is_left_behind(attacked) -> None:
    """No process of a student outlives the grading."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline") if sys.platform == "linux" else []:
        try:
            command = entry.read_bytes().decode("utf8", "replace")
        except OSError:
            continue
        # The last argument is the limit of a cell, which is that of no other grading.
        if "tools.course.worker" in command and f", '{CELL_SECONDS}']" in command:
            found.append(command)
    assert found == []
