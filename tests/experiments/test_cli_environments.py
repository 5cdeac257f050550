"""Environments of a user's own, by the command: each fault is a line that says what and where."""

import itertools
import re
from pathlib import Path

import pytest
from commands import amgd, from_outside, refused

from amgd.experiments.records import Record

MODULE = """
import gymnasium
import numpy as np

class Mine(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)
    n = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n, self.t = self.n + 1, 0
        return self.np_random.random(1), {}

    def step(self, action):
        self.t += 1
        return self.np_random.random(1), 1.0 + action, self.t == 5, False, {}

gymnasium.register("MODULE-v0", entry_point=Mine, max_episode_steps=10)
"""
SPEC = """
kind = "reinforce"
variants = ["plain", "matched"]
seeds = 2
[training]
environment = "MODULE:MODULE-v0"
hidden = [2]
iterations = 2
batch = 2
evaluation_episodes = 2
"""
STEP, REWARD = "        self.t += 1\n", "1.0 + action"
numbers = itertools.count()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The working directory, and what writes a module into it that no process has seen yet."""
    monkeypatch.chdir(tmp_path)

    def write(*changes, name=None):
        name, text = name or f"own{next(numbers)}", MODULE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        Path(f"{name}.py").write_text(text.replace("MODULE", name))
        Path(f"{name}.toml").write_text(SPEC.replace("MODULE", name))
        return name

    return write


def test_a_good_one_runs_is_tabled_drawn_and_checked(own):
    name = own()
    amgd("run", f"{name}.toml", "--jobs", 1)
    assert "SGD with matched steps" in amgd("table", f"{name}.toml").out
    assert amgd("figure", f"{name}.toml").out == f"{name}.svg\n"
    assert amgd("check", f"{name}.toml").out.count("is equal, 3 rows") == 2


HERE, NUMPY = "  # here", "import numpy as np"
FAULTS = {
    "memory": ([("self.np_random.random(1), 1.0", "np.array([float(self.n)]), 1.0")],
               "must not depend on those before it"),
    "no seed": ([("super().reset(seed=seed)", "super().reset()")], "must not differ"),
    "an error": ([(STEP, f"{STEP}        1 / 0{HERE}\n")], "ZeroDivisionError"),
    "the end": ([(STEP, f"{STEP}        raise SystemExit(0){HERE}\n")], "SystemExit"),
    "the end at import": ([(NUMPY, f"{NUMPY}\nraise SystemExit(0){HERE}")], "SystemExit"),
    "an error in many lines": ([(STEP, f"{STEP}        raise ValueError('a\\n b\\n c'){HERE}\n")],
                               "ValueError"),
    "no number": ([(REWARD, "float('nan')")], "every reward must be finite: got nan"),
    "no such import": ([(NUMPY, f"{NUMPY}\nimport not_there{HERE}")],
                       "No module named 'not_there'"),
    "no Python": ([("(gymnasium.Env):", f"(gymnasium.Env){HERE}")], "SyntaxError"),
    "no registration": ([("gymnasium.register(", "dict(id=")], "must be a registered environment"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_with_its_reason_and_place(own, fault):
    changes, reason = FAULTS[fault]
    name = own(*changes)
    error = refused("run", f"{name}.toml", "--jobs", 1)
    first, message = error.splitlines()
    assert first == f"{name}: 0 of 4 runs are in results/{name}"
    assert name in message
    assert reason in message
    lines = Path(f"{name}.py").read_text().splitlines()
    places = [number for number, line in enumerate(lines, 1) if HERE in line]
    for number in places:
        assert f"{name}.py, line {number}" in message
    assert not list(Path("results").glob("*/*.csv"))
    # The name is free for the environment when it is mended.
    Path(f"{name}.toml").write_text(SPEC.replace("MODULE:MODULE-v0", "CartPole-v1"))
    amgd("run", f"{name}.toml", "--jobs", 1, "--variants", "plain", "--seeds", 0)


def test_a_module_that_is_not_there(own):
    name = own()
    Path(f"{name}.py").unlink()
    assert f"there is no module {name}" in refused("run", f"{name}.toml", "--jobs", 1)


def test_in_workers_and_after_a_change(own, tmp_path):
    """In processes as a user starts them: an error in a worker, a remark, another reward."""
    late = "        if multiprocessing.parent_process():\n            raise SystemExit(0)  # here\n"
    imports = ("import gymnasium\n", "import multiprocessing\nimport gymnasium\n")
    own(imports, (STEP, STEP + late), name="late")
    done = from_outside("run", "late.toml", "--jobs", 2, cwd=tmp_path, code=1)
    line = next(i for i, t in enumerate(Path("late.py").read_text().splitlines(), 1) if "here" in t)
    messages = [text for text in done.stderr.splitlines() if text.startswith("amgd: ")]
    assert len(messages) == 1
    told = rf"amgd: late:late-v0: step raised SystemExit in .*late.py, line {line}: 0"
    assert re.fullmatch(told, messages[0])

    name = own(("import gymnasium\n", "import gymnasium\nprint('hello')\n"), name="mine")
    done = from_outside("run", "mine.toml", "--jobs", 2, cwd=tmp_path)
    assert "amgd: warning: mine:mine-v0 prints on standard output, as 'hello'\n" in done.stderr
    (place,) = Record("results/mine").surroundings
    assert place["environment"]["module"] == name

    own((REWARD, "2.0 + action"), name="mine")
    done = from_outside("check", "mine.toml", "--variants", "plain", cwd=tmp_path, code=1)
    assert "plain-seed00 differs first in row 0, column return" in done.stdout
    assert re.fullmatch(
        r"amgd: plain-seed00: source of the environment mine \w{12} there, mine \w{12} here\n",
        done.stderr,
    )
    Path("mine.toml").write_text(SPEC.replace("MODULE", "mine").replace("seeds = 2", "seeds = 3"))
    done = from_outside("run", "mine.toml", "--jobs", 1, cwd=tmp_path)
    assert "its runs took place in several surroundings" in done.stderr
    lines = amgd("status", "mine.toml").out.splitlines()
    assert "mixes 2 surroundings" in lines[0]
    assert re.search(r"source of the environment mine \w{12} there, mine \w{12} here$", lines[-1])
