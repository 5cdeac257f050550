"""Sampling with the policy in the loop, beside bare physics and beside Gymnasium's vector class.

For each robot, 100 episodes of the paper's network:

- *ours*: `collect_episodes`, which ends with the flat arrays of observations, actions and rewards;
- *bare physics*: `mujoco.batch.Batch` replays the very actions of those episodes from the very
  initial states, on the same threads.  It computes the same trajectories, and nothing else: no
  observation, no reward, no policy.  Target: ours at least 0.90 of it.
- *SyncVectorEnv*: Gymnasium's, with the same policy, counting real steps only.  Target: ours at
  least 2.5 times it.

CartPole and Acrobot run as in the experiments, the policies of 10 seeds together with 25 episodes
each; the peer there is SyncVectorEnv with the 25 episodes of one seed, for it has no way to join them.

All take turns in short rounds, so that a busy machine slows them alike; a figure is the
median over the rounds of the ratio of environment steps per second.

Run as ``python benchmarks/bench_reinforce.py [--threads 2] [--robots Swimmer-v5 ...]`` or
``python -m pytest benchmarks/bench_reinforce.py``.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import mujoco.batch
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import ClipAction

from amgd.reinforce import Episodes, Policy, collect_episodes, make_simulator, policy_for
from amgd.reinforce.simulators import Robot

N = 100
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
    name: str, *, threads: int = 1, n: int = N, horizon: int = 50, seeds: int | None = None
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
    rows = robot.initial(case.n, np.random.default_rng(1))
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


def vector_steps(case: Case, n_steps: int) -> Callable[[], int]:
    """Return a function that takes `n_steps` steps of SyncVectorEnv and counts the real ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices on old versions; MuJoCo's have a way of their own
        mujoco.set_mju_user_warning(lambda message: None)
        env = gymnasium.make_vec(case.simulator.name, case.n, vectorization_mode="sync")
        mujoco.set_mju_user_warning(None)
    if case.simulator.action_kind == "continuous":
        env = ClipAction(env)
    rng = np.random.default_rng(1)

    def run() -> int:
        observations, _ = env.reset(seed=0)
        over = np.zeros(case.n, dtype=bool)
        real = 0
        for _ in range(n_steps):
            actions = case.policy.sample(observations, rng=rng)
            observations, _, terminated, truncated, _ = env.step(actions)
            real += int((~over).sum())  # the step after an end is a reset
            over = terminated | truncated
        return real

    return run


def seconds_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of one call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def robot_ratios(name: str, threads: int, rounds: int) -> tuple[float, float, float]:
    """Return ours/bare physics, ours/SyncVectorEnv and the physics' share of our time."""
    case = make_case(name, threads=threads)
    replay, vector = bare_physics(case), vector_steps(case, 10)
    check_same_trajectories(case, replay)
    bare, sync, share = [], [], []
    for _ in range(rounds):
        ours, episodes = seconds_of(case.ours)
        physics, _ = seconds_of(replay)
        seconds, real = seconds_of(vector)
        bare.append(physics / ours)
        sync.append((episodes.n_steps / ours) / (real / seconds))
        share.append(episodes.seconds_physics / ours)
    return statistics.median(bare), statistics.median(sync), statistics.median(share)


def check_same_trajectories(case: Case, replay: Callable[[], np.ndarray]) -> None:
    """Make sure that the replay does the same work: it ends where the episodes ended."""
    episodes = case.ours()
    skipped = case.simulator._task.skipped
    places = replay()[:, skipped:]
    if not (places == episodes.final_observations[:, : places.shape[1]]).all():
        raise AssertionError(f"{case.simulator.name}: the replay left the recorded episodes")


def classic_ratio(name: str, rounds: int) -> float:
    """Return ours/SyncVectorEnv for a task of classic control."""
    case = make_case(name, n=25, horizon=200, seeds=SEEDS)
    vector = vector_steps(make_case(name, n=25), 40)
    ratios: list[float] = []
    for _ in range(rounds):
        ours, episodes = seconds_of(case.ours)
        seconds, real = seconds_of(vector)
        ratios.append((episodes.n_steps / ours) / (real / seconds))
    return statistics.median(ratios)


def report(robots: list[str], threads: int, rounds: int) -> str:
    """Return the table."""
    lines = [f"{'':16}{'/ bare physics':>16}{'/ SyncVectorEnv':>17}{'physics share':>15}"]
    for name in robots:
        bare, sync, share = robot_ratios(name, threads, rounds)
        lines.append(f"{name:16}{bare:16.3f}{sync:17.2f}{share:15.3f}")
    for name in CLASSIC:
        lines.append(f"{name:16}{'':16}{classic_ratio(name, rounds):17.2f}")
    return "\n".join(lines)


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
    parser.add_argument("--robots", nargs="*", default=list(HIDDEN), choices=list(HIDDEN))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{options.threads} threads, {options.rounds} rounds, {N} episodes of at most 50 steps")
    print(report(options.robots, options.threads, options.rounds))
