"""The command amgd in processes of its own: other kernels, terminals, shells, environments."""

import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import PROGRAM, amgd, from_outside, refused

import amgd as package
from amgd.experiments import runner
from amgd.experiments.checkpoints import CHECKPOINTS
from amgd.experiments.experiment import from_toml
from amgd.experiments.named import EXPERIMENTS
from amgd.experiments.provenance import surroundings
from amgd.experiments.records import MANIFEST, Record
from amgd.reinforce.training import Trainer

SMALL = """
kind = "reinforce"
variants = ["plain", "matched"]
seeds = 2
[training]
environment = "CartPole-v0"
hidden = [4]
iterations = 12
batch = 2
evaluation_episodes = 2
horizon = 20
"""
TORCH = {"ATEN_CPU_CAPABILITY": "default"}  # the plainest of PyTorch's kernels


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with small.toml and its record."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(SMALL)
    runner.record(from_toml(SMALL), folder / "results" / "small")
    return folder


@pytest.fixture
def here(small, tmp_path, monkeypatch):
    """The working directory with a copy of it."""
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tear(folder, stem, old="1", new="2", *, listed=False):
    """Change a file of a record, and perhaps its checksum."""
    file = folder / f"{stem}.csv"
    head, rows = file.read_text().split("\n", 1)
    file.write_text(f"{head}\n{rows.replace(old, new, 1)}")
    if listed:
        manifest = json.loads((folder / MANIFEST).read_text())
        manifest["files"][stem]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
        (folder / MANIFEST).write_text(json.dumps(manifest))


# --- the same record elsewhere --------------------------------------------------------------------
def other_blas():
    """A setting that gives NumPy another BLAS kernel than this process has."""
    code = "from amgd.experiments.provenance import surroundings; print(surroundings()['blas'])"
    for kernel in ("Haswell", "Nehalem", "Prescott", "ARMV8", "NEOVERSEN1"):
        setting = {"OPENBLAS_CORETYPE": kernel}
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | setting, capture_output=True, text=True
        )
        if done.returncode == 0 and done.stdout.strip() != str(surroundings()["blas"]):
            return setting
    pytest.skip("the BLAS of this NumPy has one kernel here")


@pytest.mark.parametrize("kernel", ["BLAS kernel of numpy", "PyTorch's instruction set"])
def test_a_difference_with_another_kernel_is_no_fault_of_the_record(here, kernel):
    """A record that differs surely is called wrong at its own place, and another's elsewhere."""
    if kernel.startswith("PyTorch") and surroundings("CartPole-v0")["torch"] == "DEFAULT":
        pytest.skip("PyTorch has one kernel here")
    elsewhere = other_blas() if kernel.startswith("BLAS") else TORCH
    command = ("check", "small", "--variants", "plain")
    amgd(*command)
    tear(here / "results" / "small", "plain-seed00", listed=True)
    done = amgd(*command, code=1)
    assert "plain-seed00 differs first in row 0" in done.out
    assert done.err == ""
    done = from_outside(*command, cwd=here, code=3, **elsewhere)
    assert "plain-seed00 differs first in row 0" in done.stdout
    assert re.fullmatch(
        rf"amgd: plain-seed00 was recorded elsewhere \({kernel} .* there, .* here.*\); there a "
        r"chaotic run is expected to differ\n",
        done.stderr,
    )


@pytest.fixture
def begun(here, monkeypatch):
    """The same, with a run of plain that was stopped after eight rows."""
    shutil.rmtree(here / "results")
    advance = Trainer.advance

    def tired(trainer):
        if trainer.k == 8:
            raise KeyboardInterrupt
        advance(trainer)

    monkeypatch.setattr(Trainer, "advance", tired)
    command = ("run", "small.toml", "--jobs", 1, "--variants", "plain", "--seeds", 0)
    amgd(*command, "--checkpoint-seconds", 0, code=130)
    monkeypatch.setattr(Trainer, "advance", advance)
    assert runner.checkpointed_rows(Record(here / "results" / "small")) == {"plain-seed00": 8}
    return command


@pytest.mark.parametrize("choice", ["accept", "restart"])
def test_a_run_does_not_go_on_elsewhere_in_silence(begun, here, choice):
    if surroundings("CartPole-v0")["torch"] == "DEFAULT":
        pytest.skip("PyTorch has one kernel here")
    done = from_outside(*begun, cwd=here, code=1, **TORCH)
    assert done.stdout == ""
    first, message = done.stderr.splitlines()
    assert first == "small: 0 of 1 runs are in results/small"
    for part in ("plain-seed00.pt was made elsewhere", "PyTorch's instruction set", "8 rows",
                 "--restart-changed", "--accept-changed"):  # fmt: skip
        assert part in message
    done = from_outside(*begun, f"--{choice}-changed", cwd=here, **TORCH)
    assert "results/small: 1 runs" in done.stdout
    record = Record("results/small")
    (entry,) = record.files.values()
    assert len(entry["surroundings"]) == {"accept": 2, "restart": 1}[choice]
    assert ("mixes 2 surroundings" in amgd("status", "small").out) == (choice == "accept")
    if choice == "accept":
        assert "`amgd status results/small` tells them" in done.stderr
    assert not list((here / "results" / "small" / CHECKPOINTS).iterdir())


def test_both_choices_at_once_are_refused(here):
    error = refused("run", "small.toml", "--accept-changed", "--restart-changed", code=2)
    assert "expected one of them" in error


# --- merge and repair -----------------------------------------------------------------------------
def test_an_array_of_jobs_is_merged(here):
    whole = Record("results/small")
    jobs = [("job-0", "0", "plain"), ("job-1", "1", "plain"), ("job-2", "0-1", "matched")]
    for folder, seeds, variants in jobs:
        amgd("run", "small.toml", "--jobs", 1, "--seeds", seeds, "--variants", variants,
             "--out", folder)  # fmt: skip
    parts = [f"{folder}/small" for folder, *_ in jobs]
    done = amgd("merge", "merged/small", *parts)
    assert done.out == f"merged/small: 4 runs, digest {whole.digest[:16]}\n"
    assert amgd("merge", "merged/small", *parts).out == done.out  # again changes nothing
    amgd("check", "small.toml", "--out", "merged")
    assert amgd("run", "small.toml", "--out", "merged").err.startswith("small: 4 of 4 runs")

    tear(here / "job-1" / "small", "plain-seed01", listed=True)
    assert "plain-seed01 differs in job-1/small and merged/small" in refused(
        "merge", "merged/small", "job-1/small"
    )
    other = SMALL.replace("hidden = [4]", "hidden = [5]")
    Path("small.toml").write_text(other)
    amgd("run", "small.toml", "--jobs", 1, "--seeds", 0, "--out", "job-3")
    error = refused("merge", "merged/small", "job-3/small")
    assert "job-3/small belongs to another specification" in error
    assert "training.hidden was [5], is [4]" in error
    assert Record("merged/small").digest == whole.digest


def test_what_cannot_be_merged_leaves_nothing_behind(here):
    assert "no record in nothing" in refused("merge", "new/small", "nothing")
    assert not (here / "new").exists()
    assert "Usage" in refused("merge", "results/small", code=2)


def test_torn_files_and_a_lost_tuning_are_repaired(copy):
    name, folder = "figure2-cartpole-smoke", copy / "figure2-cartpole-smoke"
    digest = Record(folder).digest
    tear(folder, "plain-seed01")
    (folder / "tuning-0.01-seed1000.csv").unlink()
    (folder / "stray-seed00.csv").write_text("k\n0\n")
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["tuning"]["tuned"]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    command = ("repair", name, "--out", copy)
    done = amgd(*command, "--no-rerun")
    assert f"{name}: plain-seed01.csv is set aside: its run is taken out\n" in done.out
    assert f"{name}: stray-seed00.csv is set aside: no run has finished it\n" in done.out
    assert "27 runs" in done.out
    aside = {file.name for file in (folder / "set-aside").iterdir()}
    assert aside == {"plain-seed01.csv", "stray-seed00.csv.unlisted"}
    assert "27 of 29 runs" in amgd("status", name, "--out", copy).out
    amgd("run", "figure2-cartpole", "--preset", "smoke", "--jobs", 1, "--out", copy)
    assert Record(folder).digest == digest

    tear(folder, "matched-seed00")
    done = amgd(*command, "--jobs", 1)  # sets aside and runs again
    assert done.out.endswith(f"29 runs, digest {digest[:16]}\n")
    assert amgd(*command, "--jobs", 1).out == f"{folder}: 29 runs, digest {digest[:16]}\n"
    amgd("check", name, "--out", copy, "--variants", "matched,tuned")


def messages(program):
    """The texts of a program that are not documentation; the parts of a formatted one joined."""
    tree = ast.parse(program)
    documented = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    skipped = {id(node.value) for node in documented if isinstance(node.value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [one.value for one in node.values if isinstance(one, ast.Constant)]
            skipped |= {id(one) for one in node.values}
            yield " … ".join(parts)
        elif isinstance(node, ast.Constant) and id(node) not in skipped:
            yield str(node.value)


def test_no_message_advises_to_edit_a_file_by_hand():
    """A record is mended by `amgd repair`, `amgd merge` or git."""
    advice = re.compile(
        r"\b(edit|change|correct|delete|remove|add|set|replace|write)\b[^.;\"]{0,60}"
        r"\b(manifest|json|checksum|sha256)",
        re.IGNORECASE,
    )
    texts = {path: path.read_text() for path in Path(package.__file__).parent.rglob("*.py")}
    texts[None] = repr([amgd(command, "--help").out for command in ("run", "repair", "merge")])
    for path, text in texts.items():
        assert not [one for one in messages(text) if advice.search(one)], path
    assert advice.search("correct its number of rows in the manifest")


# --- a terminal -----------------------------------------------------------------------------------
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_on_a_terminal(tmp_path, presses):
    """It reaches the workers too; pressed again, it ends at once. Nobody sees a traceback."""
    long = SMALL.replace("iterations = 12", "iterations = 100000")
    (tmp_path / "long.toml").write_text(long)
    pid, terminal = pytest.importorskip("pty").fork()  # not on Windows
    if pid == 0:
        os.chdir(tmp_path)
        os.execvp(PROGRAM[0], [*PROGRAM, "run", "long.toml", "--jobs", "2",
                               "--checkpoint-seconds", "0"])  # fmt: skip
    checkpoints = tmp_path / "results" / "long" / CHECKPOINTS
    end = time.monotonic() + 120
    while not (checkpoints.exists() and len(list(checkpoints.glob("*.pt"))) >= 2):
        assert time.monotonic() < end
        time.sleep(0.02)
    seen = b""
    for _ in range(presses):
        os.write(terminal, b"\x03")
        time.sleep(0.05)
    while True:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # it is closed at the other end
            break
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    text = seen.decode()
    assert "Traceback" not in text
    assert "KeyboardInterrupt" not in text
    if presses == 1:
        assert "amgd: stopped; the same command goes on from the last checkpoints" in text


# --- completion -----------------------------------------------------------------------------------
def completed(line, cwd):
    words = line.split(" ")
    done = subprocess.run(
        PROGRAM,
        cwd=cwd,
        env=os.environ | {"_AMGD_COMPLETE": "complete_bash", "COMP_WORDS": line,
                          "COMP_CWORD": str(len(words) - 1)},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_a_shell_completes_commands_names_and_options(here):
    assert completed("amgd ta", here) == ["table"]
    assert completed("amgd table figure1", here) == ["figure1", "figure1-grid10", "figure1-grid50"]
    assert completed("amgd run sm", here) == ["small.toml"]
    assert completed("amgd figure results/", here) == ["results/small"]
    assert set(completed("amgd status ", here)) >= {*EXPERIMENTS, "figure1", "small.toml"}
    assert completed("amgd table mine --measure ", here) == ["mean", "end", "updates"]
    assert "--show-completion" in amgd("--help").out
    assert "--show-completion" not in amgd("table", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell):
    done = subprocess.run(
        PROGRAM,
        env=os.environ | {"_AMGD_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert f"_AMGD_COMPLETE=complete_{shell}" in done.stdout
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=True)


def test_the_shell_in_which_it_runs_is_told_how():
    command = f"{shlex.join(PROGRAM)} --show-completion; true"  # or bash would become the program
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "complete -o default" in done.stdout
