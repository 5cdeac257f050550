"""Whole training iterations: share of physics, Stable-Baselines3, whole experiments, memory.

1. *An iteration* of a robot is that of the paper's Figure 3: 100 episodes, a linear baseline, one
   gradient, one step, the next batch as evaluation; episodes are cut at 100 steps. One of CartPole
   has 25 episodes. Printed is the share of each phase in its time.
   Target: physics at least 0.85 for HalfCheetah.
2. *Stable-Baselines3* does the same with PPO and one epoch: 8 environments of 256 steps, the same
   hidden layers for policy and value, one minibatch, so one gradient and one step an iteration, the
   faster of DummyVecEnv and SubprocVecEnv. Its numbers are float32, ours float64. Figure: the
   ratio of environment steps per second, the median over rounds in which all take turns.
   Target: 3. This part is left out where Stable-Baselines3 is not installed.
3. *Whole experiments*: CartPole with 10 runs, 200 updates, 25 episodes and 50 for the evaluation;
   Acrobot the same with 100 updates; in one process, and the runs spread over two as
   ``amgd run --jobs 2`` does. Printed is the time that passes, which has the start of the
   processes in it, and that of the processors. Targets: 10 s and 60 s.
4. *Memory*: the peak of a fresh process that collects 100 episodes of 1000 steps of an ant and
   takes the gradient. The mean of its policy is nearly 0, so no episode ends early.
   Target: 1.5 GiB.

Run as ``python benchmarks/bench_training.py [--parts iteration peers experiments memory]`` or
``python -m pytest benchmarks/bench_training.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import joblib
import mujoco
import numpy as np
import pytest
import torch

from amgd.reinforce import (
    GaussianPolicy,
    Trainer,
    TrainingSpec,
    collect_episodes,
    make_simulator,
    policy_gradient,
    returns_to_go,
    step_weights,
    train,
)

HAS_SB3 = importlib.util.find_spec("stable_baselines3") is not None
MISSING = "Stable-Baselines3 is not installed; for this part run: pip install stable-baselines3"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
HIDDEN: dict[str, tuple[int, ...]] = {
    "CartPole-v0": (8,),
    "HalfCheetah-v5": (32, 32),
    "Ant-v5": (128, 64, 32),
}
ENVIRONMENTS, STEPS = 8, 256  # of Stable-Baselines3


# --- an iteration ---------------------------------------------------------------------------------
def trainer(name: str, threads: int) -> Trainer:
    """Return a training that never ends, after its first iteration."""
    robot: dict[str, Any] = {"batch": 100, "baseline": "linear", "horizon": 100, "threads": threads}
    made = Trainer(
        TrainingSpec(
            environment=name,
            hidden=HIDDEN[name],
            iterations=10**6,
            lr=1e-4,  # the policy stays near its start, so every round does the same work
            evaluation="next_batch",
            **({} if name == "CartPole-v0" else robot),
        )
    )
    made.advance()
    return made


def shares(name: str, threads: int, rounds: int) -> dict[str, float]:
    """Return the share of each phase in the time of the iterations, and their steps a second."""
    ours = trainer(name, threads)
    for _ in range(rounds):
        ours.advance()
    seconds = {phase: float(values[1:].sum()) for phase, values in ours.log.seconds.items()}
    total = seconds.pop("total")
    del seconds["evaluation"]  # the batch itself
    result = {phase: value / total for phase, value in seconds.items()}
    steps = ours.log["length"][0, 1:].sum() * ours.spec.batch
    return {**result, "steps/s": float(steps) / total}


def share_table(threads: int, rounds: int) -> str:
    """Return the table of shares."""
    measured = {name: shares(name, threads, rounds) for name in HIDDEN}
    heads = list(next(iter(measured.values())))
    lines = [f"{'':16}" + "".join(f"{head:>10}" for head in heads)]
    for name, row in measured.items():
        cells = (
            f"{row[head]:10.0f}" if head == "steps/s" else f"{row[head]:10.3f}" for head in row
        )
        lines.append(f"{name:16}" + "".join(cells))
    return "\n".join(lines)


# --- Stable-Baselines3 ----------------------------------------------------------------------------
def quiet_environment(name: str) -> gymnasium.Env[Any, Any]:
    """Make an environment without notes on deprecated attributes and old versions."""
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        return gymnasium.make(name)
    finally:
        mujoco.set_mju_user_warning(None)


def ppo(name: str, kind: str) -> Any:
    """Return PPO that does one iteration for each call of ``learn(ENVIRONMENTS * STEPS)``."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    environments = make_vec_env(
        quiet_environment,
        n_envs=ENVIRONMENTS,
        vec_env_cls={"dummy": DummyVecEnv, "subproc": SubprocVecEnv}[kind],
        env_kwargs={"name": name},
    )
    layers = list(HIDDEN[name])
    return PPO(
        "MlpPolicy",
        environments,
        n_steps=STEPS,
        batch_size=ENVIRONMENTS * STEPS,
        n_epochs=1,
        learning_rate=1e-4,
        policy_kwargs={
            "net_arch": {"pi": layers, "vf": layers},
            "activation_fn": torch.nn.Tanh,
        },
        device="cpu",
        seed=0,
    )


def peer_ratios(name: str, threads: int, rounds: int, clock: str = "wall") -> dict[str, float]:
    """Return ours / PPO in steps per second, for each vector class.

    With the clock "cpu" SubprocVecEnv is left out: its work is that of other processes.
    """
    ours = trainer(name, threads)
    kinds = ["dummy", "subproc"] if clock == "wall" else ["dummy"]
    peers = {kind: ppo(name, kind) for kind in kinds}
    now = CLOCKS[clock]

    def one_of_ours() -> float:
        start = now()
        ours.advance()
        seconds = now() - start
        return float(ours.log["length"][0, -1]) * ours.spec.batch / seconds

    def one_of(peer: Any) -> float:
        start = now()
        peer.learn(ENVIRONMENTS * STEPS)
        return ENVIRONMENTS * STEPS / (now() - start)

    for peer in peers.values():
        one_of(peer)  # imports and first allocations
    ratios: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        speed = one_of_ours()
        for kind in kinds:
            ratios[kind].append(speed / one_of(peers[kind]))
    for peer in peers.values():
        peer.env.close()
    return {kind: statistics.median(values) for kind, values in ratios.items()}


def peer_table(threads: int, rounds: int, clock: str = "wall") -> str:
    """Return the table of ratios; the smaller one is that to the faster class."""
    if not HAS_SB3:
        return MISSING
    lines = [f"{'':16}{'/ PPO (dummy)':>18}{'/ PPO (subproc)':>18}{'/ the faster':>18}"]
    for name in HIDDEN:
        ratios = peer_ratios(name, threads, rounds, clock)
        cells = [ratios["dummy"], ratios.get("subproc", float("nan")), min(ratios.values())]
        lines.append(f"{name:16}" + "".join(f"{cell:18.2f}" for cell in cells))
    return "\n".join(lines)


# --- whole experiments ----------------------------------------------------------------------------
def experiment(name: str, hidden: tuple[int, ...], iterations: int) -> TrainingSpec:
    """Return the paper's training with 10 runs."""
    return TrainingSpec(environment=name, hidden=hidden, iterations=iterations, runs=10)


EXPERIMENTS = {
    "CartPole-v0, 10 x 200": experiment("CartPole-v0", (8,), 200),
    "Acrobot-v1, 10 x 100": experiment("Acrobot-v1", (16,), 100),
}


def processor_seconds(spec: TrainingSpec) -> float:
    """Return the processor's time for one training in this process."""
    start = time.process_time()
    train(spec)
    return time.process_time() - start


def seconds_of(spec: TrainingSpec, processes: int) -> tuple[float, float]:
    """Return the time that passes, and the processor's, with the runs spread over processes.

    This is how ``amgd run --jobs`` spreads them. The start of the processes is part of the time.
    """
    parts = [replace(spec, runs=tuple(part)) for part in np.array_split(spec.runs, processes)]
    start = time.perf_counter()
    with joblib.parallel_config(n_jobs=processes):
        used = joblib.Parallel()(joblib.delayed(processor_seconds)(part) for part in parts)
    return time.perf_counter() - start, sum(used)


def experiment_table() -> str:
    """Return the table of times."""
    lines = [f"{'':24}{'processes':>12}{'wall (s)':>12}{'processor (s)':>16}"]
    for name, spec in EXPERIMENTS.items():
        for processes in (1, 2):
            wall, processor = seconds_of(spec, processes)
            lines.append(f"{name:24}{processes:12}{wall:12.1f}{processor:16.1f}")
    return "\n".join(lines)


# --- memory ---------------------------------------------------------------------------------------
def ant_batch() -> None:
    """Collect 100 episodes of 1000 steps of an ant, take the gradient, print the peak memory."""
    rng = np.random.default_rng(0)
    simulator = make_simulator("Ant-v5", threads=2)
    policy = GaussianPolicy((105, *HIDDEN["Ant-v5"], 8), "free", rng=rng)
    with torch.no_grad():
        policy.log_std.fill_(-5.0)
        for weight, _ in policy.network.layers:
            weight.mul_(0.1)
    before = peak()
    episodes = collect_episodes(policy, simulator, 100, rng=rng)
    if episodes.n_steps != 100_000:
        raise AssertionError(f"all 100 episodes must last 1000 steps: got {episodes.n_steps} steps")
    sampled = peak()
    returns = returns_to_go(episodes.rewards, episodes.lengths, 0.99)
    policy_gradient(policy, episodes, step_weights(returns, episodes.lengths, "episode_mean"))
    print(
        f"peak memory in GiB: {before:.2f} after imports, {sampled:.2f} with the batch of 100 x "
        f"1000 steps, {peak():.2f} with its gradient"
    )


def peak() -> float:
    """Return the largest resident memory of this process so far, in GiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def memory_line() -> str:
    """Return what `ant_batch` prints in a fresh process."""
    command = [sys.executable, __file__, "--parts", "ant_batch"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# --- what runs ------------------------------------------------------------------------------------
PARTS: dict[str, Callable[[argparse.Namespace], str]] = {
    "iteration": lambda options: share_table(options.threads, options.rounds),
    "peers": lambda options: peer_table(options.threads, options.rounds, options.clock),
    "experiments": lambda options: experiment_table(),
    "memory": lambda options: memory_line(),
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.benchmark(group="one training iteration")
def test_iteration(benchmark: Callable[[Callable[[], object]], object], name: str) -> None:
    benchmark(trainer(name, threads=2).advance)


def test_shares(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + share_table(threads=2, rounds=3))


@pytest.mark.skipif(not HAS_SB3, reason=MISSING)
def test_peers(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + peer_table(threads=2, rounds=3))


def test_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + experiment_table())


def test_memory(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + memory_line())


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description="Training iterations: shares, ratios, memory.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clock", default="wall", choices=list(CLOCKS))
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=[*PARTS, "ant_batch"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.parts == ["ant_batch"]:
        ant_batch()
        return
    for part in options.parts:
        print(f"{part} ({options.threads} threads, {options.rounds} rounds)", flush=True)
        print(PARTS[part](options), flush=True)


if __name__ == "__main__":
    main()
