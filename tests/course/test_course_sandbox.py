"""What a student's process can reach, and what may come back from it."""

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections import deque
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cloudpickle", reason="the coursework needs the extra 'teach'")
pytest.importorskip("resource", reason="grading needs process limits (Linux, macOS)")

import small_course

from tools.course import apart, marks, tester, wire
from tools.course.sandbox import FULL, Limits, Sandbox, isolation
from tools.course.sandbox import _namespaces as namespaces

ROOT = Path(__file__).resolve().parents[2]
ISOLATED = isolation() == FULL
isolated_only = pytest.mark.skipif(not ISOLATED, reason="this machine cannot isolate processes")
SMALL = Limits(
    notebook_seconds=120, cell_seconds=20, memory_gigabytes=2, processes=40, file_megabytes=5
)


@pytest.fixture(scope="module")
def link():
    link = tester.Link(SMALL, ISOLATED, slot=1)
    yield link
    link.close()


def shown(link: tester.Link, code: str) -> str:
    """What a cell of a student prints, or how it fails."""
    link.deadline = time.monotonic() + 100
    outputs = link.run(code)
    return "".join(o.get("text", "") + o.get("evalue", "") + o.get("ename", "") for o in outputs)


# ---------------------------------------------------------------- reach


@isolated_only
@pytest.mark.parametrize(
    "path",
    [
        ROOT / "notebooks",
        ROOT / "tests",
        ROOT / "tools" / "course" / "grade.py",
        ROOT / ".git",
        Path("/etc/passwd"),
        Path("/var"),
        Path.home() / ".bashrc",
    ],
    ids=lambda p: p.name,
)
def test_the_graders_files_do_not_exist(link, path) -> None:
    assert shown(link, f"import os; print(os.path.lexists({str(path)!r}))") == "False\n"


@isolated_only
@pytest.mark.parametrize(
    "code",
    [
        "open('/sandbox/tools/course/worker.py', 'a')",
        "open('/new', 'w')",
        "import amgd; open(amgd.__file__, 'a')",
        "import numpy; open(numpy.__file__, 'a')",
        "import os; os.mkdir('/usr/new')",
        "import os; os.setuid(1)",
        "import os; os.chroot('/tmp')",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0, 'refused'",
        "import subprocess; subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp'], check=True)",
        "import os; os.kill(1, 0) if os.getpid() != 1 else os.kill(2, 0)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9', timeout=1)",
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)",
    ],
)
def test_it_cannot(link, code) -> None:
    assert any(
        word in shown(link, code)
        for word in ("Error", "refused", "not permitted", "No such process")
    )


@isolated_only
def test_it_sees_its_own_processes_only(link) -> None:
    code = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
    assert int(shown(link, code)) <= 3


@isolated_only
def test_the_graders_environment_is_not_passed_on(link, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "x")
    other = tester.Link(SMALL, ISOLATED, slot=2)
    try:
        assert shown(other, "import os; print('SECRET_OF_THE_GRADER' in os.environ)") == "False\n"
    finally:
        other.close()


@isolated_only
def test_a_project_below_tmp_is_isolated_too() -> None:
    """The sandbox has a /tmp of its own; its Python may lie below that of the host."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        venv.create(f"{place}/venv", with_pip=False)
        python = f"{place}/venv/bin/python"
        report = (
            "import os, sys, tempfile; os.chdir(tempfile.gettempdir()); open('notes', 'w').close();"
            "assert sys.prefix != sys.base_prefix and not os.access(sys.prefix, os.W_OK);"
            "print(sorted(os.listdir()))"
        )
        folder = Path(place, "root")
        folder.mkdir()
        job = {"folder": str(folder), "uid": 60000, "limits": asdict(SMALL), "isolated": True}
        job["run"] = [python, "-I", "-c", report]
        script = str(ROOT / "tools/course/sandbox.py")
        done = subprocess.run(
            [*namespaces(), python, "-I", script, json.dumps(job)], capture_output=True, text=True
        )
        assert done.stdout == f"{sorted([Path(place).name, 'notes'])}\n", done.stderr


def test_what_a_course_needs_works(link) -> None:
    code = (
        "import matplotlib.pyplot as plt, scipy.linalg, gymnasium\n"
        "from amgd import markov\n"
        "plt.plot([0, 1]); open('notes.txt', 'w').write('mine')\n"
        "print(markov.de_bruijn(2).n_states)"
    )
    outputs = link.run(code)
    kinds = [o["output_type"] for o in outputs]
    assert kinds == ["stream", "display_data"], outputs
    assert outputs[0]["text"] == "4\n"
    assert "image/png" in outputs[1]["data"]


def test_closing_ends_every_process() -> None:
    sandbox = Sandbox(SMALL, ISOLATED, slot=3)
    wire.receive(sandbox.socket, time.monotonic() + 60)
    code = "import subprocess; subprocess.Popen(['sleep', '12345'])"
    wire.send(sandbox.socket, {"do": "cell", "what": code})
    assert wire.receive(sandbox.socket, time.monotonic() + 30)["error"] is None
    sandbox.close()
    assert not sandbox.folder.exists()
    deadline = time.monotonic() + 10
    while left := running("12345"):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def running(word: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline") if sys.platform == "linux" else []:
        try:
            arguments = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in arguments:
            found.append(str(entry))
    return found


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        10**30,
        2.5,
        float("inf"),
        1 + 2j,
        "text",
        b"bytes",
        [1, [2.0, "x"]],
        (1, (2,)),
        {"a": (1, 2), 3: None},
        {1, 2},
        deque([1.0, (2,)]),
        np.float32(1.5),
        np.bool_(True),
        np.arange(6).reshape(2, 3),
        np.array([["a", "bc"]]),
        np.array(5.0),
        np.zeros((0, 3)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_plain_values_arrive_as_they_are(value) -> None:
    tree = json.loads(json.dumps(wire.encode(value, stand_in=list)))
    back = wire.decode(tree, stand_in=list)
    assert type(back) is type(value)
    assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value
    if isinstance(value, np.ndarray):
        assert (back.dtype, back.shape) == (value.dtype, value.shape)


def test_a_subclass_does_not_pass_as_what_it_inherits() -> None:
    class Liar(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    for value in (Liar(1), type("Rows", (np.ndarray,), {})((2,)), type("Row", (list,), {})([1])):
        assert wire.encode(value, stand_in=lambda v: [7, "kept"]) == {"object": [7, "kept"]}
    assert wire.encode(np.array([1, None]), stand_in=lambda v: [0, "kept"]) == {
        "object": [0, "kept"]
    }


DATA = base64.b64encode(b"\0" * 16).decode()


@pytest.mark.parametrize(
    "tree",
    [
        [1, 2],
        {},
        {"list": [1], "dict": []},
        {"unknown": 1},
        {"list": 3},
        {"dict": [[1]]},
        {"dict": [[{"list": []}, 1]]},
        {"set": [{"list": []}]},
        {"complex": ["a", "b"]},
        {"array": ["|O", [2], DATA]},
        {"array": ["<f8,<f8", [1], DATA]},
        {"array": ["<f8", [3], DATA]},
        {"array": ["<f8", [-1, 0], DATA]},
        {"array": ["<f8", [10**9, 10**9], DATA]},
        {"array": ["no type", [2], DATA]},
        {"array": ["<f8", [2], "no data!"]},
        {"array": [1]},
        {"object": None},
        {"bytes": 3},
    ],
    ids=str,
)
def test_forged_values_are_refused(tree) -> None:
    def stand_in(body):
        number, kind = body
        return int(number), str(kind)

    with pytest.raises(wire.WireError):
        wire.decode(tree, stand_in)


def test_deep_values_are_refused_on_both_sides() -> None:
    value: list = []
    tree: dict = {"list": []}
    for _ in range(100):
        value, tree = [value], {"list": [tree]}
    with pytest.raises(ValueError, match="nested"):
        wire.encode(value, stand_in=list)
    with pytest.raises(wire.WireError, match="nested"):
        wire.decode(tree, stand_in=list)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (struct.pack(">I", 2**32 - 1), "limit"),
        (struct.pack(">I", 4) + b"\xff\xfe\xfd\xfc", "not readable"),
        (struct.pack(">I", 2) + b"[]", "not a message"),
        (struct.pack(">I", 60_000) + b"[" * 60_000, "not readable"),
        (struct.pack(">I", 10) + b"{", "time is up"),
        (b"", "time is up"),
    ],
)
def test_forged_frames_are_refused(frame, says) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        threading.Thread(target=theirs.sendall, args=(frame,)).start()
        with pytest.raises(wire.WireError, match=says):
            wire.receive(ours, time.monotonic() + 0.5)


# ---------------------------------------------------------------- tests that ask


SPACE = {"np": np, "__name__": "__main__"}
OBJECTS = """
import numpy as np
class Walker:
    def __init__(self, rng): self.rng, self.place = rng, 0
    def step(self):
        self.place += int(self.rng.choice([-1, 1]))
        return self.place
    def path(self): return [self, (self,)]
class Rows(list): pass
endless = iter(int, 1)
def walk(rng, n): return rng.normal(size=n)
def branch(rng, n): return rng.spawn(1)[0].normal(size=n)
def apply(f, x): return f(x)
def refuse(x): raise ValueError(f"bad {x}")
def odd(base): raise type("Own", (base,), {})("own")
def leave(): raise SystemExit(1)
def fill(x): x[:] = 9; return x
rows = Rows([1, 2]); nested = Rows([Rows([1, 2]), (3, 4.5)]); table = {"a": [1.0]}
thing = object(); log = np.log
"""


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("w = Walker(np.random.default_rng(1)); w.step(); assert abs(w.place) == 1", None),
        ("w = Walker(np.random.default_rng(1)); assert w.path()[1][0].step() in (-1, 1)", None),
        ("assert [r for r in rows] == [1, 2] and len(rows) == 2 and rows[1] == 2", None),
        ("assert np.asarray(nested).tolist() == [[1, 2], [3, 4.5]]", None),
        (
            "np.asarray(x for x in rows); np.asarray(endless, float)",
            "not <an object of type callable_iterator>",
        ),
        ("assert table == {'a': [1.0]}", None),
        ("assert np.isclose(log(np.e), 1)", None),
        ("assert apply(lambda x: 3 * x, 2) == 6", None),
        ("def triple(x):\n    return 3 * x\nassert apply(triple, 2) == 6", None),
        ("assert apply(Walker, None).place == 0", None),
        (
            "a, b = (np.random.default_rng(5) for _ in range(2))\n"
            "assert np.array_equal(walk(a, 3), b.normal(size=3))\n"
            "assert a.normal() == b.normal()",
            None,
        ),
        (
            "a, b = (np.random.default_rng(5) for _ in range(2))\n"
            "for child in b.spawn(3):\n"
            "    assert np.array_equal(branch(a, 3), child.normal(size=3))",
            None,
        ),
        ("x = np.zeros(2); y = fill(x); assert y[0] == 9 and x[0] == 0", None),
        ("try:\n    refuse(3)\nexcept ValueError as e:\n    assert str(e) == 'bad 3'", None),
        ("odd(Exception)", "Exception: stops with an error: own"),
        ("try:\n    odd(ValueError)\nexcept ValueError as e:\n    assert str(e) == 'own'", None),
        ("leave()", "RuntimeError: stops with an error: 1"),
        ("assert thing", "not <an object of type object>"),
        ("assert thing == 1", "not <an object of type object>"),
        ("assert thing != 1", "not <an object of type object>"),
        ("float(thing)", "not <an object of type object>"),
        ("np.asarray(thing, float)", "not <an object of type object>"),
        ("assert thing < 1", "not <an object of type object>"),
        ("Walker(None).nothing", "nothing"),
        ("assert undefined == 1", "undefined is not defined"),
        ("assert 1 == 2, 'no'", "AssertionError: no"),
        ("assert __import__('os').getpid() != 1", None),
    ],
)
def test_a_test_asks_the_students_process(link, code, says) -> None:
    assert shown(link, OBJECTS) == ""
    outputs = tester.run_test(code, "a-check", SPACE, link)
    said = [f"{o['ename']}: {o['evalue']}" for o in outputs]
    assert said == [] if says is None else says in said[0]


ANSWERS = """
import numpy as np
def none(x): return None
def text(x): return "two"
def thing(x): return object()
def short(x): return np.zeros(1)
def other(x): return np.zeros(2)
def right(x): return [3, 5]
def stub(x): raise NotImplementedError("missing: your answer comes here")
def typo(x): return undefined + x
def strict(x):
    assert len(x) == 3
def slow(x):
    import os
    os._exit(1)
"""


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("right", None),
        ("undefined", "missing"),
        ("stub", "missing"),
        ("none", "missing"),
        ("typo", "stops with an error"),
        ("strict", "stops with an error"),
        ("slow", "stops with an error"),
        ("text", "wrong type"),
        ("thing", "wrong type"),
        ("short", "wrong shape"),
        ("other", "wrong elsewhere"),
    ],
)
def test_a_failed_test_says_at_which_level(link, answer, level) -> None:
    assert shown(link, ANSWERS) == ""
    code = f"same(0, 1)\nfound = {answer}(np.ones(2))\nassert same(found, [3.0, 5.0]), 'no'"
    hidden = f"### BEGIN HIDDEN TESTS\nfrom tools.course.same import same\n{code}"
    outputs = tester.run_test(hidden, "a-hidden", SPACE, link)
    assert [o["evalue"].partition(":")[0] for o in outputs] == ([level] if level else [])
    visible = f"assert {answer}(np.ones(2))[0] == 3, 'wrong value here: three was expected'"
    outputs = tester.run_test(visible, "a-check", SPACE, link)
    here = {"wrong elsewhere": "wrong value here", "wrong shape": "wrong value here"}
    here |= {"text": "wrong value here", "none": "wrong type"}
    expected = here.get(answer, here.get(level or "", level))
    assert [o["evalue"].partition(":")[0] for o in outputs] == ([expected] if level else [])


def test_an_assertion_that_compares_nothing_itself_says_elsewhere(link) -> None:
    code = "### BEGIN HIDDEN TESTS\nfrom tools.course.same import same\n"
    code += "assert not same([1], 1.0)\nassert same(1, 1.0)\nassert 1 == 2, 'no'"
    (output,) = tester.run_test(code, "a-hidden", SPACE, link)
    assert output["evalue"] == "wrong elsewhere: no"


def test_tests_leave_nothing_for_each_other(link) -> None:
    space = dict(SPACE)
    assert tester.run_test("leftover = 1", "a", space, link) == []
    assert "leftover" not in space


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("f(x)", ["f", "x"]),
        ("x = 1\nf(x)", ["f"]),
        ("import numpy as np\nnp.sum(x)", ["x"]),
        ("[g(i) for i in range(3)]", ["g"]),
        ("def h(a):\n    return a + b\nh(c)", ["b", "c"]),
        ("(lambda q: q * k)(2)", ["k"]),
        ("class A:\n    y = z\nA()", ["z"]),
        ("for i, j in pairs:\n    assert i == j", ["pairs"]),
        ("with open(name) as file: file.read()", ["name"]),
    ],
)
def test_names_that_a_test_needs(code, names) -> None:
    assert tester.names_in(code) == names


def test_a_worker_that_ends_is_replaced() -> None:
    link = tester.Link(SMALL, ISOLATED, slot=4)
    try:
        assert shown(link, "kept = 41; import os") == ""
        assert "has ended" in shown(link, "os._exit(3)")
        assert shown(link, "print(kept + 1)") == "42\n"
        old = tester.run_test("assert die()", "t", SPACE, link)
        assert "not defined" in old[0]["evalue"]
        assert shown(link, "die = lambda: os._exit(1)") == ""
        assert "has ended" in tester.run_test("die()", "t", SPACE, link)[0]["evalue"]
        assert tester.run_test("assert kept == 41", "t", SPACE, link) == []
        assert len(link.trouble) == 2
    finally:
        link.close()


def test_after_the_last_second_nothing_runs() -> None:
    link = tester.Link(SMALL, ISOLATED, slot=5)
    try:
        link.deadline = time.monotonic()
        said = [link.run(code)[0]["evalue"] for code in ("x = 1", "x = 2")]
        assert said == ["time is up", "the notebook was stopped before this cell"]
    finally:
        link.close()


# ---------------------------------------------------------------- processes of the grader itself


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        (time.sleep, (60,), "the time is up"),
        (bytearray, (10**11,), "the memory is used up"),
        (os._exit, (3,), "the process has ended (code 3)"),
        (os.abort, (), "the process has ended (SIGABRT)"),
        (json.loads, ("[" * 10**5,), "RecursionError"),
        (json.loads, ("{",), "JSONDecodeError"),
        ("x".__mul__, (10**8,), "the process has ended"),
        (open, ("/nowhere/\udce9",), "FileNotFoundError"),
    ],
    ids=["time", "memory", "exit", "crash", "depth", "error", "size", "name"],
)
def test_whatever_happens_apart_is_told_in_words(function, arguments, says) -> None:
    seconds = 2 if function is time.sleep else 60
    with pytest.raises(apart.Failed, match=re.escape(says)):
        apart.call(function, *arguments, seconds=seconds, gigabytes=2)


def test_an_answer_from_apart_arrives() -> None:
    assert apart.call(divmod, 17, 5, seconds=60, gigabytes=2) == [3, 2]


# ---------------------------------------------------------------- the grader is killed

GRADER = """
import sys
from pathlib import Path
from tools.course import grade
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    grade.grade(folder / "in", folder / "out", 1, sys.argv[2] == "True", folder / "course")
"""


@pytest.fixture
def place():
    """A folder with a short name: the path of a socket has at most a hundred characters."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process outlives its parent")
@pytest.mark.parametrize("how", [signal.SIGHUP, signal.SIGKILL])
def test_a_killed_grader_leaves_nothing_and_goes_on(tmp_path, place, how) -> None:
    assignment = small_course.make(tmp_path / "course")
    waits = {"s-total": "import subprocess\nsubprocess.run(['sleep', '54321'])"}
    for student, answers in (("ann", {}), ("ben", waits)):
        notebook = small_course.answered(assignment, answers)
        small_course.hand_in(tmp_path / "in", student, assignment, notebook)
    script = tmp_path / "run.py"
    script.write_text(GRADER)
    environment = os.environ | {"TMPDIR": str(place), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(tmp_path), str(ISOLATED)]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    wait_until(lambda: running("54321") or run.poll(), "the answer that waits is never run")
    assert run.poll() is None
    assert list(place.iterdir())
    run.send_signal(how)
    run.wait()
    wait_until(lambda: not running("54321"), "a student's process is left")
    wait_until(lambda: not list(place.glob("*")), "a folder is left")
    first = (tmp_path / "out" / "autograded" / "ann" / "1_small" / "small.ipynb").stat()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    rows = {r["student"]: r for r in marks.read_table(tmp_path / "out" / "grades.csv")}
    assert [float(rows[s]["by_tests"]) for s in ("ann", "ben")] == [10, 9]
    again = (tmp_path / "out" / "autograded" / "ann" / "1_small" / "small.ipynb").stat()
    assert first.st_mtime_ns == again.st_mtime_ns, "what is graded is not run again"
    assert not list(place.glob("*"))


def wait_until(holds, says: str, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, says
        time.sleep(0.1)
