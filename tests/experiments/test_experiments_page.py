"""Every command of book/experiments.md is given, in its order, in one folder."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import Done, amgd

from amgd.experiments.experiment import from_toml
from amgd.experiments.records import Record

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "experiments.md").read_text(encoding="utf8")
BLOCK = re.compile(r"^```(?:\{code-block\} )?(\w+)\n(.*?)^```$", re.M | re.S)
JOBS = "$SLURM_ARRAY_TASK_ID"


def blocks(language):
    """The blocks in a language, each as its caption (None without one) and its text."""
    found = [text for name, text in BLOCK.findall(PAGE) if name == language]
    return [(re.match(r":caption: (.*)\n\n", t), t) for t in found]


def listed(language):
    return {
        (caption and caption[1]): text[caption.end() if caption else 0 :]
        for caption, text in blocks(language)
    }


def lines():
    """The lines of the shell, an array of jobs line by line."""
    for _, text in blocks("bash"):
        for line in text.splitlines():
            if line and not line.startswith((":", "#")):
                yield from (line.replace(JOBS, n) for n in ("012" if JOBS in line else "0"))


def extras(text):
    return re.findall(r"\[(\w+)\]", text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder beside the book, with the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book").symlink_to(ROOT / "book")
    for name, text in (listed("toml") | listed("python")).items():
        if name is not None:
            Path(name).write_text(text)
    return tmp_path


def test_every_command_of_the_page_does_what_it_says(folder):
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "book" / "results").glob("*/*")}
    given = list(lines())
    assert len(given) > 30
    for line in given:
        command, _, file = line.partition(" > ")
        program, *arguments = shlex.split(command)
        if program == "pip":
            assert arguments[:3] == ["install", "-c", "constraints.txt"]
            known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            assert set(extras(command)) <= set(known["optional-dependencies"])
            continue
        if program == "python":
            done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
            assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
            continue
        assert program == "amgd"
        jobs = ["--jobs", "1"] if arguments[0] == "run" and "--jobs" not in arguments else []
        done = Done(*arguments, *jobs)
        # What the book's records were made on may be another machine.
        elsewhere = arguments[0] == "check" and "book/results" in arguments and done.code == 3
        assert done.code == 0 or elsewhere, (line, done.code, done.out, done.err)
        if file:
            Path(file).write_text(done.out)
    assert {path: path.stat().st_mtime_ns for path in before} == before  # nothing of the book's

    assert Record("merged/own").digest == Record("results/own").digest
    assert Path("own.pdf").read_bytes().startswith(b"%PDF")
    assert Path("own.tex").read_text().startswith("% own\n\n\\begin{tabular}")
    assert len(Path("figure1.csv").read_text().splitlines()) == 1 + 2 * 5
    assert from_toml(Path("mine.toml").read_text()) == Record("results/mine").spec
    balance = Path("own.toml").read_text().replace("CartPole-v0", "balance:Balance-v0")
    Path("balance.toml").write_text(balance)
    amgd("run", "balance.toml", "--jobs", 1, "--variants", "plain", "--seeds", 0)
    assert Record("results/balance").surroundings[0]["environment"]["module"] == "balance"


def test_the_specification_of_the_page_grows_as_it_says(folder):
    text = listed("toml")["own.toml"]
    amgd("run", "own.toml", "--jobs", 1, "--variants", "plain,matched")
    more = text.replace("seeds = 3", "seeds = 4", 1).replace('"plain", ', '"plain", "nesterov", ')
    Path("own.toml").write_text(more.replace("threshold = 100", "threshold = 50"))
    done = amgd("run", "own.toml", "--jobs", 1, "--variants", "plain,nesterov")
    assert done.err.startswith("own: 3 of 8 runs are in results/own")
    assert "reach 50" in amgd("table", "own.toml").out
    Path("own.toml").write_text(text.replace("lr = 0.1", "lr = 0.2"))
    done = Done("run", "own.toml", "--jobs", 1)
    assert done.code == 1
    assert "training.lr was 0.1, is 0.2" in done.err


def test_the_program_of_the_page_makes_the_record_on_a_dask_cluster(made, tmp_path):
    """Also one with an environment from a module beside it."""
    code = listed("python")[None]
    call = next(line for line in code.splitlines() if " = record(" in line)
    own = listed("toml")["own.toml"].replace("CartPole-v0", "balance:Balance-v0")
    own = own.replace('["plain", "ghadimi_lan", "matched", "tuned_adam"]', '["plain"]')
    indent = call[: len(call) - len(call.lstrip())]
    more = f"{call}\n{indent}record(from_toml(open('own.toml').read()), 'results/own')"
    code = code.replace(call, more)
    (tmp_path / "cluster.py").write_text(
        f"from amgd.experiments.experiment import from_toml\n{code}"
    )
    (tmp_path / "own.toml").write_text(own)
    (tmp_path / "balance.py").write_text(listed("python")["balance.py"])
    done = subprocess.run(
        [sys.executable, "cluster.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    record = Record(made[0] / "figure2-cartpole-smoke")
    assert done.stdout == f"{len(record.files)} {record.digest[:16]}\n", done.stderr
    assert len(Record(tmp_path / "results" / "own").files) == 3


def test_the_table_of_exit_codes_is_that_of_the_help():
    page = dict(re.findall(r"^\| (\d+) \| (.*?) \|$", PAGE, re.M))
    text = amgd("--help").out
    assert set(page) == set(re.findall(r"^ +(\d+)  +\w", text, re.M))


def test_the_page_names_every_command_and_every_option():
    """And none that does not exist: the others are given above."""
    told = set(re.findall(r"--[a-z-]+", PAGE))
    told |= {option.replace("--no-", "--") for option in told}
    for command in re.findall(r"^  (\w+) ", amgd("--help").out.partition("Commands:")[2], re.M):
        assert f"amgd {command}" in PAGE
        options = amgd(command, "--help").out.partition("Options:")[2]
        assert set(re.findall(r"--[a-z-]+", options)) - told - {"--help"} == set(), command
