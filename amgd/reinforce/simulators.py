"""Many episodes of one environment at once, equal to Gymnasium's environments step for step.

All episodes of a batch start together and advance together. An episode that is over leaves the
batch (`Simulator.compact`) and costs nothing from then on; no state is reset inside a batch, so no
made-up transition can appear.

- `CartPole` and `Acrobot` are written in NumPy. The state is an array (coordinate, episode), and
  the arithmetic follows the order of Gymnasium's, so that the states agree to the last bit. That
  matters: an acrobot is chaotic, and a difference of 1e-16 grows to 1e-6 within an episode.
- `Robot` (Swimmer, Walker2d, HalfCheetah, Ant) runs on `mujoco.batch.Batch`, on any number of
  threads, with equal results for each. With two or more it has parts for the halves of a batch, so
  that Python works on one half while the physics advances the other.
- `GymnasiumSimulator` puts any other registered environment behind the same interface.

A simulator draws nothing while it runs. `Simulator.initial` draws one row for each episode, and a
row decides its episode together with the actions.

Plan of the module: the interface, the two classic tasks, the robots, the general case, the maker.
"""

from __future__ import annotations

import copy
import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation
from numpy.typing import ArrayLike, NDArray

from amgd import _checks as check
from amgd._checks import FloatArray
from amgd.errors import EnvironmentFault
from amgd.reinforce.environments import check_spaces, find, foreign_code

__all__ = [
    "Acrobot",
    "CartPole",
    "GymnasiumSimulator",
    "Robot",
    "Simulator",
    "Step",
    "make_simulator",
]

BoolArray = NDArray[np.bool_]
Observations = NDArray[np.floating[Any]]
State = dict[str, Any]


# --- the interface --------------------------------------------------------------------------------
class Step(NamedTuple):
    """What one step gives to n running episodes.

    Attributes
    ----------
    observations : array (n, observation_size)
        A fresh array, never written again.
    rewards : float array (n,)
        Rewards of the step.
    terminated, truncated : bool array (n,)
        Whether the task ended the episode, and whether the time limit did. Both may hold, as in
        Gymnasium.
    """

    observations: Observations
    rewards: FloatArray
    terminated: BoolArray
    truncated: BoolArray


class Simulator(ABC):
    """A batch of episodes of one environment.

    Attributes
    ----------
    name : str
        Gymnasium's name of the environment.
    observation_size : int
        Length of an observation.
    action_kind : "discrete" or "continuous"
        Integers from 0, or vectors.
    action_size : int
        Number of actions, or length of an action.
    horizon : int or None
        The registered time limit in steps; None if there is none.
    batches_runs : bool
        Whether a step costs about the same for one run and for many, so that the batches of several
        runs had better advance together.
    foreign : bool
        Whether it runs code of others, which this package does not test.
    may_end : bool
        Whether an episode can end before the time limit.
    episodes : int array
        Numbers of the running episodes, counted from 0 at the start of the batch.
    terms : dict of str to array
        Terms of the last rewards, one entry for each running episode, under Gymnasium's names.
        The reward is their sum.
    """

    name: str
    observation_size: int
    action_kind: Literal["discrete", "continuous"]
    action_size: int
    horizon: int | None
    batches_runs: ClassVar[bool] = False
    foreign: ClassVar[bool] = False
    may_end: bool = True

    def __init__(self) -> None:
        self.episodes: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.elapsed = 0
        self.terms: dict[str, FloatArray] = {}
        self._over: BoolArray = np.zeros(0, dtype=bool)
        self._observations: Observations = np.zeros((0, 0))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.n_running} episodes after {self.elapsed} steps>"

    @property
    def n_running(self) -> int:
        """Number of episodes that `step` advances."""
        return len(self.episodes)

    @property
    def observations(self) -> Observations:
        """Last observations of the running episodes, (n, observation_size); not to be written."""
        return self._observations

    @abstractmethod
    def initial(self, n: int, *, rng: np.random.Generator) -> NDArray[Any]:
        """Draw n rows, one for each episode: its initial state, or the seed that gives it."""

    def reset(self, n: int, *, rng: np.random.Generator) -> Observations:
        """Start n new episodes from `initial`, and return their first observations."""
        return self.start(self.initial(n, rng=rng))

    def start(self, initial: ArrayLike) -> Observations:
        """Start one episode from each row that `initial` draws, and return the observations."""
        rows = check.as_array("initial", initial, "pass what initial draws")
        self._check_rows(rows)
        self.episodes = np.arange(len(rows))
        self.elapsed = 0
        self.terms = {}
        self._over = np.zeros(len(rows), dtype=bool)
        self._observations = self._start(rows)
        return self._observations

    def step(self, actions: ArrayLike) -> Step:
        """Advance every running episode by one step.

        Parameters
        ----------
        actions : int array (n,) or float array (n, action_size)
            One action for each running episode. Continuous actions are clipped to the bounds of
            the action space first, as rllab's ``normalize`` does; the control cost is that of the
            clipped action.

        Raises
        ------
        RuntimeError
            When an episode of the batch is over, or none was started.
        FloatingPointError
            When a reward or an observation is not finite, or the physics diverged.
        """
        if not self.n_running or self._over.any():
            over = self.episodes[self._over]
            what = f"episodes {over[:5].tolist()} are over" if over.size else "no episode runs"
            raise RuntimeError(
                f"{self.name}: {what} after {self.elapsed} steps; call compact(~over) to drop "
                "those that ended, or reset(n, rng) to start new ones"
            )
        observations, rewards, terminated, truncated = self._step(self._checked(actions))
        self.elapsed += 1
        if self.horizon is not None and self.elapsed >= self.horizon:
            truncated = np.ones_like(terminated)
        self._check_finite("reward", rewards)
        self._check_finite("observation", observations)
        self._over = terminated | truncated
        self._observations = observations
        return Step(observations, rewards, terminated, truncated)

    def compact(self, keep: ArrayLike) -> None:
        """Keep the running episodes where the boolean mask `keep` is True; drop the others."""
        mask = check.as_array("keep", keep, "pass a boolean mask")
        if mask.dtype != bool or mask.shape != self.episodes.shape:
            raise ValueError(
                f"keep must be a boolean mask of shape ({self.n_running},): got {mask.dtype} of "
                f"shape {mask.shape}; pass one entry for each running episode"
            )
        self._compact(mask)
        self.episodes = self.episodes[mask]
        self._over = self._over[mask]
        # compress does what indexing with the mask does, in a quarter of the time.
        self._observations = self._observations.compress(mask, axis=0)
        self.terms = {name: term[mask] for name, term in self.terms.items()}

    def get_state(self) -> State:
        """Return all that the running episodes need to go on, as a dict of arrays and ints."""
        return {
            "name": self.name,
            "episodes": self.episodes.copy(),
            "elapsed": self.elapsed,
            "over": self._over.copy(),
            "observations": self._observations.copy(),
            **self._get_state(),
        }

    @check.arguments
    def set_state(
        self, state: Annotated[State, check.instance, dict, "see get_state"]
    ) -> Observations:
        """Go on from `get_state`, to the last bit, and return the current observations."""
        try:
            name, elapsed = state["name"], state["elapsed"]
            episodes, over, observations = (
                state[key].copy() for key in ("episodes", "over", "observations")
            )
            if name != self.name:
                raise ValueError(
                    f"the state is one of {name}: got a simulator of {self.name}; "
                    "make the simulator that the state was saved from"
                )
            self._set_state(state)
        except KeyError as missing:
            raise ValueError(
                f"state must be one that get_state returned: got one without {missing}; "
                "save it with get_state"
            ) from None
        self.episodes, self.elapsed, self._over = episodes, elapsed, over
        self._observations, self.terms = observations, {}
        return self._observations

    def parts(self) -> list[Simulator]:
        """Return simulators that share a batch and run at the same time; most run it alone."""
        return [self]

    def close(self) -> None:  # noqa: B027
        """Let go of what it holds open; most hold nothing."""

    # What a kind of simulator fills in; the checks are done.
    @abstractmethod
    def _start(self, rows: NDArray[Any]) -> Observations: ...

    @abstractmethod
    def _step(self, actions: NDArray[Any]) -> Step: ...

    @abstractmethod
    def _compact(self, keep: BoolArray) -> None: ...

    @abstractmethod
    def _get_state(self) -> State: ...

    @abstractmethod
    def _set_state(self, state: State) -> None: ...

    @abstractmethod
    def _check_rows(self, rows: NDArray[Any]) -> None: ...

    def _checked(self, actions: ArrayLike) -> NDArray[Any]:
        given = check.as_array("actions", actions, "pass one for each running episode")
        discrete = self.action_kind == "discrete"
        shape = (self.n_running,) if discrete else (self.n_running, self.action_size)
        if given.shape != shape or given.dtype.kind not in ("iu" if discrete else "iuf"):
            kind = f"integers in 0..{self.action_size - 1}" if discrete else "real numbers"
            raise ValueError(
                f"actions of {self.name} must be {kind} of shape {shape}: got {given.dtype} of "
                f"shape {given.shape}; pass one action for each running episode"
            )
        if discrete:
            if given.min() < 0 or given.max() >= self.action_size:
                raise ValueError(
                    f"actions of {self.name} must lie in 0..{self.action_size - 1}: got "
                    f"{given.min()} to {given.max()}; give the policy {self.action_size} actions"
                )
            return given
        given = given.astype(np.float64, copy=False)
        if np.isnan(given).any():
            raise ValueError(f"actions of {self.name} must not be NaN: look at the policy")
        return given

    def _check_finite(self, what: str, values: NDArray[Any]) -> None:
        finite = np.isfinite(values)
        if not finite.all():
            row = np.nonzero(~finite)[0][0]
            raise FloatingPointError(
                f"{self.name}: every {what} must be finite: episode {self.episodes[row]} gave "
                f"{values[row]} at step {self.elapsed}; look at the environment and the actions"
            )


def _checked_number(name: str, n: Any) -> int:
    number = check.count(name, n, "a batch has at least one episode")
    numbers = 128  # of a robot's state
    check.room(name, number, numbers, cure="take fewer episodes at a time")
    return number


Number = Annotated[int, _checked_number]
Threads = Annotated[int, check.integer, 1, "two cores take two threads"]


# --- the two classic tasks ------------------------------------------------------------------------
class _Classic(Simulator):
    """A task whose state is four numbers; `_state` is an array (4, n), each row contiguous."""

    action_kind = "discrete"
    batches_runs = True
    spread: ClassVar[float]  # initial states are uniform on (-spread, spread)^4
    rewards: ClassVar[tuple[float, float]]  # the least and the most of a step

    def __init__(self, name: str, horizon: int) -> None:
        super().__init__()
        self.name, self.horizon = name, horizon
        self._state: FloatArray = np.zeros((4, 0))

    @check.arguments
    def initial(self, n: Number, *, rng: check.Generator) -> FloatArray:
        """Draw n states uniform on (-spread, spread)^4."""
        return rng.uniform(-self.spread, self.spread, size=(n, 4))

    def _check_rows(self, rows: NDArray[Any]) -> None:
        check.array("initial", rows, ("n", 4), f"a state of {self.name} is four numbers")

    def _compact(self, keep: BoolArray) -> None:
        self._state = self._state.compress(keep, axis=1)

    def _get_state(self) -> State:
        return {"state": self._state.copy()}

    def _set_state(self, state: State) -> None:
        self._state = state["state"].copy()


class CartPole(_Classic):
    """A pole on a cart that is pushed left (0) or right (1); every step gives reward 1.

    The state is the cart's position (m) and velocity, the pole's angle (rad) and angular velocity.
    It advances by Euler steps of 0.02 s. The episode ends when the cart leaves [-2.4, 2.4] or the
    pole leaves 12 degrees on either side (Barto, Sutton and Anderson 1983). The failing step is
    rewarded too.
    """

    observation_size = 4
    action_size = 2
    spread = 0.05
    rewards = (1.0, 1.0)
    gravity, cart, pole, half_length, tau = 9.8, 1.0, 0.1, 0.5, 0.02
    pushes = np.array([-10.0, 10.0])
    position_limit, angle_limit = 2.4, 12 * 2 * pi / 360

    def _start(self, rows: NDArray[Any]) -> Observations:
        self._state = np.array(rows.T, dtype=np.float64, order="C")
        return self._observe()

    def _observe(self) -> Observations:
        return self._state.T.astype(np.float32)

    def _step(self, actions: NDArray[Any]) -> Step:
        x, velocity, angle, spin = self._state
        total = self.pole + self.cart
        moment = self.pole * self.half_length
        force = self.pushes.take(actions)
        cos, sin = np.cos(angle), np.sin(angle)
        pushed = (force + moment * (spin * spin) * sin) / total
        angular = (self.gravity * sin - cos * pushed) / (
            self.half_length * (4.0 / 3.0 - self.pole * (cos * cos) / total)
        )
        linear = pushed - moment * angular * cos / total
        rates = _rows(velocity, linear, spin, angular)
        self._state = self._state + self.tau * rates
        x, _, angle, _ = np.abs(self._state)
        terminated = (x > self.position_limit) | (angle > self.angle_limit)
        return Step(
            self._observe(), np.ones(len(actions)), terminated, np.zeros(len(actions), dtype=bool)
        )


class Acrobot(_Classic):
    """Two links hanging from a pivot; a torque of -1, 0 or +1 (N m) at the joint swings them up.

    The state is the angle of the first link, the angle of the second relative to it (rad, kept in
    [-pi, pi]) and their velocities (kept within 4 pi and 9 pi rad/s). It advances by one
    Runge-Kutta step of 0.2 s. Each step costs 1 until the tip is one link length above the pivot
    (Sutton 1996); the equations of motion are those of Sutton and Barto's book.
    """

    observation_size = 6
    action_size = 3
    spread = 0.1
    rewards = (-1.0, 0.0)
    dt, gravity = 0.2, 9.8
    length, mass, centre, inertia = 1.0, 1.0, 0.5, 1.0  # of each link
    velocity_limits = np.array([[4 * pi], [9 * pi]])

    def _start(self, rows: NDArray[Any]) -> Observations:
        # Gymnasium rounds an initial state to single precision, and takes the cosines there.
        single = np.array(rows.T, dtype=np.float32, order="C")
        self._state = single.astype(np.float64)
        return self._observe(single)

    @staticmethod
    def _observe(state: NDArray[np.floating[Any]]) -> Observations:
        first, second, velocity1, velocity2 = state
        parts = (np.cos(first), np.sin(first), np.cos(second), np.sin(second))
        return np.stack((*parts, velocity1, velocity2), axis=1).astype(np.float32)

    def _step(self, actions: NDArray[Any]) -> Step:
        torque = actions - 1.0
        state, dt = self._state, self.dt
        half = dt / 2.0
        k1 = self._rates(state, torque)
        k2 = self._rates(state + half * k1, torque)
        k3 = self._rates(state + half * k2, torque)
        k4 = self._rates(state + dt * k3, torque)
        state = state + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        _wrap(state[:2])
        np.clip(state[2:], -self.velocity_limits, self.velocity_limits, out=state[2:])
        self._state = state
        terminated = -np.cos(state[0]) - np.cos(state[1] + state[0]) > 1.0
        rewards = np.where(terminated, 0.0, -1.0)
        return Step(self._observe(state), rewards, terminated, np.zeros(len(actions), dtype=bool))

    def _rates(self, state: FloatArray, torque: FloatArray) -> FloatArray:
        """Return the time derivative of the state, (4, n)."""
        m, length, c, inertia, g = self.mass, self.length, self.centre, self.inertia, self.gravity
        first, second, velocity1, velocity2 = state
        cos, sin = np.cos(second), np.sin(second)
        d1 = m * c**2 + m * (length**2 + c**2 + 2 * length * c * cos) + inertia + inertia
        d2 = m * (c**2 + length * c * cos) + inertia
        phi2 = m * c * g * np.cos(first + second - pi / 2.0)
        phi1 = (
            -m * length * c * _square(velocity2) * sin
            - 2 * m * length * c * velocity2 * velocity1 * sin
            + (m * c + m * length) * g * np.cos(first - pi / 2)
            + phi2
        )
        acceleration2 = (
            torque + d2 / d1 * phi1 - m * length * c * _square(velocity1) * sin - phi2
        ) / (m * c**2 + inertia - _square(d2) / d1)
        acceleration1 = -(d2 * acceleration2 + phi1) / d1
        return _rows(velocity1, velocity2, acceleration1, acceleration2)


def _rows(*rows: FloatArray) -> FloatArray:
    """Return the rows as one array: `numpy.stack`, in half of its time for short ones."""
    result = np.empty((len(rows), len(rows[0])))
    for target, row in zip(result, rows, strict=True):
        target[:] = row
    return result


def _square(x: FloatArray) -> FloatArray:
    """Square as the C library's pow does: Gymnasium squares scalars, and pow may be an ulp off."""
    return np.float_power(x, 2.0)


def _wrap(angles: FloatArray) -> None:
    """Bring angles into [-pi, pi], in place, by whole turns taken one at a time."""
    while (over := angles > pi).any():
        angles[over] -= 2 * pi
    while (under := angles < -pi).any():
        angles[under] += 2 * pi


# --- the robots -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Task:
    """What sets one MuJoCo task apart.

    The reward is the forward velocity, plus 1 while healthy, minus the control cost
    ``control_weight * |action|^2``, minus the contact cost 5e-4 times the sum of the squared
    contact forces, each clipped to [-1, 1].
    """

    model: str  # the file among Gymnasium's assets
    frame_skip: int  # physics steps in one step of the task
    skipped: int  # leading positions that the observation leaves out
    control_weight: float
    spread: float  # reset noise
    normal_velocity: bool = False  # normal noise on the velocities, uniform else
    velocity_clip: float | None = None  # in the observation
    torso_velocity: bool = False  # forward velocity from the body's place, not from qpos[0]
    healthy: Literal["walker", "ant"] | None = None  # when the episode goes on
    survive_last: bool = False  # whether the terminating step counts as healthy in the reward
    contact_cost: bool = False
    contacts_from: int | None = None  # first body whose contact forces are observed


_ANT = _Task(
    "ant.xml",
    frame_skip=5,
    skipped=2,
    control_weight=0.5,
    spread=0.1,
    normal_velocity=True,
    torso_velocity=True,
    healthy="ant",
)
_TASKS = {
    "Swimmer-v5": _Task("swimmer.xml", 4, 2, 1e-4, 0.1),
    "Walker2d-v5": _Task("walker2d_v5.xml", 4, 1, 1e-3, 5e-3, velocity_clip=10.0, healthy="walker"),
    "HalfCheetah-v5": _Task("half_cheetah.xml", 5, 1, 0.1, 0.1, normal_velocity=True),
    "Ant-v5": _Task(**{**vars(_ANT), "contact_cost": True, "contacts_from": 1}),
    "Ant-v4": _Task(**{**vars(_ANT), "survive_last": True}),
}
# Gymnasium's Ant-v4 has contact forces only on demand: then all bodies', the world's zeros first.
_ANT_WITH_CONTACTS = _Task(**{**vars(_TASKS["Ant-v4"]), "contact_cost": True, "contacts_from": 0})
CONTACT_WEIGHT = 5e-4


def _mujoco() -> Any:
    try:
        import mujoco
        import mujoco.batch
    except ImportError as error:
        raise ImportError(
            "the robots need MuJoCo 4.0 or later, which is not installed; run: "
            'pip install "amgd[notebooks]"'
        ) from error
    return mujoco


@functools.cache
def _model(file: str) -> Any:
    """Load a model of Gymnasium's once; the batches copy it."""
    mujoco = _mujoco()
    path = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / file
    # half_cheetah.xml has an attribute that MuJoCo 4 calls deprecated, on stderr and in a log file.
    # Loading with a handler keeps that one quiet and lets any other through.
    messages: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    finally:
        mujoco.set_mju_user_warning(before)
    unknown = [message for message in messages if "settotalmass" not in message]
    if unknown:
        raise RuntimeError(f"{file} does not load cleanly: {unknown[0]}; check the MuJoCo version")
    return model


class Robot(Simulator):
    """A MuJoCo task of Gymnasium's: Swimmer, Walker2d, HalfCheetah or Ant.

    Parameters
    ----------
    name : str
        One of Swimmer-v5, Walker2d-v5, HalfCheetah-v5, Ant-v5, Ant-v4.
    threads : int
        Threads of the physics. The results do not depend on it.
    use_contact_forces : bool
        For Ant-v4 alone, Gymnasium's option of that name: contact cost, and 111 observations in
        place of 27.

    Notes
    -----
    The contact forces of an ant are not part of what `mujoco.batch.Batch` copies out, and a force
    sensor would give those of another stage of the Runge-Kutta step. So the batch keeps one
    MjData an episode, and ``mj_rnePostConstraint`` runs on a copy of each that touches anything.

    MuJoCo itself resets a state that has diverged. Gymnasium goes on from there; here the step
    raises FloatingPointError, for such a transition is not one of the task.
    """

    action_kind = "continuous"
    horizon = 1000

    @check.arguments
    def __init__(
        self,
        name: Annotated[str, check.choice, _TASKS],
        *,
        threads: Threads = 1,
        use_contact_forces: Annotated[bool, check.boolean, "False gives 27"] = False,
    ) -> None:
        super().__init__()
        self.name, self.threads = name, threads
        if use_contact_forces and name != "Ant-v4":
            raise ValueError(
                f"use_contact_forces is an option of Ant-v4: got it for {name}; "
                "Ant-v5 always has contact forces, the other robots never"
            )
        self._task = task = _ANT_WITH_CONTACTS if use_contact_forces else _TASKS[name]
        self._mj = _mujoco()
        self._model = model = _model(task.model)
        self.dt = float(model.opt.timestep * task.frame_skip)
        self.action_size = int(model.nu)
        self.low, self.high = model.actuator_ctrlrange.T.copy()
        self.observation_size = int(model.nq + model.nv - task.skipped)
        if task.contacts_from is not None:
            self.observation_size += 6 * int(model.nbody - task.contacts_from)
        self.may_end = task.healthy is not None
        self._halves: list[Simulator] = []
        self._batch: Any = None
        # The rows of the batch that run: numbers, and as an index a slice while all of them do.
        self._ids: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._rows: slice | NDArray[np.int32] = slice(None)
        # Views of the batch, made with it.
        self._qpos: FloatArray
        self._qvel: FloatArray
        self._ctrl: FloatArray

    @property
    def positions(self) -> FloatArray:
        """Positions qpos of the running episodes, (n, nq)."""
        return np.array(self._qpos[self._rows])

    @property
    def velocities(self) -> FloatArray:
        """Velocities qvel of the running episodes, (n, nv)."""
        return np.array(self._qvel[self._rows])

    def parts(self) -> list[Simulator]:
        """Return two simulators for the halves of a batch, on one thread only itself.

        Each has all threads but the one on which Python works for the other.
        """
        if self.threads == 1:
            return [self]
        if not self._halves:
            for _ in range(2):
                half = copy.copy(self)
                half.threads, half._batch = self.threads - 1, None
                self._halves.append(half)
        return self._halves

    @check.arguments
    def initial(self, n: Number, *, rng: check.Generator) -> FloatArray:
        """Draw n rows (qpos, qvel): the rest position with noise."""
        task, model = self._task, self._model
        positions = model.qpos0 + rng.uniform(-task.spread, task.spread, size=(n, model.nq))
        if task.normal_velocity:
            velocities = task.spread * rng.standard_normal((n, model.nv))
        else:
            velocities = rng.uniform(-task.spread, task.spread, size=(n, model.nv))
        return np.concatenate((positions, velocities), axis=1)

    def _check_rows(self, rows: NDArray[Any]) -> None:
        size = int(self._model.nq + self._model.nv)
        check.array("initial", rows, ("n", size), "a row holds qpos, then qvel")

    def _allocate(self, n: int) -> None:
        """Make room for n episodes; a batch of that size is used again."""
        if self._batch is None or self._batch.nsim != n:
            contacts = self._task.contact_cost
            self._batch = batch = self._mj.batch.Batch(
                self._model, n, min(self.threads, n), persistent=contacts
            )
            self._qpos, self._qvel, self._ctrl = batch.qpos, batch.qvel, batch.ctrl
            if self._task.torso_velocity:
                self._places = batch.xpos
            if contacts:
                self._n_contacts = batch.ncon
                self._data = self._mj.MjData(self._model)
                self._forces = self._data.cfrc_ext
            bad = self._mj.mjtWarning
            self._diverged = batch.warning[:, bad.mjWARN_BADQPOS : bad.mjWARN_BADQACC + 1, 1]
        self._ids, self._rows = np.arange(n, dtype=np.int32), slice(None)

    def _start(self, rows: NDArray[Any]) -> Observations:
        self._allocate(len(rows))
        nq = self._model.nq
        self._batch.reset(stage=self._mj.mjtStage.mjSTAGE_NONE.value)
        self._batch.warning[:] = 0
        self._qpos[:] = rows[:, :nq]
        self._qvel[:] = rows[:, nq:]
        self._batch.forward()
        self._x = self._place()
        return self._observe(self._no_forces())

    def _step(self, actions: NDArray[Any]) -> Step:
        task = self._task
        actions = np.clip(actions, self.low, self.high)
        self._ctrl[self._rows] = actions
        self._advance()
        before, self._x = self._x, self._place()
        forces = self._contact_forces()
        healthy = self._healthy()
        terms = {
            "reward_forward": (self._x - before) / self.dt,
            "reward_ctrl": -task.control_weight * np.square(actions).sum(axis=1),
        }
        if task.contact_cost:
            terms["reward_contact"] = -CONTACT_WEIGHT * np.square(forces).sum(axis=(1, 2))
        if task.healthy:
            survive = np.ones(len(actions)) if task.survive_last else healthy.astype(np.float64)
            terms["reward_survive"] = survive
        self.terms = terms
        gain = terms["reward_forward"] + terms.get("reward_survive", 0.0)
        rewards = gain + (terms["reward_ctrl"] + terms.get("reward_contact", 0.0))
        observations = self._observe(forces)
        return Step(observations, rewards, ~healthy, np.zeros(len(actions), dtype=bool))

    def _advance(self) -> None:
        every = isinstance(self._rows, slice)
        self._batch.step(None if every else self._ids, self._task.frame_skip)
        if self._diverged.any():
            row = int(np.nonzero(self._diverged)[0][0])
            raise FloatingPointError(
                f"{self.name}: the physics must stay finite: episode {row} diverged at step "
                f"{self.elapsed}; look at the actions just before"
            )

    def _place(self) -> FloatArray:
        """Return the x coordinate that the forward velocity is taken from.

        An ant's is that of its torso as MuJoCo last computed it, one physics step behind qpos.
        """
        if self._task.torso_velocity:
            return np.array(self._places[self._rows, 1, 0])
        return np.array(self._qpos[self._rows, 0])

    def _healthy(self) -> BoolArray:
        """Return whether each episode goes on; NaN compares false, so it ends one."""
        if self._task.healthy is None:
            return np.ones(len(self._ids), dtype=bool)
        positions = self._qpos[self._rows]
        if self._task.healthy == "walker":
            height, angle = positions[:, 1], positions[:, 2]
            return (height > 0.8) & (height < 2.0) & (np.abs(angle) < 1.0)
        height = positions[:, 2]
        state = np.concatenate((positions, self._qvel[self._rows]), axis=1)
        return np.asarray(np.isfinite(state).all(axis=1) & (height >= 0.2) & (height <= 1.0))

    def _no_forces(self) -> FloatArray:
        return np.zeros((len(self._ids), self._model.nbody if self._task.contact_cost else 0, 6))

    def _contact_forces(self) -> FloatArray:
        """Return the contact forces on each body, clipped to [-1, 1], (n, nbody, 6)."""
        forces = self._no_forces()
        if self._task.contact_cost:
            for i in np.flatnonzero(self._n_contacts[self._rows]):
                self._batch.get_data(int(self._ids[i]), self._data)
                self._mj.mj_rnePostConstraint(self._model, self._data)
                forces[i] = self._forces
            np.clip(forces, -1.0, 1.0, out=forces)
        return forces

    def _observe(self, forces: FloatArray) -> Observations:
        task = self._task
        velocities = self._qvel[self._rows]
        if task.velocity_clip is not None:
            velocities = np.clip(velocities, -task.velocity_clip, task.velocity_clip)
        parts = [self._qpos[self._rows, task.skipped :], velocities]
        if task.contacts_from is not None:
            parts.append(forces[:, task.contacts_from :].reshape(len(self._ids), -1))
        return np.concatenate(parts, axis=1)

    def _compact(self, keep: BoolArray) -> None:
        self._ids = self._rows = self._ids[keep]
        self._x = self._x[keep]

    def _get_state(self) -> State:
        # Positions and velocities are not enough: the solver starts from its last solution.
        return {"state": np.array(self._batch.state[self._ids]), "x": self._x.copy()}

    def _set_state(self, state: State) -> None:
        self._allocate(len(state["state"]))
        self._batch.warning[:] = 0
        self._batch.state[:] = state["state"]
        self._x = state["x"].copy()


# --- the general case -----------------------------------------------------------------------------
class GymnasiumSimulator(Simulator):
    """Any environment registered with Gymnasium, behind the same interface.

    `gymnasium.make_vec` makes the environments, with observations flattened to vectors and without
    automatic resets; each step advances those whose episode still runs, one after the other.
    `amgd.reinforce.check_environment` says whether an environment keeps what a simulator promises.

    Parameters
    ----------
    name : str
        A registered name; ``"module:Name-v0"`` imports the module first.
    **options
        Passed to the environment.

    Raises
    ------
    EnvironmentFault
        When it cannot be made, an action is neither one integer nor one real vector, or an
        observation is not a fixed number of numbers.
    """

    foreign = True

    @check.arguments
    def __init__(self, name: str, **options: Any) -> None:
        find(name)
        super().__init__()
        self.name = name
        self._options = options
        self._pool = self._make(1)
        space = self._pool.single_action_space
        if isinstance(space, spaces.Discrete):
            self.action_kind, self.action_size = "discrete", int(space.n)
            self._first_action = int(space.start)
        elif isinstance(space, spaces.Box):
            self.action_kind, self.action_size = "continuous", int(space.shape[0])
            self.low, self.high = space.low, space.high
        shape = self._pool.single_observation_space.shape
        self.observation_size = int(np.prod(shape if shape is not None else ()))
        spec = self._pool.envs[0].spec
        self.horizon = None if spec is None else spec.max_episode_steps
        self._envs: list[gymnasium.Env[Any, Any]] = []

    def _make(self, n: int) -> SyncVectorEnv:
        with foreign_code(self.name, "the constructor"):
            pool = gymnasium.make_vec(
                self.name,
                n,
                vectorization_mode="sync",
                vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED},
                wrappers=(self._flat,),
                **self._options,
            )
        return check.instance("the pool", pool, SyncVectorEnv, "make_vec returns one")

    def _flat(self, env: gymnasium.Env[Any, Any]) -> FlattenObservation[Any, Any, Any]:
        check_spaces(self.name, env)
        return FlattenObservation(env)

    def close(self) -> None:
        """Close the environments."""
        with foreign_code(self.name, "close"):
            self._pool.close()

    @check.arguments
    def initial(self, n: Number, *, rng: check.Generator) -> NDArray[np.int64]:
        """Draw n seeds, one for each episode."""
        return rng.integers(2**31, size=n)

    def _check_rows(self, rows: NDArray[Any]) -> None:
        check.integers("initial", rows, 0, "a row is the seed of an episode")
        if rows.ndim != 1 or not rows.size:
            raise ValueError(f"initial must have shape (n,): got {rows.shape}; pass one seed each")

    def _start(self, rows: NDArray[Any]) -> Observations:
        if len(self._pool.envs) < len(rows):
            self.close()
            self._pool = self._make(len(rows))
        self._envs = list(self._pool.envs[: len(rows)])
        pairs = zip(self._envs, rows, strict=True)
        with foreign_code(self.name, "reset"):
            results = [env.reset(seed=int(seed)) for env, seed in pairs]
        return self._stacked("an observation", [result[0] for result in results])

    def _step(self, actions: NDArray[Any]) -> Step:
        if self.action_kind == "discrete":
            actions = actions + self._first_action
        else:
            actions = np.clip(actions, self.low, self.high).astype(self.low.dtype)
        with foreign_code(self.name, "step"):
            results = [env.step(action) for env, action in zip(self._envs, actions, strict=True)]
        observations, rewards, terminated, truncated, _ = zip(*results, strict=True)
        return Step(
            self._stacked("an observation", observations),
            self._stacked("a reward", rewards, np.float64),
            self._stacked("terminated", terminated, bool),
            self._stacked("truncated", truncated, bool),
        )

    def _stacked(self, what: str, values: Sequence[Any], dtype: Any = None) -> NDArray[Any]:
        """Return what each episode gave, a vector for an observation and otherwise a number."""
        shape = (self.observation_size,) if dtype is None else ()
        try:
            array = np.array(values)
        except ValueError:  # of several shapes
            array = np.empty(())
        if array.shape != (len(values), *shape) or array.dtype.kind not in "biuf":
            wrong = next((one for one in values if np.shape(one) != shape), values[0])
            raise EnvironmentFault(
                f"{self.name}: {what} must be a number or a vector of them, of shape {shape}: got "
                f"{wrong!r:.60}; check_environment says more"
            )
        return array if dtype is None else array.astype(dtype)

    def _compact(self, keep: BoolArray) -> None:
        self._envs = [env for env, kept in zip(self._envs, keep, strict=True) if kept]

    def _get_state(self) -> State:
        raise NotImplementedError(
            f"the state of {self.name} cannot be saved: Gymnasium has no interface for it; "
            "save between batches, where nothing but the policy matters"
        )

    def _set_state(self, state: State) -> None:
        self._get_state()


# --- the maker ------------------------------------------------------------------------------------
_CLASSIC: dict[str, tuple[type[_Classic], int]] = {
    "CartPole-v0": (CartPole, 200),
    "CartPole-v1": (CartPole, 500),
    "Acrobot-v1": (Acrobot, 500),
}
_RETIRED = re.compile(
    r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedDoublePendulum|InvertedPendulum"
    r"|Pusher|Reacher|Swimmer|Walker2d)-v[23]"
)


@check.arguments
def make_simulator(
    name: Annotated[str, check.later], *, threads: Threads = 1, **options: Any
) -> Simulator:
    """Make the simulator of an environment.

    Parameters
    ----------
    name : str
        Gymnasium's name. CartPole-v0, CartPole-v1, Acrobot-v1, Swimmer-v5, Walker2d-v5,
        HalfCheetah-v5, Ant-v5 and Ant-v4 have fast simulators; any other registered environment
        runs through Gymnasium.
    threads : int
        Threads of a robot's physics; the others have no use for it.
    **options
        ``use_contact_forces=True`` gives Ant-v4 the paper's 111 observations. With any other
        option the environment runs through Gymnasium, which gets the options.

    Raises
    ------
    ValueError
        When the name is not registered, or belongs to the retired v2 and v3 robots.

    Examples
    --------
    >>> simulator = make_simulator("Acrobot-v1")
    >>> simulator.reset(3, rng=np.random.default_rng(0)).shape, simulator.horizon
    ((3, 6), 500)
    >>> step = simulator.step([0, 1, 2])
    >>> step.rewards
    array([-1., -1., -1.])
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string: got {name!r}; pass a name such as 'CartPole-v0'")
    if _RETIRED.fullmatch(name):
        raise ValueError(_retired(name))
    if name in _CLASSIC and not options:
        kind, horizon = _CLASSIC[name]
        return kind(name, horizon)
    if name in _TASKS and set(options) <= {"use_contact_forces"}:
        return Robot(name, threads=threads, **options)
    find(name, (*_CLASSIC, *_TASKS))
    return GymnasiumSimulator(name, **options)


def possible_returns(name: str, horizon: int | None = None) -> tuple[float, float]:
    """Return the least and the most that an episode can return, as far as is known.

    Parameters
    ----------
    name : str
        Gymnasium's name of the environment, which need not be installed.
    horizon : int, optional
        Steps after which an episode is cut; default is the registered limit.

    Examples
    --------
    >>> possible_returns("CartPole-v0"), possible_returns("Acrobot-v1", horizon=40)
    ((1.0, 200.0), (-40.0, 0.0))
    >>> possible_returns("Ant-v5")
    (-inf, inf)
    """
    if name not in _CLASSIC:
        return -np.inf, np.inf
    kind, limit = _CLASSIC[name]
    steps = limit if horizon is None else min(horizon, limit)
    least, most = kind.rewards
    return min(least, least * steps), max(most, most * steps)


def _retired(name: str) -> str:
    robot = name.rsplit("-", 1)[0]
    cure = f"{robot}-v5 replaces it"
    if robot == "Ant":
        cure += " (105 observations); Ant-v4 with use_contact_forces=True has the 111 of Ant-v2"
    return f"{name} ran on mujoco-py and exists no longer: got name={name!r}; {cure}"
