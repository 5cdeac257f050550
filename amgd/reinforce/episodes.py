"""Whole episodes of a policy in a simulator, and how they are kept.

All n episodes of a batch start at once, and the batch is done when the last is over. So exactly n
whole episodes come out, whatever their lengths: none is dropped, and none is favoured for being
short, as happens where a quota is filled by whichever episodes end first.

Randomness is fixed in advance. From the caller's generator come, in this order,

1. the n initial rows;
2. for each block of `BLOCK` steps the noise of n actions a step, until the last episode is over.

Episode e uses row e of each draw, and ignores the rest once it is over. So its actions depend
neither on which other episodes still run, nor on the number of threads of the physics.

Episodes are kept one after the other in flat arrays ("ragged"), with their true lengths.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.reinforce.policies import Generators, Policy, check_fit, kept_arrays
from amgd.reinforce.simulators import Simulator

__all__ = ["Episodes", "collect_episodes"]

BoolArray = NDArray[np.bool_]

BLOCK = 64  # steps whose noise is drawn at once
_CURE = "make one with make_simulator, which takes the name of a Gymnasium environment"


@dataclass(frozen=True, eq=False)
class Episodes:
    """E whole episodes with N steps in all, one after the other.

    Attributes
    ----------
    observations : array (N, observation_size)
        What the policy saw before each action.
    actions : int array (N,) or float array (N, action_size)
        What the policy chose, not clipped.
    rewards : float array (N,)
        What each action gave.
    lengths : int array (E,)
        True lengths in steps, at least 1.
    terminated : bool array (E,)
        Whether the task ended the episode.
    truncated : bool array (E,)
        Whether the time limit did; when both happen in one step the episode counts as terminated.
    final_observations : array (E, observation_size)
        What the policy would have seen next; a bootstrapped value of a truncated episode needs it.
    replicates : int or None
        Number of stacked policies; the episodes of the first come first, all have equally many.
    seconds_physics, seconds_policy : float
        Wall-clock time spent in the simulator and in choosing actions.
    """

    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: FloatArray
    lengths: IntArray
    terminated: BoolArray
    truncated: BoolArray
    final_observations: NDArray[Any]
    replicates: int | None = None
    seconds_physics: float = 0.0
    seconds_policy: float = 0.0

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_steps(self) -> int:
        """Number of steps N of all episodes together."""
        return len(self.rewards)

    @property
    def offsets(self) -> IntArray:
        """Where the episodes start in the flat arrays, and N at the end, (E + 1,)."""
        return np.concatenate(([0], np.cumsum(self.lengths)))

    @property
    def returns(self) -> FloatArray:
        """Undiscounted sum of the rewards of each episode, (E,)."""
        return np.add.reduceat(self.rewards, self.offsets[:-1])

    @property
    def episode(self) -> IntArray:
        """Number of the episode that each step belongs to, (N,)."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def time(self) -> IntArray:
        """Number of each step within its episode, from 0, (N,)."""
        return np.arange(self.n_steps) - np.repeat(self.offsets[:-1], self.lengths)

    @check.arguments
    def padded(self, values: NDArray[Any], fill: float = 0.0) -> NDArray[Any]:
        """Return a flat array (N, ...) as (E, longest, ...), with `fill` after each episode's end.

        Examples
        --------
        >>> from amgd.reinforce import collect_episodes, make_simulator, policy_for
        >>> rng = np.random.default_rng(0)
        >>> simulator = make_simulator("CartPole-v0")
        >>> policy = policy_for(simulator, (8,), rng=rng)
        >>> episodes = collect_episodes(policy, simulator, 3, rng=rng)
        >>> episodes.padded(episodes.rewards).sum(axis=1) == episodes.lengths
        array([ True,  True,  True])
        """
        values = check.as_array("values", values, "pass an array in the order of rewards")
        if values.shape[:1] != (self.n_steps,):
            raise ValueError(
                f"values must have one entry for each of the {self.n_steps} steps: got "
                f"shape {values.shape}; pass an array in the order of rewards"
            )
        shape = (len(self), int(self.lengths.max()), *values.shape[1:])
        result = np.full(shape, fill, dtype=values.dtype)
        result[self.episode, self.time] = values
        return result

    def replicate(self, s: int) -> Episodes:
        """Return the episodes of replicate s, as views."""
        if self.replicates is None:
            raise ValueError(
                "these episodes belong to one policy: replicates is None; use them all"
            )
        s = check.integer("s", s, 0, "replicates count from 0", self.replicates - 1)
        each = len(self) // self.replicates
        rows = slice(s * each, (s + 1) * each)
        steps = slice(*self.offsets[[rows.start, rows.stop]])
        return replace(
            self,
            observations=self.observations[steps],
            actions=self.actions[steps],
            rewards=self.rewards[steps],
            lengths=self.lengths[rows],
            terminated=self.terminated[rows],
            truncated=self.truncated[rows],
            final_observations=self.final_observations[rows],
            replicates=None,
        )


@check.arguments
def collect_episodes(
    policy: Annotated[Policy, check.later],
    simulator: Annotated[Simulator, check.instance, Simulator, _CURE],
    n: Annotated[int, check.count, "a batch has at least one episode"],
    *,
    horizon: Annotated[int | None, check.integer, 1, "it counts the steps of an episode"] = None,
    rng: Generators,
) -> Episodes:
    """Run exactly n whole episodes of a policy (of each of its replicates).

    Parameters
    ----------
    policy : Policy
        Chooses the actions; with S replicates it runs n episodes of each.
    simulator : Simulator
        What it acts in; a batch that was running in it is dropped.
    n : int
        Number of episodes, at least 1.
    horizon : int, optional
        Steps after which an episode is cut; default and limit is the registered one.
    rng : Generator, or a sequence of S of them for a policy with S replicates
        The module's text says what is drawn. Replicate s gives the same episodes as the policy
        that it stands for gives alone with ``rng[s]``, up to the rounding of the network.

    Returns
    -------
    Episodes
        In the order in which their initial states were drawn.

    Raises
    ------
    ValueError
        When the policy does not fit the simulator, n is below 1, or the horizon is missing or
        beyond the registered limit.
    FloatingPointError
        When the policy or the simulator gives a number that is not finite.

    Examples
    --------
    >>> from amgd.reinforce import make_simulator, policy_for
    >>> rng = np.random.default_rng(0)
    >>> simulator = make_simulator("Acrobot-v1")
    >>> policy = policy_for(simulator, (16,), rng=rng)
    >>> episodes = collect_episodes(policy, simulator, 2, horizon=50, rng=rng)
    >>> episodes.lengths, episodes.truncated, episodes.returns
    (array([50, 50]), array([ True,  True]), array([-50., -50.]))
    """
    check_fit(policy, simulator)
    horizon = _checked_horizon(horizon, simulator)
    generators = _checked_generators(rng, policy)
    initial = np.concatenate([simulator.initial(n, rng=generator) for generator in generators])
    parts, cuts = _parts(policy, simulator, n)
    before = [generator.bit_generator.state for generator in generators]
    try:
        played = _play_all(policy, parts, np.split(initial, cuts), horizon, generators)
    except (FloatingPointError, CancelledError):
        if not cuts:
            raise
        for generator, state in zip(generators, before, strict=True):
            generator.bit_generator.state = state
        # The first failure in time is told, as it would be on one thread.
        played = _play_all(policy, [simulator], [initial], horizon, generators)
    lengths = np.concatenate([part.lengths for part in played])
    observations, actions, rewards = _episode_major([part.records for part in played], lengths)
    terminated = np.concatenate([part.terminated for part in played])
    return Episodes(
        observations,
        actions,
        rewards,
        lengths=lengths,
        terminated=terminated,
        truncated=~terminated,
        final_observations=np.concatenate([part.final_observations for part in played]),
        replicates=policy.replicates,
        seconds_physics=sum(part.clock.seconds_physics for part in played) / len(played),
        seconds_policy=sum(part.clock.seconds_policy for part in played) / len(played),
    )


# --- parts of a batch -----------------------------------------------------------------------------
class _Played(NamedTuple):
    """What one part gives; the first of each record is the numbers of its episodes."""

    records: list[tuple[NDArray[Any], ...]]
    lengths: IntArray
    terminated: BoolArray
    final_observations: NDArray[Any]
    clock: _Clock


def _play_all(
    policy: Policy,
    parts: list[Simulator],
    initial: list[NDArray[Any]],
    horizon: int,
    generators: list[np.random.Generator],
) -> list[_Played]:
    """Play all parts, the first in this thread and each other one in its own."""
    firsts = np.cumsum([0] + [len(rows) for rows in initial])
    noise = _Noise(policy, int(firsts[-1]) // len(generators), generators)
    company = _Company(len(parts))

    def play(i: int) -> _Played:
        with company.member(i):
            part, first = parts[i], int(firsts[i])
            return _play(policy, part, initial[i], first, horizon, noise, company, i)

    with kept_arrays(policy), ThreadPoolExecutor(len(parts)) as pool:
        others = [pool.submit(play, i) for i in range(1, len(parts))]
        return [play(0), *(other.result() for other in others)]


def _play(
    policy: Policy,
    simulator: Simulator,
    initial: NDArray[Any],
    first: int,
    horizon: int,
    noise: _Noise,
    company: _Company,
    i: int,
) -> _Played:
    """Play the episodes that begin with these rows, as part i; the first of them has a number."""
    clock = _Clock()
    observations = simulator.start(initial)
    clock.physics()
    total = len(observations)
    active = np.arange(total)
    lengths = np.zeros(total, dtype=np.int64)
    terminated = np.zeros(total, dtype=bool)
    final_observations = np.empty_like(observations)
    seen = np.zeros_like(observations)  # the last observation of every episode
    records: list[tuple[NDArray[Any], ...]] = []
    for t in range(horizon):
        company.tell(i, t)
        every = noise.at(t, first + active)
        if policy.replicates is None:
            own = every.take(first + active, axis=0)
            if active.size == 1 and not company.alone(i, t):
                actions = policy.act(observations.repeat(2, axis=0), own.repeat(2, axis=0))[:1]
            else:
                actions = policy.act(observations, own)
        else:
            # Stacked networks need equally many rows each: those of ended episodes are ignored.
            seen[active] = observations
            stacked = (policy.replicates, total // policy.replicates)
            actions = policy.act(
                seen.reshape(*stacked, -1), every.reshape(*stacked, *every.shape[1:])
            )
            actions = actions.reshape(total, *actions.shape[2:]).take(active, axis=0)
        clock.policy()
        step = simulator.step(actions)
        clock.physics()
        records.append((first + active, observations, actions, step.rewards))
        over = step.terminated | step.truncated
        if t + 1 == horizon:
            over[:] = True
        observations = step.observations
        if over.any():
            ended = active[over]
            lengths[ended] = t + 1
            terminated[ended] = step.terminated[over]
            final_observations[ended] = observations[over]
            going = ~over
            simulator.compact(going)
            active, observations = active[going], simulator.observations
            if not active.size:
                break
    return _Played(records, lengths, terminated, final_observations, clock)


class _Company:
    """What the parts of a batch know of each other.

    One row times a matrix is another function of BLAS than several rows, with other last bits. So
    a part with a single episode left asks whether it is the last of the whole batch.
    """

    def __init__(self, n: int) -> None:
        self._last = [-1] * n  # step of each part
        self._over = [False] * n
        self._failed = False
        self._news = threading.Condition()

    @contextmanager
    def member(self, i: int) -> Iterator[None]:
        """Let part i play; when it fails the others stop at their next step."""
        try:
            yield
        except BaseException:
            self._failed = True
            raise
        finally:
            with self._news:
                self._over[i] = True
                self._news.notify_all()

    def tell(self, i: int, t: int) -> None:
        """Say that part i has episodes at step t."""
        if self._failed:
            raise CancelledError
        with self._news:
            self._last[i] = t
            self._news.notify_all()

    def alone(self, i: int, t: int) -> bool:
        """Return whether no other part has episodes at step t, when that is certain."""
        others = [j for j in range(len(self._last)) if j != i]
        with self._news:
            self._news.wait_for(lambda: all(self._over[j] or self._last[j] >= t for j in others))
            return all(self._last[j] < t for j in others)


LEAST = 16  # episodes of a batch that is divided
ALIGNED = 8  # rows that a kernel of BLAS takes at once, or a multiple of them


def _parts(policy: Policy, simulator: Simulator, n: int) -> tuple[list[Simulator], list[int]]:
    """Return the simulators of the parts, and where the batch is cut between them.

    It is divided only if the policy gives the bits of the whole batch for parts of it too: BLAS
    does for most sizes of a network, and not for all.
    """
    parts = simulator.parts() if policy.replicates is None and n >= LEAST else [simulator]
    tried = (n // 2, n // 2 // ALIGNED * ALIGNED) if len(parts) > 1 else ()
    for cut in tried:
        if _divisible(policy, n, cut, simulator.may_end):
            if simulator.n_running:
                simulator.compact(np.zeros(simulator.n_running, dtype=bool))
            return parts, [cut]
    return [simulator], []


_tried: dict[tuple[Any, ...], bool] = {}


def _divisible(policy: Policy, n: int, cut: int, may_end: bool) -> bool:
    """Whether parts of n rows act as the whole: two halves, and if episodes end any two or more."""
    key = (type(policy), *((p.shape, p.dtype) for p in policy.parameters()), n, cut, may_end)
    if key not in _tried:
        rng = np.random.default_rng(0)
        observations = rng.standard_normal((n, policy.observation_size))
        noise = policy.noise((n,), rng=rng)
        rows = [np.arange(cut), np.arange(cut, n)]
        if may_end:
            rows += [np.sort(rng.choice(n, m, replace=False)) for m in range(2, n)]
        try:
            whole = policy.act(observations, noise)
            parts = [policy.act(observations[r], noise[r]) == whole[r] for r in rows]
        except FloatingPointError:  # to be told of the episodes
            return False
        _tried[key] = all(map(np.all, parts))
    return _tried[key]


def _checked_horizon(horizon: int | None, simulator: Simulator) -> int:
    limit = simulator.horizon
    if horizon is None:
        if limit is None:
            raise ValueError(
                f"horizon must be given: {simulator.name} has no registered time limit; "
                "pass the number of steps after which an episode is cut"
            )
        return limit
    if limit is not None and horizon > limit:
        raise ValueError(
            f"horizon must be at most the registered limit {limit} of {simulator.name}: got "
            f"{horizon}; register the environment with a longer limit, or lower the horizon"
        )
    return horizon


def _checked_generators(rng: Generators, policy: Policy) -> list[np.random.Generator]:
    if policy.replicates is None:
        return [check.generator("rng", rng)]
    generators = list(rng) if isinstance(rng, Sequence) else []
    if len(generators) != policy.replicates:
        got = f"{len(generators)} of them" if generators else type(rng).__name__
        raise ValueError(
            f"rng must hold one Generator for each of the {policy.replicates} replicates: got "
            f"{got}; rng.spawn({policy.replicates}) makes them"
        )
    return [check.generator("rng", generator) for generator in generators]


class _Noise:
    """The noise of every episode at every step, drawn in blocks from one generator a replicate.

    A generator whose episodes are all over is left alone: what it draws in all depends on its own
    episodes alone. Parts of a batch share the blocks: whichever comes first has one drawn.
    """

    def __init__(self, policy: Policy, n: int, generators: list[np.random.Generator]) -> None:
        self._policy, self._n, self._generators = policy, n, generators
        self._blocks: list[FloatArray] = []
        self._drawing = threading.Lock()

    def at(self, t: int, active: IntArray) -> FloatArray:
        """Return the noise of step t, one row for each episode, ended or not."""
        with self._drawing:
            if t // BLOCK == len(self._blocks):
                self._blocks.append(self._draw(np.unique(active // self._n)))
        block: FloatArray = self._blocks[t // BLOCK][t % BLOCK]
        return block

    def _draw(self, running: IntArray) -> FloatArray:
        draws = {s: self._policy.noise((BLOCK, self._n), rng=self._generators[s]) for s in running}
        nothing = np.zeros_like(next(iter(draws.values())))
        parts = [draws.get(s, nothing) for s in range(len(self._generators))]
        return np.concatenate(parts, axis=1)


class _Clock:
    """Adds the time since the last call to one of two sums."""

    def __init__(self) -> None:
        self.seconds_physics = self.seconds_policy = 0.0
        self._last = time.perf_counter()

    def _lap(self) -> float:
        last, self._last = self._last, time.perf_counter()
        return self._last - last

    def physics(self) -> None:
        self.seconds_physics += self._lap()

    def policy(self) -> None:
        self.seconds_policy += self._lap()


def _episode_major(
    parts: list[list[tuple[NDArray[Any], ...]]], lengths: IntArray
) -> list[NDArray[Any]]:
    """Turn records (episodes, values, ...) of each part, one a step, into arrays by episodes."""
    records = list(chain(*parts))
    episode = np.concatenate([record[0] for record in records])
    steps = chain(*(range(len(part)) for part in parts))
    time = np.repeat(list(steps), [len(record[0]) for record in records])
    places = (np.cumsum(lengths) - lengths).take(episode) + time
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    columns = range(1, len(records[0]))
    return [
        np.concatenate([record[column] for record in records]).take(order, axis=0)
        for column in columns
    ]
