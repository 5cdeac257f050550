"""Environments of others: importing them, saying where they fail, checking that runs repeat.

A record can be made again if the episodes of an environment depend on nothing but their seed and
the actions. Gymnasium does not ask for that: a wrapper may keep statistics of all that it has seen,
an environment may draw from a generator that it shares with others. `check_environment` runs one
for a few hundred steps and refuses it with the reason.

Plan of the module: names, errors in foreign code, spaces, the check.
"""

from __future__ import annotations

import difflib
import importlib
import io
import math
import os
import random
import re
import sysconfig
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from amgd._imports import importable
from amgd.errors import EnvironmentFault

__all__ = ["check_environment", "importable"]

Environment = gymnasium.Env[Any, Any]


# --- names ----------------------------------------------------------------------------------------
def find(name: str, fast: Sequence[str] = ()) -> EnvSpec:
    """Import the module that a name such as "mine:Mine-v0" begins with, and look the name up.

    Parameters
    ----------
    name : str
    fast : sequence of str
        Names that the caller knows besides, for the message.

    Raises
    ------
    EnvironmentFault
        If there is no such module, or it fails.
    ValueError
        If the name is not registered.
    """
    module, _, registered = name.rpartition(":")
    hint = f"those with a fast simulator are {', '.join(fast)}; " if fast else ""
    if module:
        with foreign_code(name, f"import {module}"):
            try:
                imported = importlib.import_module(module)
            except ModuleNotFoundError as error:
                if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                    raise
                raise EnvironmentFault(
                    f"{name}: there is no module {module} (expected one that is installed, or "
                    f"{module.replace('.', '/')}.py in the working directory)"
                ) from error
        hint += f"{module} is {getattr(imported, '__file__', None)}; "
    if registered not in gymnasium.registry:
        close = difflib.get_close_matches(registered, [*gymnasium.registry], n=3)
        hint += f"did you mean {' or '.join(close)}?" if close else "pprint_registry() lists all"
        raise ValueError(f"name must be a registered environment: got {name!r}; {hint}")
    return gymnasium.registry[registered]


# --- errors in foreign code -----------------------------------------------------------------------
@contextmanager
def foreign_code(name: str, action: str) -> Iterator[None]:
    """Turn whatever the code of an environment raises into one error that says where.

    Parameters
    ----------
    name : str
        Gymnasium's name of the environment.
    action : str
        What it does, such as "step".

    Raises
    ------
    EnvironmentFault
        In place of any exception, `SystemExit` too: nothing but a user ends the program.
        FloatingPointError stays what it is, for a run that diverges raises it.
    """
    try:
        yield
    except (EnvironmentFault, FloatingPointError):
        raise
    except (Exception, SystemExit) as error:
        raise fault(name, action, error) from error


def fault(name: str, action: str, error: BaseException) -> EnvironmentFault:
    """Return the error that tells of another, which the code of an environment raised."""
    told, place = error, _place_of(error)
    while place is None and told.__cause__ is not None:  # Gymnasium wraps what a constructor raises
        told = told.__cause__
        place = _place_of(told)
    if place is None:
        told, where = error, ""
    else:
        where = f" in {place[0]}, line {place[1]}"
    return EnvironmentFault(f"{name}: {action} raised {type(told).__name__}{where}: {told}")


def _place_of(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of the last call in code of the user's, or else of another package."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    calls = [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(error.__traceback__)]
    best = min((_distance(file) for file, _ in calls), default=_FAR)
    return None if best == _FAR else [call for call in calls if _distance(call[0]) == best][-1]


_FAR = 2
_OURS = tuple(
    f"{folder}{os.sep}" for folder in (Path(__file__).parents[1], Path(gymnasium.__file__).parent)
)
_PYTHON = tuple(f"{sysconfig.get_path(kind)}{os.sep}" for kind in ("stdlib", "platstdlib"))


def _distance(file: str) -> int:
    """Return 0 for a file of the user's, 1 for one of another package, 2 for one of no interest."""
    if file.startswith((*_OURS, "<frozen ")):
        return _FAR
    if {"site-packages", "dist-packages"} & set(Path(file).parts):
        return 1
    return _FAR if file.startswith(_PYTHON) else 0


# --- spaces ---------------------------------------------------------------------------------------
def check_spaces(name: str, env: gymnasium.Env[Any, Any]) -> None:
    """Refuse actions that no policy draws, and observations that are not a vector of numbers.

    Parameters
    ----------
    name : str
        Gymnasium's name of the environment.
    env : gymnasium.Env

    Raises
    ------
    EnvironmentFault
        That names the space.
    """
    cure = "wrap the environment and register it under a name of its own"
    actions, observations = env.action_space, env.observation_space
    vector = isinstance(actions, spaces.Box) and len(actions.shape) == 1
    if not isinstance(actions, spaces.Discrete) and not vector:
        raise EnvironmentFault(
            f"{name}: actions must be one integer (Discrete) or one vector (Box): got {actions}; "
            f"{cure}"
        )
    if isinstance(actions, spaces.Box) and actions.dtype.kind != "f":
        raise EnvironmentFault(
            f"{name}: a vector of actions must be real: got {actions}; round in the environment, "
            "and give its action space a dtype such as numpy.float32"
        )
    waiting: list[Any] = [observations]
    while waiting:
        space = waiting.pop()
        if isinstance(space, spaces.Dict | spaces.Tuple):
            waiting += space.values() if isinstance(space, spaces.Dict) else space.spaces
        elif not isinstance(space, _NUMBERS):
            raise EnvironmentFault(
                f"{name}: observations must hold a fixed number of numbers: got "
                f"{type(space).__name__} in {observations}; {cure}"
            )


_NUMBERS = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)


# --- the check ------------------------------------------------------------------------------------
STEPS = 100  # of each run
SEED, OTHER = 1, 10_000  # of the first episode of a run; the next ones count on
SLOW = 0.5  # seconds


def check_environment(name: str, **options: Any) -> list[str]:
    """Refuse an environment whose episodes depend on more than their seed and the actions.

    Parameters
    ----------
    name : str
        Gymnasium's name, as `make_simulator` takes it.
    **options
        Passed to the environment.

    Returns
    -------
    list of str
        Remarks: what is allowed, and may not be meant. Empty for an environment with a fast
        simulator of this package, which is not run here.

    Raises
    ------
    EnvironmentFault
        With the reason, when

        - its code raises an error, `SystemExit` too; the message has its file and line;
        - actions or observations are of a kind, or bounds of a size, that the policies cannot use;
        - an observation, a reward or an end has the wrong type or shape, or is not finite;
        - two runs with equal seeds and actions differ in a bit;
        - an episode depends on what was played before, or on an environment beside it;
        - Gymnasium's own ``check_env`` refuses it, or warns of something that matters here.
    ValueError
        When the name is not registered.

    Notes
    -----
    It makes the environment four times and takes some 600 steps; what shows only later is not seen.
    NumPy's, Python's and PyTorch's global generators are left as they were.

    Examples
    --------
    >>> check_environment("Pendulum-v1")
    []
    """
    from amgd.reinforce.simulators import make_simulator  # which imports this module

    printed = io.StringIO()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(printed))
        stack.enter_context(_global_state_kept())
        simulator = make_simulator(name, **options)
        if not simulator.foreign:
            return []
        stack.callback(simulator.close)
        environments = []
        for _ in range(3):
            begin = time.perf_counter()
            with foreign_code(name, "the constructor"):
                made = gymnasium.make(name, disable_env_checker=True, **options)
            seconds = time.perf_counter() - begin
            stack.callback(_close, name, made)
            environments.append(made)
        space = environments[0].action_space
        remarks = _bounds(name, space) if isinstance(space, spaces.Box) else []
        try:
            _compare_runs(name, *environments)
        except FloatingPointError as error:
            raise fault(name, "a run", error) from error
        _check_by_gymnasium(name, environments[0].unwrapped)
    if seconds > SLOW:
        remarks.append(f"{name} takes {seconds:.1f} s to make, and n episodes need n of them")
    if text := printed.getvalue().strip():
        remarks.append(f"{name} prints on standard output, as {text.splitlines()[0]!r:.60}")
    return remarks


@contextmanager
def _global_state_kept() -> Iterator[None]:
    """Give global generators, which foreign code may use, and the level of warnings back."""
    python, pytorch = random.getstate(), torch.get_rng_state()
    legacy = np.random.get_state()  # noqa: NPY002
    level = gymnasium.logger.min_level
    try:
        yield
    finally:
        random.setstate(python)
        torch.set_rng_state(pytorch)
        np.random.set_state(legacy)  # noqa: NPY002
        gymnasium.logger.min_level = level


def _close(name: str, environment: Environment) -> None:
    with foreign_code(name, "close"):
        environment.close()


def _bounds(name: str, space: spaces.Box) -> list[str]:
    """Compare bounds of actions with a new policy's, which are about standard normal."""
    low, high = space.low.astype(float).ravel(), space.high.astype(float).ravel()
    policy = "a new policy, of mean 0 and deviation 1,"
    cure = "wrap it in gymnasium.wrappers.RescaleAction, and register that under another name"
    for a, b in zip(low, high, strict=True):
        inside = (math.erf(b / math.sqrt(2)) - math.erf(a / math.sqrt(2))) / 2
        if inside < 0.01:
            raise EnvironmentFault(
                f"{name}: actions must not be clipped nearly always: {inside:.2g} of those of "
                f"{policy} lie in [{a:g}, {b:g}] (expected 0.01 or more); {cure}"
            )
        if math.isfinite(b - a) and b - a > 600:
            raise EnvironmentFault(
                f"{name}: actions must be of the policy's size: got bounds [{a:g}, {b:g}], of "
                f"which {policy} tries less than a hundredth; {cure}"
            )
    if np.isfinite(low).all() and np.isfinite(high).all():
        return []
    return [f"{name} has actions without bounds: those of {policy} are taken as they are"]


# Two runs, compared.
class _Moment(NamedTuple):
    """What a reset or a step gives."""

    when: str
    observation: NDArray[Any]
    reward: float
    terminated: bool
    truncated: bool


def _compare_runs(name: str, raw: Environment, one: Environment, other: Environment) -> None:
    """Refuse an environment whose runs differ; each of the three is new."""
    # The wrappers of the other two take results apart, and would tell less of a wrong one.
    list(islice(_run(name, raw.unwrapped, SEED), 10))
    alone = list(islice(_run(name, one, SEED), STEPS))
    again = list(islice(_run(name, other, SEED), STEPS))
    _require_equal(
        f"{name}: two new environments with equal seeds and actions must not differ",
        alone,
        again,
        "draw from self.np_random, which super().reset(seed=seed) seeds, and from nothing else",
    )
    list(islice(_run(name, one, OTHER), STEPS))
    _require_equal(
        f"{name}: an episode must not depend on those before it",
        alone,
        list(islice(_run(name, one, SEED), STEPS)),
        "reset must bring back all that step has changed, also in a wrapper; one that keeps "
        "statistics, such as NormalizeObservation, cannot be used: "
        "TrainingSpec(normalise_observations=10.0) keeps those of observations with the run",
    )
    pairs = zip(_run(name, one, SEED), _run(name, other, OTHER), strict=True)
    _require_equal(
        f"{name}: an episode must not depend on another environment beside it",
        alone,
        [moment for moment, _ in islice(pairs, STEPS)],
        "keep its state in self, and draw from self.np_random",
    )


def _run(name: str, environment: Environment, seed: int) -> Iterator[_Moment]:
    """Play episodes with the seeds from this one on, and actions that depend on it alone."""
    draws = np.random.default_rng(seed)
    space: Any = environment.action_space  # one of two kinds
    vectors = environment.observation_space
    for episode in range(STEPS):
        with foreign_code(name, "reset"):
            start = environment.reset(seed=seed + episode)
        observation, _ = _unpacked(name, "reset", start)
        when = f"reset {episode + 1}"
        yield _Moment(when, _vector(name, "reset", vectors, observation), 0.0, False, False)
        for step in range(STEPS):
            if isinstance(space, spaces.Box):
                drawn = draws.standard_normal(space.shape)
                action = np.clip(drawn, space.low, space.high).astype(space.dtype)
            else:
                action = draws.integers(space.n) + space.start
            with foreign_code(name, "step"):
                result = environment.step(action)
            observation, reward, terminated, truncated, _ = _unpacked(name, "step", result)
            yield _Moment(
                f"step {step + 1} of episode {episode + 1}",
                _vector(name, "step", vectors, observation),
                _reward(name, reward),
                _end(name, "terminated", terminated),
                _end(name, "truncated", truncated),
            )
            if terminated or truncated:
                break


def _require_equal(rule: str, expected: list[_Moment], got: list[_Moment], cure: str) -> None:
    """Raise with the first place in which two runs differ in a bit."""
    for one, other in zip(expected, got, strict=True):
        for what in ("observation", "reward", "terminated", "truncated"):
            pair = [np.atleast_1d(getattr(moment, what)) for moment in (one, other)]
            if pair[0].tobytes() != pair[1].tobytes():
                i = int(np.argmax(pair[0] != pair[1]))
                raise EnvironmentFault(
                    f"{rule}: got {pair[0][i]} and {pair[1][i]} in {what} at {one.when}; {cure}"
                )


# What reset and step give.
_RESULTS = {
    "reset": ("observation", "info"),
    "step": ("observation", "reward", "terminated", "truncated", "info"),
}


def _unpacked(name: str, method: str, result: Any) -> tuple[Any, ...]:
    wanted = _RESULTS[method]
    if not isinstance(result, tuple) or len(result) != len(wanted):
        got = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
        raise EnvironmentFault(f"{name}: {method} must return ({', '.join(wanted)}): got {got}")
    return result


def _vector(name: str, method: str, space: Any, observation: Any) -> NDArray[Any]:
    """Return an observation as a vector of finite numbers."""
    rule = f"{name}: {method} must return an observation"
    if isinstance(space, spaces.Box):
        try:
            array = np.asarray(observation)
        except ValueError:  # lists of several lengths
            array = np.asarray(None)
        if array.shape != space.shape or array.dtype.kind not in "biuf":
            got = f"shape {array.shape}" if array.dtype.kind in "biuf" else repr(observation)
            raise EnvironmentFault(f"{rule} of shape {space.shape}: got {got:.60}")
    elif observation not in space:
        raise EnvironmentFault(f"{rule} in {space}: got {observation!r:.60}")
    vector = np.array(spaces.flatten(space, observation))
    if not np.isfinite(vector).all():
        raise EnvironmentFault(f"{rule} of finite numbers: got {observation!r:.60}")
    return vector


def _reward(name: str, reward: Any) -> float:
    if not isinstance(reward, int | float | np.integer | np.floating) or isinstance(reward, bool):
        got = f"{type(reward).__name__} {reward!r:.60}"
        raise EnvironmentFault(f"{name}: a reward must be a number: got {got}; use float(reward)")
    if not math.isfinite(reward):
        raise EnvironmentFault(f"{name}: every reward must be finite: got {reward}")
    return float(reward)


def _end(name: str, what: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        got = f"{type(value).__name__} {value!r:.60}"
        raise EnvironmentFault(f"{name}: {what} must be True or False: got {got}; use bool({what})")
    return bool(value)


# Gymnasium's own check.
_HARMLESS = re.compile(
    r"A Box observation space (minimum|maximum)|A Box action space (minimum|maximum) value is"
    r"|symmetric and normalized space|the `seed` function is dropped|truncates after 1 step"
)


def _check_by_gymnasium(name: str, environment: Environment) -> None:
    """Take what Gymnasium's checker warns of as a reason, but for what does no harm here.

    Harmless are infinite bounds of observations, bounds of actions, which `_bounds` has looked at,
    and a truncation in the first step, for which it takes NumPy's False too.
    """
    environment.action_space.seed(SEED)
    gymnasium.logger.min_level = gymnasium.logger.WARN
    reasons = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            check_env(environment, skip_render_check=True, skip_close_check=True)
        except (Exception, SystemExit) as error:
            if _place_of(error) is not None:
                raise fault(name, "Gymnasium's check_env", error) from error
            reasons.append(str(error))
    texts = [re.sub(r"\x1b\[\d+m", "", str(warning.message)) for warning in told]
    reasons += [text.removeprefix("WARN: ") for text in texts if text.startswith("WARN: ")]
    for reason in reasons:
        if not _HARMLESS.search(reason):
            raise EnvironmentFault(f"{name}: Gymnasium's check_env refuses it: {reason}")
