"""The command amgd: every option, every error, and what signals and terminals make of it."""

import errno
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import joblib.externals.loky.process_executor as loky
import numpy as np
import pytest
from commands import PROGRAM, amgd, refused

from amgd import __version__
from amgd.experiments import checkpoints, cli, progress, records, reruns, runner
from amgd.experiments.experiment import from_toml
from amgd.experiments.named import EXPERIMENTS, PRESETS, matching, named
from amgd.experiments.provenance import surroundings
from amgd.experiments.records import MANIFEST, Record
from amgd.reinforce.training import Trainer

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("list", "run", "status", "figure", "table", "check", "merge", "repair")

# Short rows and many of them: time enough for a signal when each is followed by a checkpoint.
LONG = """
kind = "reinforce"
variants = ["plain"]
seeds = 2
[training]
environment = "CartPole-v0"
hidden = [2]
iterations = 150
batch = 1
evaluation_episodes = 1
horizon = 5
"""


@pytest.fixture
def long(tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    return path


def whole_plan(spec):
    """The rows of each run that a record of a specification holds at its end."""
    return progress.planned_rows(spec, spec.variants, range(spec.seeds))


# --- help -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_a_sentence_examples_exit_codes_and_every_option(command):
    text = amgd(command, "--help").out
    for part in (f"Usage: amgd {command}", "Examples:", f"amgd {command}", "Exit codes:"):
        assert part in text
    assert amgd(command, "-h").out == text
    sentence = text.split("\n\n")[1].strip()
    assert sentence.endswith(".")
    assert sentence in amgd("--help").out  # not cut off in the list of commands


def test_help_of_the_program():
    text = amgd("--help").out
    for code in ("0", "1", "2", "3", "130"):
        assert re.search(rf"^ +{code}  +\w", text, re.M)
    assert amgd(code=2).err + amgd(code=2).out == text  # no command: what is there to choose from


def test_version():
    assert amgd("--version").out == f"amgd {__version__}\n"


def test_entry_point_and_presets(monkeypatch, capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, name = project["scripts"]["amgd"].split(":")
    monkeypatch.setattr(sys, "argv", ["amgd", "--version"])
    with pytest.raises(SystemExit, match="0"):
        getattr(importlib.import_module(module), name)()
    assert capsys.readouterr().out == f"amgd {__version__}\n"
    assert tuple(cli.Preset) == PRESETS


def test_help_waits_for_no_large_package():
    code = "import sys, amgd.experiments.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"torch", "matplotlib", "scipy", "joblib", "tqdm"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("arguments", [("nonsense",), ("run",), ("run", "figure1", "--nonsense")])
def test_misspelt_commands_are_refused(arguments):
    assert "Usage" in refused(*arguments, code=2)


# --- list -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("preset", PRESETS)
def test_list_names_every_experiment_with_its_sizes(preset):
    text = amgd("list", "--preset", preset).out
    for name in EXPERIMENTS:
        (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
        spec = named(name, preset)
        assert f"{len(spec.variants)} variants, {spec.seeds} seeds" in line
        sizes = (
            [spec.episodes] if "grid" in name else [spec.training.iterations, spec.training.batch]
        )
        assert all(str(size) in line for size in sizes)
    assert f"preset {preset}" in text
    assert all(one in text for one in PRESETS)


def test_list_shows_the_paper_by_default():
    assert amgd("list").out == amgd("list", "--preset", "paper").out


@pytest.mark.parametrize("preset", [None, "smoke"])
@pytest.mark.parametrize("name", ["figure1-grid50", "figure3-ant"])
def test_list_prints_a_specification(name, preset):
    text = amgd("list", "--toml", name, *(["--preset", preset] if preset else [])).out
    assert from_toml(text) == named(name, preset or "paper")


def test_list_needs_one_panel_for_a_specification():
    assert "figure1-grid10, figure1-grid50" in refused("list", "--toml", "figure1", code=2)
    assert "got 'figure9'" in refused("list", "--toml", "figure9", code=2)


def test_a_reader_that_has_seen_enough(made):
    """`amgd list | head -1` has done what was asked; a check that was cut short has not."""
    commands = {("list",): 0, ("status",): 0, ("table", "figure1-grid10-smoke"): 0,
                ("check", "figure1-grid10-smoke", "--variants", "plain"): 1}  # fmt: skip
    for command, code in commands.items():
        out = [] if command == ("list",) else ["--out", str(made[0])]
        process = subprocess.Popen([*PROGRAM, *command, *out], stdout=-1, stderr=-1, text=True)
        process.stdout.close()
        message = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=120) == code, (command, message)
        assert message == "amgd: standard output is closed; what is recorded stays\n" * code


# --- run ------------------------------------------------------------------------------------------
def test_run_makes_records_and_tells_how_far_it_is(made):
    out, done = made
    for name in ("figure1-grid10", "figure2-cartpole"):
        record = Record(out / f"{name}-smoke")
        assert set(record.files) == set(whole_plan(record.spec))
        assert record.spec == named(name, "smoke")
        record.verify()
        runs = len(record.files)
        assert f"{record.path}: {runs} runs, digest {record.digest[:16]}\n" in done.out
        lines = [line for line in done.err.splitlines() if line.startswith(f"{name}-smoke: ")]
        # One at the start and one for each run, in order.
        assert [int(line.split(": ")[1].split()[0]) for line in lines] == list(range(runs + 1))
        assert all(re.search(r", about [\w ]+ left, [\w.-]+ recorded$", x) for x in lines[1:-1])
        assert lines[-1].split(", ")[0].endswith(f"{runs} of {runs} runs")
        assert " left" not in lines[-1]
    assert "\r" not in done.out + done.err
    assert len(done.out.splitlines()) == 2


def test_run_of_a_complete_record_changes_nothing(made):
    folder = made[0] / "figure1-grid10-smoke"

    def everything():
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    before = everything()
    done = amgd("run", "figure1-grid10", "--preset", "smoke", "--out", made[0])
    assert done.err == f"figure1-grid10-smoke: 15 of 15 runs are in {folder}\n"
    assert Record(folder).digest[:16] in done.out
    assert everything() == before


def test_run_of_a_figure_runs_its_panels(tmp_path):
    amgd("run", "figure1", "--preset", "smoke", "--variants", "plain", "--jobs", 1,
         "--out", tmp_path)  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figure1-grid10-smoke",
        "figure1-grid50-smoke",
    ]


@pytest.mark.parametrize(
    ("options", "seeds", "variants"),
    [
        (("--seeds", "0-1", "--variants", "matched"), (0, 1), {"matched"}),
        (("--seeds", "2", "--variants", "plain, matched"), (2,), {"plain", "matched"}),
        (("--seeds", "2,0", "--variants", "plain"), (0, 2), {"plain"}),
        (("--seeds", " 0 , 1-2", "--variants", "plain"), (0, 1, 2), {"plain"}),
    ],
)
def test_run_parts(tmp_path, options, seeds, variants):
    done = amgd("run", "figure1-grid10", "--preset", "smoke", "--jobs", 1, "--out", tmp_path,
                *options)  # fmt: skip
    record = Record(tmp_path / "figure1-grid10-smoke")
    assert {v: record.seeds(v) for v in record.spec.variants if record.seeds(v)} == dict.fromkeys(
        variants, seeds
    )
    assert f"0 of {len(seeds) * len(variants)} runs" in done.err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seeds", "", "numbers and ranges"),
        ("--seeds", "a", "got 'a'"),
        ("--seeds", "2-1", "got '2-1'"),
        ("--seeds", "0,,1", "numbers and ranges"),
        ("--seeds", "-1", "numbers and ranges"),
        ("--seeds", "0-3", "got 3, which the specification does not have; expected some of 0-2"),
        ("--seeds", "0-9999999999999", "got 9999999999999, which"),  # at once, no list of them
        ("--variants", "plain,theorem1", "got 'theorem1'"),
        ("--variants", "", "expected some of plain, accelerated"),
        ("--jobs", "0", "got 0, expected 1, 2"),
        ("--jobs", "-2", "got -2"),
        ("--jobs", "many", "integer"),
        ("--checkpoint-seconds", "-1", "0"),
        ("--preset", "large", "large"),
    ],
)
def test_run_refuses_options(tmp_path, option, value, message):
    error = refused("run", "figure1-grid10", "--preset", "smoke", "--out", tmp_path / "r",
                    option, value, code=2)  # fmt: skip
    assert message in " ".join(error.split())
    assert option in error
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ("list", "merge")])
def test_unknown_names_are_refused(tmp_path, command):
    error = refused(command, "figure9", "--out", tmp_path, code=2)
    assert "got 'figure9'" in error
    assert "figure3-ant" in error
    assert (f"a record in {tmp_path}" in " ".join(error.split())) == (command != "run")


def test_records_go_to_results_even_beside_those_of_the_book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book" / "results").mkdir(parents=True)
    amgd("run", "figure1-grid10", "--preset", "smoke", "--variants", "plain", "--jobs", 1)
    assert (tmp_path / "results" / "figure1-grid10-smoke" / MANIFEST).exists()
    assert list((tmp_path / "book" / "results").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "preset", "folder", "asked_for"),
    [
        ((), "paper", "figure1-grid10", {}),
        (("--preset", "paper", "--jobs", "3"), "paper", "figure1-grid10", {"jobs": 3}),
        (("--preset", "book", "--jobs", "1"), "book", "figure1-grid10-book", {"jobs": 1}),
        (("--checkpoint-seconds", "0.5"), "paper", "figure1-grid10", {"checkpoint_seconds": 0.5}),
        (("--accept-changed",), "paper", "figure1-grid10", {"changed": "accept"}),
        (("--restart-changed",), "paper", "figure1-grid10", {"changed": "restart"}),
    ],
)
def test_what_the_runner_is_asked(tmp_path, monkeypatch, options, preset, folder, asked_for):
    asked = []

    def record(spec, path, *, variants, seeds, on_progress, **others):
        asked.append((spec, path, variants, seeds, others))
        return 1 / 0

    monkeypatch.setattr(runner, "record", record)
    with pytest.raises(AssertionError, match="division by zero"):  # a fault is not hidden
        amgd("run", "figure1-grid10", "--out", tmp_path, *options)
    spec = named("figure1-grid10", preset)
    seeds = list(range(spec.seeds))
    others = {"jobs": -1, "checkpoint_seconds": 30.0, "changed": "refuse"} | asked_for
    assert asked == [(spec, tmp_path / folder, list(spec.variants), seeds, others)]


def test_own_specification(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = LONG.replace('"plain"', '"plain", "ghadimi_lan", "matched"')
    text = text.replace("seeds = 2", "seeds = 3").replace("iterations = 150", "iterations = 5")
    Path("mine.toml").write_text(text)
    assert "mine: nothing is recorded" in amgd("status", "mine.toml").out
    amgd("run", "mine.toml", "--jobs", 1)
    record = Record("results/mine")
    assert record.spec == from_toml(text)
    assert set(record.files) == set(whole_plan(record.spec))
    assert amgd("status", "mine.toml").out.startswith("mine: 9 of 9 runs")
    assert "SGD with matched steps" in amgd("table", "mine.toml").out
    assert amgd("table", "mine").out == amgd("table", "mine.toml").out  # by the record's name
    amgd("check", "mine.toml", "--rows", 2)
    amgd("figure", "mine.toml")
    assert Path("mine.svg").exists()

    Path("mine.toml").write_text(text.replace("iterations = 5", "iterations = 6"))
    error = refused("run", "mine.toml", "--jobs", 1)
    assert "belongs to another specification" in error
    assert "training.iterations was 5, is 6" in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = ", "must be TOML"),
        ('kind = "else"', "kind must be one of"),
        ('kind = "gridworld"\nn = 5', "not complete"),
        ('kind = "gridworld"\nn = 5\nepisodes = 3\nspeed = 1', "no field 'speed'"),
        ('kind = "gridworld"\nn = "5"\nepisodes = 3', "n must be an integer"),
        ("kind = '\udcff'", "utf-8"),
    ],
)
def test_bad_specifications_are_refused(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    error = refused("run", path, "--out", tmp_path)
    assert message in error
    assert str(path) in error


def test_files_of_specifications_are_refused(tmp_path, long):
    assert f"{tmp_path}/no.toml: No such file" in refused("run", tmp_path / "no.toml")
    assert "--preset" in refused("run", long, "--preset", "smoke", code=2)
    assert "--preset" in refused("table", long, "--preset", "smoke", code=2)
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "long.toml"
    twin.write_text(LONG.replace("150", "3"))
    assert "the same record" in refused("run", long, twin, "--out", tmp_path, code=2)


def test_a_run_that_diverges_is_told_and_can_be_checked(tmp_path):
    path = tmp_path / "wild.toml"
    path.write_text(LONG.replace("iterations = 150", "iterations = 4\nlr = 1e308"))
    done = amgd("run", path, "--jobs", 1, "--out", tmp_path)
    assert re.search(r"^wild: 1 of 2 runs, .*plain-seed0. diverged$", done.err, re.M)
    assert "wild: plain-seed00 diverged at iteration" in done.err
    assert "2 diverged" in amgd("status", path, "--out", tmp_path).out
    assert "plain-seed00 is equal" in amgd("check", path, "--out", tmp_path).out


def test_errors_of_the_runner_are_lines(tmp_path):
    path = tmp_path / "none.toml"
    text = LONG.replace('"plain"', '"tuned"').replace("seeds = 2", "seeds = 2\ntuning_seeds = 1")
    path.write_text(f"{text}[rates]\ntuned = [1e308]")
    assert "no rate of tuned is stable" in refused("run", path, "--jobs", 1, "--out", tmp_path)


# --- disks and processes that fail ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.ENOSPC, "free some space and give the same command again"),
        (errno.EDQUOT, "free some space"),
        (errno.EROFS, "--out"),
        (errno.EACCES, "--out"),
        (errno.EIO, ""),
    ],
)
def test_disks_that_fail(tmp_path, monkeypatch, number, cure):
    command = ("run", "figure1-grid10", "--preset", "smoke", "--jobs", 1, "--out", tmp_path)
    write, folder = records.write_atomic, tmp_path / "figure1-grid10-smoke"

    def failing(path, content):
        if path.name.startswith("matched"):
            raise OSError(number, os.strerror(number), str(path))
        write(path, content)

    monkeypatch.setattr(records, "write_atomic", failing)
    error = refused(*command)
    assert f"amgd: {folder}/matched-seed00.csv: {os.strerror(number)}" in error
    assert cure in error
    monkeypatch.undo()
    assert "6 of 15 runs are in" in amgd(*command).err  # nothing is lost
    assert set(Record(folder).files) == set(whole_plan(named("figure1-grid10", "smoke")))


def test_a_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "file").touch()
    command = ("run", "figure1-grid10", "--preset", "smoke", "--jobs", 1, "--out")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        error = refused(*command, out)
        assert str(tmp_path / "file") in error
        assert "choose another with --out" in error


def test_a_worker_that_is_killed(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise loky.TerminatedWorkerError("A worker process managed by the executor was ...")

    monkeypatch.setattr(runner, "record", killed)
    error = refused("run", "figure1-grid10", "--preset", "smoke", "--out", tmp_path)
    assert "want of memory" in error
    assert "--jobs" in error


def test_a_second_writer_is_refused(tmp_path):
    from filelock import FileLock

    folder = tmp_path / "figure1-grid10-smoke"
    folder.mkdir()
    with FileLock(folder / runner.LOCK):
        command = ("run", "figure1-grid10", "--preset", "smoke", "--jobs", 1, "--out", tmp_path)
        assert "another process is writing" in refused(*command)
    assert list(folder.glob("*.csv")) == []


# --- stopped and continued ------------------------------------------------------------------------
@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """The digest of the long record, made in one go."""
    out = tmp_path_factory.mktemp("uninterrupted")
    return runner.record(from_toml(LONG), out).digest


def test_ctrl_c_keeps_checkpoints_and_the_same_command_goes_on(
    tmp_path, long, monkeypatch, uninterrupted
):
    advance = Trainer.advance

    def tired(trainer):
        if trainer.k == 40:
            raise KeyboardInterrupt
        advance(trainer)

    out = tmp_path / "r"
    command = ("run", long, "--jobs", 1, "--out", out)
    monkeypatch.setattr(Trainer, "advance", tired)
    done = amgd(*command, "--checkpoint-seconds", 0, code=130)
    assert done.err.splitlines()[-1] == (
        "amgd: stopped; the same command goes on from the last checkpoints"
    )
    assert done.out == ""
    assert runner.checkpointed_rows(Record(out / "long")) == dict.fromkeys(
        ("plain-seed00", "plain-seed01"), 40
    )
    state = amgd("status", long, "--out", out).out.splitlines()
    assert state[0] == f"long: 0 of 2 runs, {80 / 302:.0%} of the rows"
    assert state[1].split(maxsplit=1) == ["plain", f"0 of 2 runs, {80 / 302:.0%} of the rows"]

    begun = []
    monkeypatch.setattr(Trainer, "advance", lambda t: (begun.append(t.k), advance(t)))
    amgd(*command)
    assert begun[0] == 40
    assert Record(out / "long").digest == uninterrupted


def test_ctrl_c_elsewhere(monkeypatch, made):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reruns, "rerun", stopped)
    command = ("check", "figure1-grid10", "--preset", "smoke", "--out", made[0])
    assert amgd(*command, code=130).err == "amgd: stopped\n"


def wait_for(found, process=None, seconds=120):
    end = time.perf_counter() + seconds  # a test may hold the other clock
    while not found():
        assert process is None or process.poll() is None, process.communicate()
        assert time.perf_counter() < end, "nothing happened"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(tmp_path, long, number, uninterrupted):
    out = tmp_path / "r"
    command = ["run", str(long), "--jobs", "1", "--out", str(out)]
    process = subprocess.Popen(
        [*PROGRAM, *command, "--checkpoint-seconds", "0"], stdout=-1, stderr=-1, text=True
    )
    checkpoints = out / "long" / runner.CHECKPOINTS
    wait_for(lambda: len(list(checkpoints.glob("*.pt"))) == 2, process)
    process.send_signal(number)
    printed, messages = process.communicate(timeout=120)
    assert (process.returncode, printed) == (130, "")
    assert messages.splitlines() == [
        f"long: 0 of 2 runs are in {out / 'long'}",
        "amgd: stopped; the same command goes on from the last checkpoints",
    ]
    assert set(runner.checkpointed_rows(Record(out / "long"))) == {"plain-seed00", "plain-seed01"}
    amgd(*command)
    assert Record(out / "long").digest == uninterrupted


def test_a_failure_while_it_stops_is_told_as_a_stop(monkeypatch, made):
    def stopped(*_, **__):
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:  # as joblib does, stopped while it starts its workers
            raise RuntimeError("cannot join thread before it is started") from None

    monkeypatch.setattr(runner, "record", stopped)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        done = amgd("run", "figure1-grid10", "--preset", "smoke", "--out", made[0], code=130)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert done.err.splitlines()[1].startswith("amgd: stopped; the same command goes on")


def test_signal_handler_is_restored(made):
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    amgd("run", "figure1-grid10", "--preset", "smoke", "--out", made[0])
    amgd("check", "figure1-grid10", "--preset", "smoke", "--variants", "plain", "--out", made[0])
    assert [signal.getsignal(number) for number in numbers] == before


# --- progress -------------------------------------------------------------------------------------
def all_of(terminal):
    """Read a terminal until its other end is closed, and close it."""
    seen = b""
    while True:
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            os.close(terminal)
            return seen.decode().replace("\r\n", "\n")


def test_a_terminal_shows_a_bar(tmp_path):
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")  # not on Windows
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    options = ["--preset", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [*PROGRAM, "run", "figure1-grid10", *options], stdout=-1, stderr=theirs, text=True
    )
    os.close(theirs)
    seen = all_of(ours)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert printed.startswith(f"{tmp_path / 'figure1-grid10-smoke'}: 15 runs")
    last = seen.strip().rpartition("\r")[2]
    assert re.fullmatch(r"figure1-grid10-smoke: 100%\|█{20,}\| 75/75 rows, 15 of 15 runs", last)
    assert seen.count("\r") > 3


class Terminal:
    """A stream that says it is a terminal and keeps what is written."""

    encoding = "utf8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_a_bar_counts_what_was_there_and_follows_checkpoints(tmp_path):
    spec = from_toml(LONG)
    plan = progress.planned_rows(spec, ["plain"], [0, 1])
    assert plan == {"plain-seed00": 151, "plain-seed01": 151}
    with progress.Progress("long", tmp_path, plan, stream=(empty := Terminal())):
        pass
    assert "0/302 rows, 0 of 2 runs" in empty.text

    record = Record.create(tmp_path, spec)
    record.add("plain", 0, {"k": np.arange(151)}, 151.0)
    saved = checkpoints.Checkpoints(
        tmp_path / checkpoints.CHECKPOINTS, "plain", spec.identity("plain"), {}, seconds=0
    )
    saved.folder.mkdir()
    stream = Terminal()
    with progress.Progress("long", tmp_path, plan, poll_seconds=0.01, stream=stream) as shown:
        assert "151/302 rows, about 3 min left, 1 of 2 runs" in stream.text
        saved.offer([1], 81, lambda: [{"k": 81}])
        wait_for(lambda: "232/302 rows, about 70 s left" in stream.text)
        record.add("plain", 1, {"k": np.arange(151)}, 1.0)
        shown(record, "plain-seed01")
    assert stream.text.endswith("302/302 rows, 2 of 2 runs\n")


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (
            100,
            r"a-very-long-name-of-a-record:  33%\|█+\S* +\| 5/15 rows, about 2 s left, 1 of 3 runs",
        ),
        (60, r" 33% 5/15 rows, about 2 s left, 1 of 3 runs"),
        (39, r" 33% 5/15 rows"),
        (12, r" 33%"),
        (5, r" 33%"),
        (0, r" 33% 5/15 rows, about 2 s left, 1 of 3 runs"),  # as some say of themselves
    ],
)
def test_a_bar_on_a_narrow_terminal_has_what_fits(tmp_path, columns, line):
    spec = named("figure1-grid10", "smoke")
    Record.create(tmp_path, spec).add("plain", 0, {"episode": np.arange(5)}, 1.0)
    plan = progress.planned_rows(spec, ["plain"], [0, 1, 2])
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with (
        open(theirs, "w") as stream,
        progress.Progress("a-very-long-name-of-a-record", tmp_path, plan, stream=stream),
    ):
        pass
    shown = all_of(ours).rstrip().rpartition("\r")[2]
    assert re.fullmatch(line, shown.rstrip())
    assert len(shown) <= (columns or 79)


@pytest.mark.parametrize(("workers", "left"), [(1, (40, 30)), (2, (20, 15)), (9, (10, 10))])
def test_time_left_follows_from_what_runs_took(tmp_path, monkeypatch, capsys, workers, left):
    """Whatever the clock says: it counts the start of the workers too."""
    spec = named("figure1-grid10", "smoke")
    record = Record.create(tmp_path, spec)
    rows = {"episode": np.arange(5)}
    record.add("plain", 0, rows, 600.0)
    plan = progress.planned_rows(spec, ["plain", "matched"], [0, 1, 2])
    monkeypatch.setattr(progress.time, "monotonic", lambda: 1 / 0)
    with progress.Progress("mine", tmp_path, plan, workers=workers) as shown:
        record.add("plain", 1, rows, 600.0)
        shown(record, "plain-seed01")
        record.add("plain", 2, {"episode": np.arange(0)}, 0.0, diverged="in episode 3")
        shown(record, "plain-seed02")
    # A run of five rows takes 10 minutes; four are left, then three, for one that diverged is over.
    assert capsys.readouterr().err.splitlines() == [
        f"mine: 2 of 6 runs, about {left[0]} min left, plain-seed01 recorded",
        f"mine: 3 of 6 runs, about {left[1]} min left, plain-seed02 diverged",
    ]


def test_time_left_before_a_run_is_recorded_follows_from_the_rows_after_the_first(
    tmp_path, monkeypatch
):
    spec = from_toml(LONG)
    plan = progress.planned_rows(spec, ["plain"], [0, 1])
    Record.create(tmp_path, spec)
    rows, now = [{}], [0.0]  # replaced, not changed: another thread reads it
    monkeypatch.setattr(progress, "checkpointed_rows", lambda record: rows[0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Terminal()
    with progress.Progress("long", tmp_path, plan, poll_seconds=0.01, stream=stream):
        now[0] += 1000.0  # the workers start
        rows[0] = {"plain-seed00": 2}
        wait_for(lambda: "2/302 rows, 0 of 2 runs" in stream.text)
        now[0] += 10.0
        rows[0] = {"plain-seed00": 2, "plain-seed01": 10}
        wait_for(lambda: "12/302 rows" in stream.text)
    assert "12/302 rows, about 5 min left" in stream.text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "1 s"), (89.4, "89 s"), (90, "2 min"), (3569, "59 min"), (3571, "1 h 0 min"),
     (7800, "2 h 10 min"), (172_700, "47 h 58 min"), (172_800, "2 d 0 h")],
)  # fmt: skip
def test_durations(seconds, words):
    assert progress.duration(seconds) == words


@pytest.mark.parametrize("name", ["figure1-grid10", "figure2-cartpole"])
def test_plans_hold_exactly_what_a_record_gets(made, name):
    record = Record(made[0] / f"{name}-smoke")
    plan = progress.planned_rows(record.spec, record.spec.variants, range(record.spec.seeds))
    assert plan == {stem: entry["rows"] for stem, entry in record.files.items()}


# --- status ---------------------------------------------------------------------------------------
def test_status_of_all_records(made):
    lines = amgd("status", "--out", made[0]).out.splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["figure1-grid10-smoke", "15", "of", "15"],
        ["figure2-cartpole-smoke", "29", "of", "29"],
    ]
    assert all("of computing, last 20" in line for line in lines)


def test_status_of_one_record(made):
    lines = amgd("status", "figure2-cartpole", "--preset", "smoke", "--out", made[0]).out
    assert lines.startswith("figure2-cartpole-smoke: 29 of 29 runs, ")
    counts = {line.split()[0]: line.split()[1] for line in lines.splitlines()[1:]}
    tuned = dict.fromkeys(("tuned", "tuned_accelerated"), "7")  # with the two runs of two steps
    others = ("plain", "theorem1", "ghadimi_lan", "nesterov", "matched")
    assert counts == dict.fromkeys(others, "3") | tuned


def test_status_of_half_a_record(tmp_path):
    command = ("figure1", "--preset", "smoke", "--out", tmp_path)
    amgd("run", *command, "--jobs", 1, "--seeds", "0", "--variants", "plain,matched")
    shutil.rmtree(tmp_path / "figure1-grid50-smoke")
    out = amgd("status", *command).out
    assert "figure1-grid10-smoke: 2 of 15 runs, 13% of the rows, " in out
    assert re.search(r"^  plain +1 of 3 runs, 33% of the rows", out, re.M)
    assert re.search(r"^  tuned +0 of 3 runs, 0% of the rows$", out, re.M)
    assert f"figure1-grid50-smoke: nothing is recorded in {tmp_path}" in out


def test_status_goes_on_behind_a_broken_record(copy):
    (copy / "figure1-grid10-smoke" / MANIFEST).write_text("{")
    done = amgd("status", "--out", copy, code=1)
    assert "manifest.json is torn or edited" in done.err
    assert "figure2-cartpole-smoke" in done.out
    assert "torn" in refused("status", "figure1-grid10-smoke", "--out", copy)


def test_status_without_records(tmp_path):
    done = amgd("status", "--out", tmp_path)
    assert (done.out, done.err) == (
        "",
        f"amgd: no records in {tmp_path}; `amgd run` makes them, --out says where they are\n",
    )


# --- figure and table -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("file", "start"),
    [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")],
)
def test_figure(made, tmp_path, file, start):
    path = tmp_path / file
    done = amgd("figure", "figure1-grid10", "--preset", "smoke", "--out", made[0], "--to", path)
    assert done.out == f"{path}\n"
    assert path.read_bytes().startswith(start)


def test_letters_of_a_pdf_are_truetype(made, tmp_path):
    """Publishers refuse Type 3, Matplotlib's default."""
    path = tmp_path / "a.pdf"
    amgd("figure", "figure1-grid10", "--preset", "smoke", "--out", made[0], "--to", path)
    written = path.read_bytes()
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written


def test_figure_of_a_column_and_some_variants(made, tmp_path, monkeypatch):
    from amgd.experiments import figures

    asked, draw = [], figures.record_figure
    monkeypatch.setattr(
        figures, "record_figure", lambda record, **o: asked.append(o) or draw(record, **o)
    )
    command = ("figure", "figure1-grid10-smoke", "--out", made[0], "--to", tmp_path / "a.svg")
    amgd(*command, "--column", "neu_estimate", "--variants", "matched,plain")
    assert asked == [{"column": "neu_estimate", "variants": ["plain", "matched"], "width": 6.4}]
    assert "must be one of" in refused(*command, "--column", "speed")
    assert "--variants" in refused(*command, "--variants", "speed", code=2)


@pytest.mark.parametrize("name", ["figure1-grid10-smoke/", "./figure1-grid10-smoke", "absolute"])
def test_record_whose_name_a_shell_completed(copy, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    if name == "absolute":
        name = copy / "figure1-grid10-smoke"
    assert amgd("figure", name, "--out", copy).out == "figure1-grid10-smoke.svg\n"
    assert Path("figure1-grid10-smoke.svg").exists()


def test_figure_of_several_panels(copy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(copy / "figure1-grid10-smoke", copy / "figure1-grid50-smoke")
    command = ("figure", "figure1", "--preset", "smoke", "--out", copy)
    assert amgd(*command).out == "figure1-grid10-smoke.svg\nfigure1-grid50-smoke.svg\n"
    assert Path("figure1-grid50-smoke.svg").exists()
    assert "pick one of figure1-grid10-smoke" in refused(*command, "--to", "a.svg", code=2)


@pytest.mark.parametrize("file", ["a.gif", "svg", "a"])
def test_figure_refuses_formats(made, file):
    error = refused("figure", "figure1-grid10-smoke", "--out", made[0], "--to", file, code=2)
    assert ".svg, .png, .pdf" in error


def test_figure_into_a_missing_folder(made, tmp_path):
    path = tmp_path / "no" / "a.svg"
    error = refused("figure", "figure1-grid10-smoke", "--out", made[0], "--to", path)
    assert f"{path}: No such file or directory; check the path" in error


def test_table(made):
    from amgd.experiments.summaries import summarise, to_text

    command = ("table", "figure2-cartpole", "--preset", "smoke", "--out", made[0])
    record = Record(made[0] / "figure2-cartpole-smoke")
    for options, chosen in (
        ((), {}),
        (("--against", "matched"), {"against": "matched"}),
        (("--column", "return"), {"column": "return"}),
        (("--until", "2"), {"until": 2}),
    ):
        expected = to_text({"figure2-cartpole-smoke": summarise(record, **chosen)})
        assert amgd(*command, *options).out == f"{expected}\n"
    assert "--against" in refused(*command, "--against", "speed", code=2)
    assert "column" in refused(*command, "--column", "speed")
    assert "until must not lie beyond" in refused(*command, "--until", "1000")


def test_table_where_the_encoding_has_no_plus_minus(made):
    done = subprocess.run(
        [*PROGRAM, "table", "figure1-grid10-smoke", "--out", made[0]],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 1
    assert done.stderr.startswith("amgd: standard output is in ascii, which lacks '\\xb1'")
    assert done.stderr.endswith("set PYTHONIOENCODING=utf8\n")


@pytest.mark.parametrize("command", ["status", "table", "check"])
def test_records_are_read_as_utf8_everywhere(made, command):
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c",
         "import warnings; from amgd.experiments.cli import app; "
         "warnings.filterwarnings('error', category=EncodingWarning, module='amgd'); app()",
         command, "figure1-grid10-smoke", "--out", made[0]],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["table", "figure", "check"])
def test_records_that_are_not_there(tmp_path, command):
    error = refused(command, "figure2-cartpole", "--out", tmp_path)
    assert f"no record in {tmp_path / 'figure2-cartpole'}" in error
    assert "`amgd run` makes it" in error


# --- check ----------------------------------------------------------------------------------------
def edit(folder, stem, row, column):
    """Change the last digits of a number, and make the manifest agree."""
    file, manifest = folder / f"{stem}.csv", json.loads((folder / MANIFEST).read_text())
    lines = [line.split(",") for line in file.read_text().splitlines()]
    place = lines[row + 1], lines[0].index(column)
    place[0][place[1]] = repr(float(np.nextafter(float(place[0][place[1]]), np.inf)))
    file.write_text("".join(",".join(line) + "\n" for line in lines))
    manifest["files"][stem]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest))


def move(folder, where, *, only=None):
    """Claim that runs were recorded somewhere else."""
    manifest = json.loads((folder / MANIFEST).read_text())
    place = manifest["surroundings"][0]
    manifest["surroundings"].append(
        place | where | {"versions": place["versions"] | where.get("versions", {})}
    )
    for stem, entry in manifest["files"].items():
        if only in (None, stem):
            entry["surroundings"] = [len(manifest["surroundings"]) - 1]
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_check_finds_equal_runs(made):
    for name in ("figure1-grid10", "figure2-cartpole"):
        record = Record(made[0] / f"{name}-smoke")
        out = amgd("check", name, "--preset", "smoke", "--out", made[0]).out
        assert f"all {len(record.files)} files have their checksums" in out
        place = record.surroundings[0]
        assert place["processor"] in out
        assert f"numpy {np.__version__}" in out
        assert f"revision {place['revision']}" in out
        rows = 5 if name == "figure1-grid10" else 3
        for variant in record.spec.variants:
            assert f": {variant}-seed00 is equal, {rows} rows\n" in out
        assert "seed01" not in out


def test_check_of_chosen_runs(made):
    out = amgd("check", "figure2-cartpole-smoke", "--out", made[0], "--rows", 4, "--seeds", "0,2",
               "--variants", "tuned").out  # fmt: skip
    assert re.findall(r": (\S+) is equal, (\d) rows", out) == [
        ("tuned-seed00", "4"),
        ("tuned-seed02", "4"),
    ]


def test_check_leaves_the_record_as_it_is(copy):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    amgd("check", "figure2-cartpole-smoke", "--out", copy, "--variants", "tuned")
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "row", "column"),
    [
        ("figure1-grid10-smoke", 4, "theta2"),
        ("figure2-cartpole-smoke", 2, "distance"),
    ],
)
def test_check_finds_one_last_bit(copy, name, row, column):
    folder = copy / name
    edit(folder, "matched-seed00", row, column)
    done = amgd("check", name, "--out", copy, code=1)
    assert f"matched-seed00 differs first in row {row}, column {column}: recorded" in done.out
    assert re.search(r"\(difference \d\.?\d*e-1\d\)", done.out)
    assert "plain-seed00 is equal" in done.out
    assert done.err == ""
    amgd("check", name, "--out", copy, "--seeds", "1")
    amgd("check", name, "--out", copy, "--variants", "plain")


def test_check_compares_the_rows_asked_for(copy):
    edit(copy / "figure2-cartpole-smoke", "plain-seed00", 2, "return")
    command = ("check", "figure2-cartpole-smoke", "--out", copy, "--variants", "plain", "--rows")
    amgd(*command, 2)
    amgd(*command, 3, code=1)
    amgd(*command, 99, code=1)
    refused(*command, 0, code=2)


@pytest.mark.parametrize(
    "where",
    [{"processor": "Other CPU"}, {"python": "3.99.0"}, {"versions": {"numpy": "0.1"}}],
    ids=["processor", "python", "numpy"],
)
def test_check_says_where_a_difference_may_come_from(copy, where):
    folder = copy / "figure1-grid10-smoke"
    command = ("check", "figure1-grid10-smoke", "--out", copy, "--variants", "plain,matched")
    move(folder, where)
    amgd(*command)  # equal is equal, wherever
    edit(folder, "plain-seed00", 2, "neu")
    done = amgd(*command, code=3)
    assert "plain-seed00 was recorded elsewhere" in done.err
    [(name, there)] = where.get("versions", where).items()
    assert f"{name} {there} there, " in done.err.replace("Python", "python")
    assert "chaotic" in done.err
    # A difference here is the graver one.
    move(folder, {"processor": surroundings()["processor"]}, only="none")
    edit(folder, "matched-seed00", 2, "neu")
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"]["matched-seed00"]["surroundings"] = [0]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    amgd(*command, code=1)


@pytest.mark.parametrize("where", [{"revision": "f" * 40}, {"versions": {"amgd": "9.9"}}])
def test_other_code_is_no_excuse(copy, where):
    folder = copy / "figure1-grid10-smoke"
    move(folder, where)
    edit(folder, "plain-seed00", 2, "neu")
    command = ("check", "figure1-grid10-smoke", "--out", copy, "--variants", "plain")
    assert amgd(*command, code=1).err == ""


def test_check_of_several_records_reports_the_gravest(copy):
    folders = [copy / f"figure1-grid{n}-smoke" for n in (10, 50)]
    shutil.copytree(*folders)
    for folder in folders:
        edit(folder, "plain-seed00", 2, "neu")
    move(folders[0], {"processor": "Other CPU"})
    command = ("check", "figure1", "--preset", "smoke", "--variants", "plain", "--out", copy)
    amgd(*command, code=1)
    move(folders[1], {"processor": "Other CPU"})
    amgd(*command, code=3)


def test_check_finds_files_that_were_edited(copy):
    file = copy / "figure1-grid10-smoke" / "tuned-seed02.csv"
    file.write_text(file.read_text().replace("1", "2", 1))
    error = refused("check", "figure1-grid10-smoke", "--out", copy, "--variants", "plain")
    assert f"{file} is torn or edited" in error


def test_check_needs_runs(tmp_path):
    command = ("figure1-grid10", "--preset", "smoke", "--out", tmp_path)
    amgd("run", *command, "--jobs", 1, "--seeds", "0", "--variants", "plain")
    assert "plain-seed00 is equal" in amgd("check", *command).out
    assert "nothing to compute anew" in refused("check", *command, "--seeds", "1")
    assert "nothing to compute anew" in refused("check", *command, "--variants", "matched")


def test_check_needs_the_winner_of_a_grid(copy):
    manifest = json.loads((copy / "figure2-cartpole-smoke" / MANIFEST).read_text())
    del manifest["tuning"]["tuned"]
    (copy / "figure2-cartpole-smoke" / MANIFEST).write_text(json.dumps(manifest))
    command = ("check", "figure2-cartpole-smoke", "--out", copy, "--variants", "tuned")
    assert "the rate of 'tuned' is not known" in refused(*command)


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ({"k": [0, 1], "a": [1.0, np.nan]}, None),
        ({"k": [0, 1], "a": [-0.0, np.nan]}, (0, "a")),
        ({"k": [0, 1], "a": [1.0, 2.0]}, (1, "a")),
        ({"k": [0], "a": [1.0]}, (1, "k")),
        ({"k": [0, 1, 2], "a": [1.0, np.nan, 0.0]}, (2, "k")),
        ({"k": [0, 1]}, (0, "a")),
        ({"k": [0, 1], "a": [1.0, np.nan], "b": [3.0, 3.0]}, (0, "b")),
    ],
)
def test_first_difference(again, expected):
    recorded = {"k": np.array([0, 1]), "a": np.array([1.0, np.nan])}
    found = reruns.first_difference(recorded, {n: np.array(v) for n, v in again.items()})
    assert (None if found is None else (found.row, found.column)) == expected


# --- the Makefile ---------------------------------------------------------------------------------
def test_make_paper_runs_every_experiment():
    [line] = re.findall(r"^\t\$\(BIN\)/amgd run (.*)$", (ROOT / "Makefile").read_text(), re.M)
    names, out = line.split(" --out ")
    assert {one for name in names.split() for one in matching(name)} == set(EXPERIMENTS)
    assert out == "book/results"


@pytest.mark.parametrize("encoding", ["utf8", "utf-8-sig", "utf-16"])
def test_a_specification_as_editors_of_windows_write_it(tmp_path, monkeypatch, encoding):
    path = tmp_path / "own.toml"
    path.write_bytes('kind = "gridworld"\r\nn = 5\r\nepisodes = 20\r\n'.encode(encoding))
    (spec,) = cli._specifications(str(path), None).values()
    assert (spec.n, spec.episodes) == (5, 20)


@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove a folder in use")
def test_closed_streams_and_a_working_directory_that_is_gone(tmp_path, made):
    # What Python makes of `amgd run ... >&- 2>&-`, and a folder that is removed meanwhile.
    closed = "import sys; sys.stdout = sys.stderr = None; " + PROGRAM[-1]
    command = ["run", "figure1-grid10", "--preset", "smoke", "--out", str(made[0])]
    done = subprocess.run([*PROGRAM[:-1], closed, *command], timeout=300)
    assert done.returncode == 0
    gone = f"import os; os.rmdir({str(tmp_path)!r}); " + PROGRAM[-1]
    done = subprocess.run(
        [*PROGRAM[:-1], gone, "list"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (
        1,
        "amgd: the working directory: No such file or directory; check the path\n",
    )


def test_a_specification_in_another_encoding_is_told(tmp_path):
    path = tmp_path / "own.toml"
    path.write_bytes('kind = "gridworld"  # für uns\n'.encode("latin-1"))
    assert "own.toml: the file must be text in UTF-8: " in refused("status", path)
