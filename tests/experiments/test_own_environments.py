"""Environments of one's own in a record: looked at first, hashed, told with file and line."""

import contextlib
import sys

import gymnasium
import pytest

from amgd.errors import EnvironmentFault
from amgd.experiments import runner
from amgd.experiments.provenance import _environment
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.reruns import changes_since
from amgd.reinforce import TrainingSpec, importable

MINE = """
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
        return np.array([REMEMBERED]), 1.0 + action, self.t == 5, False, {}

gymnasium.register("Mine-v0", entry_point=Mine, max_episode_steps=10)
"""
SPEC = ReinforceSpec(
    training=TrainingSpec(
        environment="mine:Mine-v0", hidden=(2,), iterations=1, batch=2, evaluation_episodes=2
    ),
    variants=("plain",),
    seeds=2,
)


@contextlib.contextmanager
def module(folder, text):
    """Let mine.py be imported, as in a new process."""
    (folder / "mine.py").write_text(text)
    try:
        with importable(folder):
            yield
    finally:
        sys.modules.pop("mine", None)
        gymnasium.registry.pop("Mine-v0", None)
        _environment.cache_clear()


def test_an_environment_with_memory_is_refused_before_anything_is_recorded(tmp_path):
    out = tmp_path / "out"
    with (
        module(tmp_path, MINE.replace("REMEMBERED", "float(self.n)")),
        pytest.raises(EnvironmentFault, match="must not depend on those before it"),
    ):
        runner.record(SPEC, out)
    assert not list(out.glob("**/*.csv"))
    with module(tmp_path, MINE.replace("REMEMBERED", "0.5")):  # mended: the name is free
        assert len(runner.record(SPEC, out).files) == 2


def test_a_record_has_the_source_of_its_environment(tmp_path):
    right = MINE.replace("REMEMBERED", "0.5")
    with module(tmp_path, right):
        made = runner.record(SPEC, tmp_path / "out")
        (place,) = made.surroundings
        assert place["environment"]["module"] == "mine"
        assert not any(changes_since(made, "plain", 0))
    with module(tmp_path, right.replace("1.0 + action", "2.0 + action")):
        found = changes_since(made, "plain", 0)
        assert (found.place, found.unrecorded) == ([], [])
        (program,) = found.program
        assert program.startswith("source of the environment mine ")


def test_a_finished_record_is_not_looked_at_again(tmp_path, monkeypatch):
    with module(tmp_path, MINE.replace("REMEMBERED", "0.5")):
        runner.record(SPEC, tmp_path / "out")
        monkeypatch.setattr(ReinforceSpec, "check", lambda self: pytest.fail("it was looked at"))
        runner.record(SPEC, tmp_path / "out")


def test_what_may_not_be_meant_is_warned_of(tmp_path):
    text = "print('hello')" + MINE.replace("REMEMBERED", "0.5")
    with (
        module(tmp_path, text),
        pytest.warns(UserWarning, match="Mine-v0 prints on standard output, as 'hello'"),
    ):
        runner.record(SPEC, tmp_path / "out")


@pytest.mark.parametrize("raised", ["1 / 0", "raise SystemExit(0)"])
def test_an_error_after_the_check_has_file_and_line(tmp_path, raised):
    text = MINE.replace("REMEMBERED", "0.5").replace(
        "self.t += 1", f"self.t += 1\n        if self.number > 4:\n            {raised}  # here"
    )
    count = "    made = 0\n\n    def __init__(self):\n        Mine.made += 1\n"
    count += "        self.number = Mine.made  # the check makes four\n\n    def reset"
    text = text.replace("    def reset", count, 1)
    line = next(i for i, one in enumerate(text.splitlines(), 1) if "# here" in one)
    with (
        module(tmp_path, text),
        pytest.raises(EnvironmentFault, match=rf"step raised \w+ in .*mine.py, line {line}: "),
    ):
        runner.record(SPEC, tmp_path / "out")
