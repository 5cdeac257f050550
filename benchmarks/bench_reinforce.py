"""Sampling with the policy in the loop, beside bare physics, Gymnasium's vector class and envpool.

For each robot, 100 episodes of the paper's network:

- *ours*: `collect_episodes`, which ends with the flat arrays of observations, actions and rewards;
- *bare physics*: `mujoco.batch.Batch` replays the very actions of those episodes from the very
  initial states, on the same threads. It computes the same trajectories, and nothing else: no
  observation, no reward, no policy. Target: ours at least 0.90 of it.
- *SyncVectorEnv*: Gymnasium's, with the same policy, counting real steps only. It runs on one
  thread. Target: ours at least 2.5 times it. Since it spends its time in the same physics, ours
  cannot be further ahead than bare physics is: the column "limit" is bare physics / SyncVectorEnv.
- *envpool*: its task of the same name on as many threads, with the same policy, counting real steps
  only. Its physics are those of the MuJoCo it was built with. Target: ours ahead on three robots,
  behind on none. This part is left out where envpool is not installed.

CartPole and Acrobot run as in the experiments, the policies of 10 seeds together with 25 episodes
each; the peers there run the 25 episodes of one seed, for they have no way to join them.

All take as many steps from fresh episodes, and take turns, so that a busy machine slows them alike;
a figure is the median over the rounds of the ratio of environment steps per second. On a machine
that others use too, ``--clock cpu --threads 1`` counts processor seconds in place of time that
passes.

Run as ``python benchmarks/bench_reinforce.py [--threads 2] [--robots Swimmer-v5 ...]`` or
``python -m pytest benchmarks/bench_reinforce.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import mujoco.batch
import numpy as np
import pytest
import torch

from amgd.reinforce import Episodes, Policy, collect_episodes, make_simulator, policy_for
from amgd.reinforce.simulators import Robot

HAS_ENVPOOL = importlib.util.find_spec("envpool") is not None
MISSING = "envpool is not installed; for its column run: pip install envpool"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

N = 100
HORIZON = 50
SEEDS = 10
HIDDEN: dict[str, tuple[int, ...]] = {
    "Swimmer-v5": (32, 32),
    "Walker2d-v5": (32, 32),
    "HalfCheetah-v5": (32, 32),
    "Ant-v5": (128, 64, 32),
}
CLASSIC = {"CartPole-v0": (8,), "Acrobot-v1": (16,)}


@dataclass(frozen=True)
class Case:
    """One environment with its policy, ready to be sampled again and again from one seed."""

    simulator: Any
    policy: Policy
    n: int
    horizon: int

    def ours(self) -> Episodes:
        """Sample the episodes."""
        rng = np.random.default_rng(1)
        return collect_episodes(
            self.policy,
            self.simulator,
            self.n,
            horizon=self.horizon,
            rng=rng if self.policy.replicates is None else rng.spawn(self.policy.replicates),
        )


def make_case(
    name: str, *, threads: int = 1, n: int = N, horizon: int = HORIZON, seeds: int | None = None
) -> Case:
    """Return the case with the paper's network, for one policy or for those of several seeds."""
    simulator = make_simulator(name, threads=threads)
    rng = np.random.default_rng(0)
    hidden = (HIDDEN | CLASSIC)[name]
    policy = policy_for(simulator, hidden, rng=rng if seeds is None else rng.spawn(seeds))
    return Case(simulator, policy, n, horizon)


def bare_physics(case: Case) -> Callable[[], np.ndarray]:
    """Return a function that replays the episodes of `case` and returns the last positions."""
    robot: Robot = case.simulator
    rows = robot.initial(case.n, rng=np.random.default_rng(1))
    episodes = case.ours()
    controls = np.clip(episodes.padded(episodes.actions), robot.low, robot.high)
    running = [
        np.flatnonzero(episodes.lengths > t).astype(np.int32)
        for t in range(int(episodes.lengths.max()))
    ]
    batch = mujoco.batch.Batch(robot._model, case.n, robot.threads)
    qpos, qvel, ctrl = batch.qpos, batch.qvel, batch.ctrl
    skip = robot._task.frame_skip

    def replay() -> np.ndarray:
        batch.reset(stage=0)
        qpos[:], qvel[:] = np.split(rows, [robot._model.nq], axis=1)
        batch.forward()
        for t, ids in enumerate(running):
            ctrl[:] = controls[:, t]
            batch.step(ids, skip)
        return np.array(qpos)

    return replay


def vector_steps(case: Case) -> Callable[[], int]:
    """Return a function that takes the steps of SyncVectorEnv and counts the real ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices on old versions; MuJoCo's have a way of their own
        mujoco.set_mju_user_warning(lambda message: None)
        env = gymnasium.make_vec(case.simulator.name, case.n, vectorization_mode="sync")
        mujoco.set_mju_user_warning(None)
    env.reset(seed=0)
    return peer_steps(case, env)


def envpool_steps(case: Case, threads: int) -> Callable[[], int]:
    """Return the same for envpool."""
    import envpool

    env = envpool.make_gymnasium(case.simulator.name, num_envs=case.n, num_threads=threads)
    size = env.observation_space.shape[0]
    if size != case.simulator.observation_size:
        raise ValueError(
            f"{case.simulator.name} of envpool must have observations of size "
            f"{case.simulator.observation_size}: got {size}; take another version of envpool"
        )
    return peer_steps(case, env)


def peer_steps(case: Case, env: Any) -> Callable[[], int]:
    """Return a function that takes the steps of a vector environment and counts the real ones."""
    rng = np.random.default_rng(1)
    simulator = case.simulator
    continuous = simulator.action_kind == "continuous"

    def run() -> int:
        observations, _ = env.reset()
        over = np.zeros(case.n, dtype=bool)
        real = 0
        for _ in range(case.horizon):
            actions = case.policy.sample(observations, rng=rng)
            if continuous:
                actions = np.clip(actions, simulator.low, simulator.high)
            observations, _, terminated, truncated, _ = env.step(actions)
            real += int((~over).sum())  # the step after an end is a reset
            over = terminated | truncated
        return real

    return run


class Ratios(NamedTuple):
    """Medians over the rounds; NaN for what was not measured."""

    bare: float  # ours / bare physics
    sync: float  # ours / SyncVectorEnv
    limit: float  # bare physics / SyncVectorEnv
    envpool: float  # ours / envpool
    share: float  # of our time in physics


def seconds_of(function: Callable[[], Any], clock: str) -> tuple[float, Any]:
    """Return the time of one call, and its result."""
    start = CLOCKS[clock]()
    result = function()
    return CLOCKS[clock]() - start, result


def robot_ratios(name: str, threads: int, rounds: int, clock: str = "wall") -> Ratios:
    """Return the ratios for a robot."""
    case = make_case(name, threads=threads)
    replay, vector = bare_physics(case), vector_steps(case)
    pool = envpool_steps(case, threads) if HAS_ENVPOOL else None
    check_same_trajectories(case, replay)
    rows: list[Ratios] = []
    for _ in range(rounds):
        ours, episodes = seconds_of(case.ours, clock)
        physics, _ = seconds_of(replay, clock)
        seconds, real = seconds_of(vector, clock)
        speed, physics_speed, sync_speed = (
            episodes.n_steps / ours,
            episodes.n_steps / physics,
            real / seconds,
        )
        pool_speed = np.nan
        if pool is not None:
            seconds, real = seconds_of(pool, clock)
            pool_speed = real / seconds
        wall = episodes.seconds_physics + episodes.seconds_policy
        rows.append(
            Ratios(
                speed / physics_speed,
                speed / sync_speed,
                physics_speed / sync_speed,
                speed / pool_speed,
                episodes.seconds_physics / (ours if clock == "wall" else wall),
            )
        )
    return Ratios(*(statistics.median(column) for column in zip(*rows, strict=True)))


def check_same_trajectories(case: Case, replay: Callable[[], np.ndarray]) -> None:
    """Make sure that the replay does the same work: it ends where the episodes ended."""
    episodes = case.ours()
    skipped = case.simulator._task.skipped
    places = replay()[:, skipped:]
    if not (places == episodes.final_observations[:, : places.shape[1]]).all():
        raise AssertionError(f"{case.simulator.name}: the replay left the recorded episodes")


def classic_ratios(name: str, threads: int, rounds: int, clock: str = "wall") -> Ratios:
    """Return the ratios for a task of classic control."""
    case = make_case(name, n=25, horizon=200, seeds=SEEDS)
    one = make_case(name, n=25)
    vector = vector_steps(one)
    pool = envpool_steps(one, threads) if HAS_ENVPOOL else None
    sync, pooled = [], []
    for _ in range(rounds):
        ours, episodes = seconds_of(case.ours, clock)
        for peer, ratios in ((vector, sync), (pool, pooled)):
            if peer is not None:
                seconds, real = seconds_of(peer, clock)
                ratios.append((episodes.n_steps / ours) / (real / seconds))
    nan = float("nan")
    median = statistics.median
    return Ratios(nan, median(sync), nan, median(pooled) if pooled else nan, nan)


def report(robots: list[str], threads: int, rounds: int, clock: str = "wall") -> str:
    """Return the table."""
    heads = ("/ bare physics", "/ SyncVectorEnv", "limit", "/ envpool", "physics share")
    lines = [f"{'':16}" + "".join(f"{head:>17}" for head in heads)]
    measured = {name: robot_ratios(name, threads, rounds, clock) for name in robots}
    measured |= {name: classic_ratios(name, threads, rounds, clock) for name in CLASSIC}
    for name, ratios in measured.items():
        cells = (f"{value:17.2f}" if np.isfinite(value) else f"{'':17}" for value in ratios)
        lines.append(f"{name:16}" + "".join(cells))
    return "\n".join(lines if HAS_ENVPOOL else [*lines, MISSING])


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.benchmark(group="100 episodes of at most 50 steps")
def test_sampling(benchmark: Callable[[Callable[[], object]], object], name: str) -> None:
    benchmark(make_case(name, threads=2).ours)


@pytest.mark.parametrize("name", CLASSIC)
@pytest.mark.benchmark(group="10 seeds with 25 episodes of at most 200 steps")
def test_classic(benchmark: Callable[[Callable[[], object]], object], name: str) -> None:
    benchmark(make_case(name, n=25, horizon=200, seeds=SEEDS).ours)


def test_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + report(list(HIDDEN), threads=2, rounds=3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ratios of environment steps per second.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clock", default="wall", choices=list(CLOCKS))
    parser.add_argument("--robots", nargs="*", default=list(HIDDEN), choices=list(HIDDEN))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"{options.threads} threads, {options.rounds} rounds, {N} episodes of at most {HORIZON} "
        f"steps, {options.clock} clock"
    )
    print(report(options.robots, options.threads, options.rounds, options.clock))
