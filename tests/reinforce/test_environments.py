"""Environments of others: every fault is refused with its reason, and all else passes."""

import contextlib
import importlib
import os
import pickle
import random
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch

import amgd
from amgd.errors import Diverged, EnvironmentFault
from amgd.reinforce import TrainingSpec, check_environment, importable, make_simulator, train
from amgd.reinforce import environments as module_under_test

MODULE = """
import random, sys, time
import gymnasium
import numpy as np
from gymnasium import spaces
{top}

class Mine(gymnasium.Env):
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.look(), {{}}

    def look(self):
        return np.array([self.np_random.random(), self.t])

    def step(self, action):
        self.t += 1
        return self.look(), 1.0, self.t == 7, False, {{}}

class Wrong(Mine):
    {body}

gymnasium.register("Mine-v0", entry_point={entry}, max_episode_steps=20)
"""
NAME = "mine:Mine-v0"


def source(body="pass", top="", entry="Wrong"):
    return MODULE.format(
        body=textwrap.indent(textwrap.dedent(body), "    ")[4:], top=top, entry=entry
    )


@contextlib.contextmanager
def new_modules():
    """Forget modules and environments that come up meanwhile."""
    tables = [(table, dict(table)) for table in (sys.modules, gymnasium.registry)]
    try:
        yield
    finally:
        for table, before in tables:
            for key in set(table) - set(before):
                if table is gymnasium.registry or key.split(".")[0] in (
                    "mine",
                    "helper",
                    "wave",
                    "balance",
                ):
                    del table[key]


@pytest.fixture
def write(tmp_path):
    """Write mine.py, and let it be imported."""
    with new_modules(), importable(tmp_path):
        yield lambda text: (tmp_path / "mine.py").write_text(text)


def look(text):
    return f"def look(self):\n    return {text}"


def step(text):
    return f"def step(self, action):\n    {text}\n    return super().step(action)"


def result(text):
    return f"def step(self, action):\n    super().step(action)\n    return {text}"


def reset(text):
    return (
        f"def reset(self, *, seed=None, options=None):\n    {text}\n"
        "    return super().reset(seed=seed, options=options)"
    )


def init(text):
    return f"def __init__(self):\n    {text}"


def actions(space):
    return f"action_space = spaces.{space}"


def observations(space):
    return f"observation_space = spaces.{space}\n" + look("self.observation_space.sample()")


SHAPE = r"reset must return an observation of shape \(2,\): got "
CLIPPED = "actions must not be clipped nearly always: "
GYMNASIUM = "Gymnasium's check_env refuses it: "
EQUAL = "two new environments with equal seeds and actions must not differ: got .* and .* in "
BEFORE = "an episode must not depend on those before it: got .* and .* in "
BESIDE = "an episode must not depend on another environment beside it: got .* and .* in "
WRAPPED = "lambda: gymnasium.wrappers.{}(Wrong())"

WRONG = {
    # the seed
    "a generator without a seed": (
        source(look("np.array([np.random.default_rng().random(), 0])")),
        EQUAL + "observation at reset 1; draw from self.np_random",
    ),
    "NumPy's global generator": (
        source(look("np.array([np.random.random(), 0])")),
        EQUAL + "observation at reset 1",
    ),
    "Python's global generator": (
        source(result("np.ones(2), random.random(), False, False, {}")),
        EQUAL + "reward at step 1 of episode 1",
    ),
    "PyTorch's global generator": (
        source(look("np.array([float(torch.rand(())), 0])"), top="import torch"),
        EQUAL + "observation at reset 1",
    ),
    "a clock": (source(look("np.array([time.perf_counter(), 0])")), EQUAL + "observation"),
    "an end at random": (
        source(result("np.ones(2), 1.0, random.random() < 0.5, False, {}")),
        EQUAL + "terminated at step",
    ),
    "a counter of the class": (
        source(
            "n = 0\n"
            + reset("Mine.n = getattr(Mine, 'n', 0) + 1")
            + "\n"
            + look("np.array([Mine.n, 0])")
        ),
        EQUAL + "observation at reset 1",
    ),
    "a last bit": (
        source(look("np.array([0.5 + random.choice([0.0, 2.0**-53]), 0])")),
        EQUAL + "observation at",
    ),
    "NumPy's global generator with the seed": (
        source(reset("np.random.seed(seed)") + "\n" + look("np.array([np.random.random(), 0])")),
        BESIDE + "observation at .*; keep its state in self",
    ),
    "a state of the module": (
        source(
            reset("state[0] = 0") + "\n" + step("state[0] += 1") + "\n" + look("np.array(state)"),
            top="state = [0, 0]",
        ),
        BESIDE + "observation at step",
    ),
    # memory
    "a counter of episodes": (
        source(
            init("self.n = 0") + "\n" + reset("self.n += 1") + "\n" + look("np.array([self.n, 0])")
        ),
        BEFORE + "observation at reset 1; reset must bring back all",
    ),
    "a counter of ends": (
        source(
            init("self.n = 0")
            + "\n"
            + step("self.n += self.t == 6")
            + "\n"
            + look("np.array([0, self.n])")
        ),
        BEFORE + "observation at reset 1",
    ),
    "a reward that grows": (
        source(
            init("self.n = iter(range(999))")
            + "\n"
            + result("np.ones(2), float(next(self.n)), self.t == 7, False, {}")
        ),
        BEFORE + "reward at step 1 of episode 1",
    ),
    "a state that reset forgets": (
        source(
            init("self.x = 0.0")
            + "\n"
            + step("self.x += self.np_random.random()")
            + "\n"
            + look("np.array([self.x, 0])")
        ),
        BEFORE + "observation at reset 1",
    ),
    "NormalizeObservation": (
        source(entry=WRAPPED.format("NormalizeObservation")),
        BEFORE + "observation at reset 1; .*NormalizeObservation",
    ),
    "NormalizeReward": (
        source(
            result("np.ones(2), float(self.t), self.t == 7, False, {}"),
            entry=WRAPPED.format("NormalizeReward"),
        ),
        BEFORE + "reward at step 1 of episode 1",
    ),
    "NormalizeObservation, registered": (
        source(
            top="from gymnasium.envs.registration import WrapperSpec\n"
            "norm = WrapperSpec('n', 'gymnasium.wrappers:NormalizeObservation', {'epsilon': 1e-8})",
            entry="Wrong, additional_wrappers=(norm,)",
        ),
        BEFORE + "observation",
    ),
    # numbers
    "NaN": (
        source(look("np.array([np.nan if self.t == 3 else 0, 0])")),
        r"step must return an observation of finite numbers: got array\(\[nan",
    ),
    "infinity at the start": (
        source(look("np.array([np.inf, 0])")),
        "reset must return an observation of finite",
    ),
    "NaN in a Dict": (
        source(
            "observation_space = spaces.Dict(a=Mine.observation_space)\n"
            + look("{'a': np.array([np.nan, 0])}")
        ),
        r"reset must return an observation in Dict\(.*: got {'a': array\(\[nan",
    ),
    "reward NaN": (
        source(result("np.ones(2), np.nan, False, False, {}")),
        "every reward must be finite: got nan",
    ),
    "reward infinite": (
        source(result("np.ones(2), -np.inf, False, False, {}")),
        "every reward must be finite: got -inf",
    ),
    # types and shapes
    "wrong shape": (
        source(look("np.zeros(3)")),
        r"reset must return an observation of shape \(2,\): got shape \(3,\)",
    ),
    "wrong shape later": (
        source(look("np.zeros(2 + (self.t > 0))")),
        r"step must return an observation of shape",
    ),
    "a column": (source(look("np.zeros((2, 1))")), SHAPE + r"shape \(2, 1\)"),
    "a list in a list": (source(look("[[0.0], [1.0, 2.0]]")), SHAPE + r"\[\[0.0\]"),
    "words": (source(look("np.array(['a', 'b'])")), SHAPE + r"array\(\['a'"),
    "None": (source(look("None")), SHAPE + r"None"),
    "not in the space": (
        source("observation_space = spaces.Discrete(3)\n" + look("7")),
        r"reset must return an observation in Discrete\(3\): got 7",
    ),
    "array reward": (
        source(result("np.ones(2), np.array([1.0]), False, False, {}")),
        r"a reward must be a number: got ndarray array\(\[1.\]\); use float",
    ),
    "reward without axes": (
        source(result("np.ones(2), np.array(1.0), False, False, {}")),
        "a reward must be a number: got ndarray",
    ),
    "reward None": (
        source(result("np.ones(2), None, False, False, {}")),
        "a reward must be a number: got NoneType",
    ),
    "reward True": (
        source(result("np.ones(2), True, False, False, {}")),
        "a reward must be a number: got bool",
    ),
    "reward in words": (
        source(result("np.ones(2), '1', False, False, {}")),
        "a reward must be a number: got str",
    ),
    "array terminated": (
        source(result("np.ones(2), 1.0, np.array([False]), False, {}")),
        r"terminated must be True or False: got ndarray array\(\[False\]\); use bool",
    ),
    "integer truncated": (
        source(result("np.ones(2), 1.0, False, 0, {}")),
        "truncated must be True or False: got int 0",
    ),
    "four values": (
        source(result("np.ones(2), 1.0, False, {}")),
        r"step must return \(observation, reward, terminated, truncated, info\): got 4 values",
    ),
    "no tuple": (source(result("np.ones(2)")), r"step must return .*: got ndarray"),
    "reset without info": (
        source(
            "def reset(self, *, seed=None, options=None):\n    return super().reset(seed=seed)[0]"
        ),
        r"reset must return \(observation, info\): got ndarray",
    ),
    # spaces
    **{
        f"actions {space}": (
            source(actions(space)),
            rf"actions must be one integer \(Discrete\) or one vector \(Box\): got {kind}.*wrap",
        )
        for space, kind in {
            "MultiDiscrete([2, 2])": "MultiDiscrete",
            "MultiBinary(3)": "MultiBinary",
            "Tuple([spaces.Discrete(2)])": "Tuple",
            "Dict(a=spaces.Discrete(2))": "Dict",
            "Text(5)": "Text",
            "Sequence(spaces.Discrete(2))": "Sequence",
            "Box(-1, 1, (2, 2))": "Box",
            "Box(-1, 1, ())": "Box",
        }.items()
    },
    "actions rounded": (
        source(actions("Box(0, 9, (2,), np.int64)")),
        "a vector of actions must be real: got .*; round in the environment",
    ),
    **{
        f"observations {space}": (
            source(f"observation_space = spaces.{space}"),
            f"observations must hold a fixed number of numbers: got {kind} in .*wrap",
        )
        for space, kind in {
            "Text(5)": "Text",
            "Sequence(spaces.Discrete(2))": "Sequence",
            "Graph(spaces.Discrete(2), None)": "Graph",
            "OneOf([spaces.Discrete(2), spaces.Discrete(3)])": "OneOf",
            "Dict(a=spaces.Tuple([spaces.Text(5)]))": "Text",
        }.items()
    },
    "bounds too wide": (
        source(actions("Box(-1000, 1000, (2,))")),
        r"actions must be of the policy's size: got bounds \[-1000, 1000\].*RescaleAction",
    ),
    "bounds too narrow": (
        source(actions("Box(-1e-3, 1e-3, (2,))")),
        CLIPPED + r"0.0008 of those of .* lie in \[-0.001, 0.001\].*RescaleAction",
    ),
    "bounds away from 0": (
        source(actions("Box(np.array([-1., 10.]), np.array([1., 20.]), dtype=np.float64)")),
        CLIPPED + r".* lie in \[10, 20\]",
    ),
    # Gymnasium's own check
    "a generator of its own": (
        source(
            "def reset(self, *, seed=None, options=None):\n"
            "    self.t, self._own = 0, np.random.default_rng(seed)\n"
            "    return self.look(), {}\n" + look("np.array([self._own.random(), self.t])")
        ),
        GYMNASIUM + r".*super\(\).reset",
    ),
    "outside of its bounds": (
        source(
            "observation_space = spaces.Box(-1, 1, (2,), np.float64)\n"
            + look("np.array([0.0, 2.0])")
        ),
        GYMNASIUM + ".*not within the observation space",
    ),
    "another precision": (
        source(look("np.zeros(2, dtype=np.float32)")),
        GYMNASIUM + ".*dtype to be float64, actual type: float32",
    ),
    "one array for all": (
        source(reset("self.place = np.zeros(2)") + "\n" + look("self.place")),
        GYMNASIUM + ".*share an object",
    ),
    "no options": (
        source("def reset(self, *, seed=None):\n    return super().reset(seed=seed)"),
        "reset raised TypeError: .*'options'",
    ),
    "info is no dict": (
        source(result("np.ones(2), 1.0, False, False, None")),
        GYMNASIUM + ".*info.*dictionary",
    ),
    "no seed": (
        source("def reset(self):\n    return super().reset()"),
        "reset raised TypeError.*unexpected keyword argument 'seed'",
    ),
    "a level that hides warnings": (
        source(
            look("np.zeros(2, dtype=np.float32)"),
            top="gymnasium.logger.min_level = gymnasium.logger.ERROR",
        ),
        GYMNASIUM + ".*dtype to be float64",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_environment_is_refused_with_the_reason(case, write):
    text, reason = WRONG[case]
    write(text)
    with pytest.raises(EnvironmentFault, match=f"^{NAME}: {reason}") as caught:
        check_environment(NAME)
    assert len(str(caught.value)) < 500


# --- errors in the code of the environment --------------------------------------------------------
ODD = """
class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a)
"""
RAISED = {
    "step": (source(step("1 / 0  # here")), "step raised ZeroDivisionError{}: division by zero"),
    "a later step": (source(step("1 / (self.t - 5)  # here")), "step raised ZeroDivisionError{}"),
    "reset": (source(reset("{}['a']  # here")), "reset raised KeyError{}: 'a'"),
    "constructor": (
        source(init("open('/nowhere/at/all')  # here")),
        "the constructor raised FileNotFoundError{}: .*/nowhere",
    ),
    "constructor, TypeError": (
        source(init("len(3)  # here")),
        "the constructor raised TypeError{}: object of type 'int' has no len",
    ),
    "close": (
        source("def close(self):\n    raise OSError('stuck')  # here"),
        "close raised OSError{}: stuck",
    ),
    "assertion": (
        source(step("assert action < 0, 'too big'  # here")),
        "step raised AssertionError{}: too big",
    ),
    "below a library": (
        source(step("np.concatenate([[1], 'a'])  # here")),
        "step raised ValueError{}",
    ),
    "its own class": (
        source(step("raise Odd('x', 3)  # here"), top=ODD),
        "step raised Odd{}: x",
    ),
    "number": (
        source(step("raise FloatingPointError('blown up')  # here")),
        "a run raised FloatingPointError{}: blown up",
    ),
    "step, SystemExit": (source(step("sys.exit(0)  # here")), "step raised SystemExit{}: 0"),
    "reset, SystemExit": (source(reset("sys.exit()  # here")), "reset raised SystemExit{}: "),
    "constructor, SystemExit": (
        source(init("sys.exit('bye')  # here")),
        "the constructor raised SystemExit{}: bye",
    ),
    "import, SystemExit": (source(top="sys.exit(0)  # here"), "import mine raised SystemExit{}: 0"),
    "import": (source(top="1 / 0  # here"), "import mine raised ZeroDivisionError{}"),
    "import of something else": (
        source(top="import nothing_of_this_name  # here"),
        "import mine raised ModuleNotFoundError{}: No module named",
    ),
    "syntax": (source(top="x = = 3  # here"), "import mine raised SyntaxError{}: invalid syntax"),
}


@pytest.mark.parametrize("case", RAISED)
def test_an_error_has_file_and_line(case, write, tmp_path):
    text, told = RAISED[case]
    write(text)
    line = next(i for i, one in enumerate(text.splitlines(), 1) if "# here" in one)
    where = re.escape(f" in {tmp_path / 'mine.py'}, line {line}")
    with pytest.raises(EnvironmentFault, match=f"^{NAME}: {told.format(where)}") as caught:
        check_environment(NAME)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_an_error_in_a_module_that_the_environment_uses_is_told_there(write, tmp_path):
    write(source(step("helper.help()"), top="import helper"))
    (tmp_path / "helper.py").write_text("def help():\n    return [][3]\n")
    place = re.escape(f"step raised IndexError in {tmp_path / 'helper.py'}, line 2")
    with pytest.raises(EnvironmentFault, match=place):
        check_environment(NAME)


def test_an_error_of_an_installed_package_is_told_there(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "mine.py").write_text(source(step("1 / 0")))
    monkeypatch.syspath_prepend(site)
    with (
        new_modules(),
        pytest.raises(EnvironmentFault, match=r"ZeroDivisionError in .*mine.py, line"),
    ):
        check_environment(NAME)


def test_ctrl_c_stays_ctrl_c(write):
    write(source(step("raise KeyboardInterrupt")))
    with pytest.raises(KeyboardInterrupt):
        check_environment(NAME)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        (
            "nowhere:Mine-v0",
            EnvironmentFault,
            "there is no module nowhere .* nowhere.py in the working directory",
        ),
        ("no.where:Mine-v0", EnvironmentFault, "there is no module no.where .* no/where.py in"),
        ("mine.inner:Mine-v0", EnvironmentFault, "there is no module mine.inner"),
        (
            "mine:Mein-v0",
            ValueError,
            "got 'mine:Mein-v0'; .*mine is .*mine.py; did you mean Mine-v0",
        ),
        ("mine:", ValueError, "got 'mine:'"),
        ("Mine-v1", ValueError, "got 'Mine-v1'"),
        (3, TypeError, "name must be a string"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(write, name, error, words):
    write(source())
    with pytest.raises(error, match=words):
        check_environment(name)


# --- what passes ----------------------------------------------------------------------------------
RIGHT = {
    "as it is": source(),
    "no time limit": source().replace(", max_episode_steps=20", ""),
    "a fixed start": source(look("np.array([0.0, self.t])")),
    "an episode of one step": source(result("self.look(), 1.0, True, False, {}")),
    "NumPy's booleans and numbers": source(
        result("self.look(), np.float32(1), np.bool_(False), np.bool_(False), {}")
    ),
    "an integer reward": source(result("self.look(), 1, False, False, {}")),
    "actions from -1": source(
        actions("Discrete(3, start=-1)") + "\n" + step("assert self.action_space.contains(action)")
    ),
    "a vector of actions": source(
        actions("Box(-2, 2, (3,))") + "\n" + step("assert self.action_space.contains(action)")
    ),
    "one-sided bounds": source(actions("Box(0, 1, (3,))")),
    "single precision": source(
        "observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)\n"
        + look("np.array([0, self.t], dtype=np.float32)")
    ),
    "a picture": source(
        "observation_space = spaces.Box(0, 255, (4, 4, 3), np.uint8)\n"
        + look("self.np_random.integers(0, 256, (4, 4, 3), dtype=np.uint8)")
    ),
    "Discrete": source("observation_space = spaces.Discrete(9)\n" + look("self.t")),
    "MultiDiscrete": source(
        "observation_space = spaces.MultiDiscrete([9, 2])\n" + look("np.array([self.t, 1])")
    ),
    "MultiBinary": source(
        "observation_space = spaces.MultiBinary(2)\n" + look("np.array([0, 1], dtype=np.int8)")
    ),
    "Tuple": source(
        "observation_space = spaces.Tuple([spaces.Discrete(9), Mine.observation_space])\n"
        + look("(self.t, np.zeros(2))")
    ),
    "Dict": source(
        "observation_space = spaces.Dict(a=spaces.Discrete(9), b=Mine.observation_space)\n"
        + look("{'a': self.t, 'b': np.zeros(2)}")
    ),
    "a wrapper without memory": source(entry=WRAPPED.format("FlattenObservation")),
    "a world drawn by the constructor": source(
        init("self.world = np.random.default_rng(0).random()")
        + "\n"
        + look("np.array([self.world, 0])")
    ),
    "the old method seed": source("def seed(self, seed=None):\n    return [seed]"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_environment_passes_and_runs(case, write):
    write(RIGHT[case])
    assert check_environment(NAME) == []
    spec = TrainingSpec(
        environment=NAME,
        hidden=(4,),
        iterations=1,
        batch=3,
        evaluation="none",
        optimizer="sgd",
        horizon=15,
    )
    assert np.isfinite(train(spec).log["return"]).all()


OTHERS = [
    "CartPole-v0", "CartPole-v1", "Acrobot-v1", "Swimmer-v5", "Walker2d-v5", "HalfCheetah-v5",
    "Ant-v5", "Ant-v4", "Pendulum-v1", "MountainCar-v0", "FrozenLake-v1", "amgd/GridWorld-v0",
    "InvertedPendulum-v5",
]  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_gymnasiums_environments_pass(name):
    assert check_environment(name) == []


def test_options_are_passed_on():
    assert check_environment("CartPole-v1", sutton_barto_reward=True) == []
    with pytest.raises(
        EnvironmentFault, match=r"the constructor raised TypeError.*unexpected .*'no'"
    ):
        check_environment("CartPole-v1", no=True)


REMARKS = {
    "prints": (
        source(top="print('hello')\nprint('world')"),
        "prints on standard output, as 'hello'",
    ),
    "prints a lot": (source(step("print('step')")), "prints on standard output, as 'step'"),
    "slow": (
        source(init("time.sleep(0.02)")),
        r"takes 0.0\d* s to make, and n episodes need n of them|takes 0.0 s",
    ),
    "no bounds": (
        source(actions("Box(-np.inf, np.inf, (2,))")),
        "has actions without bounds",
    ),
}


@pytest.mark.parametrize("case", REMARKS)
def test_what_may_not_be_meant_is_remarked(case, write, monkeypatch, capsys):
    monkeypatch.setattr(module_under_test, "SLOW", 0.01 if case == "slow" else 60)
    text, remark = REMARKS[case]
    write(text)
    (told,) = check_environment(NAME)
    assert re.match(f"{NAME} ({remark})", told)
    assert capsys.readouterr() == ("", "")


# --- what a check costs and leaves behind ---------------------------------------------------------
COUNTED = source(
    init("counts['made'] += 1")
    + "\n"
    + step("counts['steps'] += 1")
    + "\ndef close(self):\n    counts['closed'] += 1",
    top="import collections, torch\ncounts = collections.Counter()",
)


def states():
    return (
        random.getstate(),
        [np.array(part).tolist() for part in np.random.get_state()],  # noqa: NPY002
        torch.get_rng_state().tolist(),
        gymnasium.logger.min_level,
        sys.stdout,
        list(sys.path),
        os.getcwd(),
    )


def test_a_check_takes_few_steps_and_closes_what_it_makes(write):
    write(COUNTED)
    check_environment(NAME)
    counts = sys.modules["mine"].counts
    assert counts["made"] <= 4
    assert counts["closed"] >= counts["made"]
    assert 400 < counts["steps"] < 700


@pytest.mark.parametrize("fault", ["", "if counts['steps'] == 150: sys.exit()"])
def test_a_check_leaves_no_state_behind(write, fault):
    use = "random.random(); np.random.random(); torch.rand(()); counts['steps'] += 1"
    write(
        COUNTED.replace(
            "counts['steps'] += 1", f"{use}; gymnasium.logger.min_level = 50\n        {fault}"
        )
    )
    before = states()
    with pytest.raises(EnvironmentFault) if fault else contextlib.nullcontext():
        check_environment(NAME)
    assert states() == before
    counts = sys.modules["mine"].counts
    assert counts["closed"] >= counts["made"]


def test_a_check_is_deterministic(write):
    write(
        source("n = 0\n" + step("Wrong.n += self.t == 4") + "\n" + look("np.array([Wrong.n, 0])"))
    )
    told = set()
    for _ in range(2):
        with pytest.raises(EnvironmentFault) as caught:
            check_environment(NAME)
        told.add(str(caught.value))
        sys.modules["mine"].Wrong.n = 0
    assert len(told) == 1


def test_a_check_takes_the_same_actions_each_time(write):
    body = "action_space = spaces.Discrete(10**9)\n" + step("actions.append(int(action))")
    write(source(body, top="actions = []"))
    check_environment(NAME)
    once = list(sys.modules["mine"].actions)
    check_environment(NAME)
    assert sys.modules["mine"].actions == once * 2


# --- a run after the check ------------------------------------------------------------------------
@pytest.fixture
def after_the_check(monkeypatch):
    """A trainer that has checked the environment of this name before, when it had no fault."""
    monkeypatch.setattr("amgd.reinforce.training._check_once", lambda *_: None)


@pytest.mark.usefixtures("after_the_check")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            step("1 / (self.t - 5)  # here"),
            r"step raised ZeroDivisionError in .*mine.py, line \d+: division",
        ),
        (step("sys.exit(0) if self.t == 5 else None"), "step raised SystemExit in .*mine.py"),
        (
            reset("self.n = getattr(self, 'n', 0) + 1; assert self.n < 2"),
            "reset raised AssertionError in",
        ),
        (
            result("np.zeros(2), np.array([1.0]), False, False, {}"),
            r"a reward must be a number.* of shape \(\): got array\(\[1.\]\)",
        ),
        (
            result("np.zeros(2), None, False, False, {}"),
            r"a reward must be a number.* of shape \(\): got None",
        ),
        (
            result("np.zeros(2), 1.0, np.array([False]), False, {}"),
            "terminated must be a number.* of shape",
        ),
        (
            look("np.zeros(2 + (self.t == 3))"),
            r"an observation must be .* of shape \(2,\): got array\(\[0., 0., 0.\]\)",
        ),
        ("observation_space = spaces.Text(3)", "observations must hold a fixed number"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*WARN")  # Gymnasium's passive checker, in the first step
def test_a_fault_in_a_run_is_told_too(write, body, words):
    write(source(body, entry="Wrong, disable_env_checker=True"))
    spec = TrainingSpec(environment=NAME, hidden=(4,), iterations=2, batch=3, optimizer="sgd")
    with pytest.raises(EnvironmentFault, match=words):
        train(spec)


@pytest.mark.usefixtures("after_the_check")
def test_numbers_that_blow_up_are_a_run_that_diverges(write):
    write(source(step("if self.t == 5: raise FloatingPointError('blown up')")))
    spec = TrainingSpec(environment=NAME, hidden=(4,), iterations=2, batch=3, optimizer="sgd")
    with pytest.raises(Diverged, match="blown up"):
        train(spec)


# --- modules of the working directory -------------------------------------------------------------
def test_a_folder_is_importable_meanwhile(tmp_path):
    before = list(sys.path)
    with new_modules():
        with importable(tmp_path):
            (tmp_path / "mine.py").write_text("n = 1")
            assert importlib.import_module("mine").n == 1
            with importable(tmp_path):
                assert sys.path.count(str(tmp_path)) == 1
            assert sys.path == [*before, str(tmp_path)]
        assert sys.path == before
    with pytest.raises(RuntimeError), importable(tmp_path):
        raise RuntimeError
    assert sys.path == before


def test_a_folder_does_not_hide_what_is_installed(tmp_path):
    (tmp_path / "wave.py").write_text("mine = True")
    with new_modules(), importable(tmp_path):
        assert not hasattr(importlib.import_module("wave"), "mine")


PROGRAM = """
import os
import joblib
from distributed import Client, LocalCluster
from amgd.reinforce import check_environment, importable

def work(folder):
    from amgd.reinforce import make_simulator, importable
    with importable(folder):
        return repr(make_simulator("mine:Mine-v0"))

if __name__ == "__main__":
    try:
        check_environment("mine:Mine-v0")
    except ValueError as error:
        print(error)
    with importable():
        print(check_environment("mine:Mine-v0"))
    folder = os.getcwd()
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    print(joblib.Parallel(n_jobs=2)([joblib.delayed(work)(folder)]))
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        print(client.gather(client.map(work, [folder])))
"""


def test_the_working_directory_is_importable_in_a_program_and_in_its_workers(tmp_path):
    """As in the console script `amgd`, whose own folder is another."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "program").write_text(PROGRAM)
    (tmp_path / "mine.py").write_text(source())
    done = subprocess.run(
        [sys.executable, str(tmp_path / "bin" / "program")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(amgd.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    refused, accepted, loky, dask = done.stdout.splitlines()
    assert "there is no module mine" in refused
    assert accepted == "[]"
    assert loky == dask == "['<mine:Mine-v0: 0 episodes after 0 steps>']"


def test_a_simulator_says_whether_it_runs_foreign_code(write):
    write(source())
    assert make_simulator(NAME).foreign
    assert make_simulator("Pendulum-v1").foreign
    assert not make_simulator("CartPole-v1").foreign
    assert not make_simulator("Ant-v5").foreign


# --- the page -------------------------------------------------------------------------------------
def test_the_environment_of_the_page_is_right(tmp_path):
    page = (Path(amgd.__file__).parents[1] / "book" / "experiments.md").read_text("utf8")
    (code,) = re.findall(
        r"^```{code-block} python\n:caption: balance.py\n\n(.*?)```", page, re.S | re.M
    )
    (line,) = re.findall(r"^python (-c .*check_environment.*)$", page, re.M)
    (tmp_path / "balance.py").write_text(code)
    done = subprocess.run(
        [sys.executable, *shlex.split(line)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(amgd.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
    (name,) = set(re.findall(r"\bbalance:[\w-]+", page))
    spec = TrainingSpec(environment=name, hidden=(4,), iterations=1, batch=3, optimizer="sgd")
    with new_modules(), importable(tmp_path):
        assert train(spec).log["return"].min() >= 1
