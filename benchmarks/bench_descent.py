"""Algorithm 1 on all replicates together beside a plain Python loop over the replicates.

Setting: 1000 replicates, d = 10, 10^4 steps, a quadratic with additive noise on four states, a
sticky chain. The loop treats one replicate after the other with NumPy vectors of length 10 and
the bare formulas (no checks, no records); it is timed on fewer replicates, and its seconds are
multiplied up: its replicates are independent, so its cost is linear in their number. The states
it sees are sampled beforehand, outside its clock. The two take turns: a busy machine slows both.
The target is a ratio of at least 50.

The second figure is peak memory (tracemalloc) for two lengths of run: it must not grow with the
number of steps beyond what is recorded, here one step.

Run as ``python benchmarks/bench_descent.py`` or ``python -m pytest benchmarks/bench_descent.py``.
"""

import statistics
import time
import tracemalloc

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from amgd.descent import amgd_nonconvex, steps
from amgd.descent.problems import Quadratic
from amgd.markov import sticky

REPLICATES, DIM, N_STEPS = 1000, 10, 10_000
LOOP_REPLICATES = 3
SPECTRUM = np.geomspace(0.1, 1.0, DIM)
NOISE = np.concatenate([np.eye(4, DIM)[:2], -np.eye(4, DIM)[:2]])
PROBLEM = Quadratic(SPECTRUM, NOISE)
CHAIN = sticky(np.full(4, 0.25), 0.2)
RULE = steps.theorem1(0.05)


def batch(n_steps: int = N_STEPS, replicates: int = REPLICATES) -> np.ndarray:
    """Last x_bar of all replicates, by the package."""
    run = amgd_nonconvex(
        PROBLEM,
        CHAIN,
        RULE,
        n_steps,
        x0=np.ones(DIM),
        replicates=replicates,
        rng=np.random.default_rng(0),
        record=[n_steps],
    )
    return run.x_bar[0]


def loop(states: np.ndarray, rules: list[list[float]]) -> np.ndarray:
    """The same by a loop over replicates and steps; `states` is (replicates, n_steps + 1)."""
    result = np.empty((len(states), DIM))
    for r, path in enumerate(states.tolist()):
        x = x_bar = np.ones(DIM)
        for alpha, beta, gamma, xi in zip(*rules, path[1:], strict=True):
            y = (1 - alpha) * x_bar + alpha * x
            gradient = SPECTRUM * y + NOISE[xi]
            x = x - gamma * gradient
            x_bar = y - beta * gradient
        result[r] = x_bar
    return result


def prepare() -> tuple[np.ndarray, list[list[float]]]:
    """States and step sizes for the loop: the first replicates of what `batch` sees."""
    states = CHAIN.sample(N_STEPS + 1, rng=np.random.default_rng(0), replicates=LOOP_REPLICATES)
    k = np.arange(1, N_STEPS + 1)
    return states, [rule(k).tolist() for rule in (RULE.alpha, RULE.beta, RULE.gamma)]


def ratio(rounds: int = 5) -> tuple[float, float, float]:
    """Median seconds of the batch and of the loop (multiplied up), median of their ratios."""
    states, rules = prepare()
    # They do the same: on the same three replicates they agree.
    difference = np.abs(batch(replicates=LOOP_REPLICATES) - loop(states, rules)).max()
    if difference > 1e-12:
        raise AssertionError(f"batch and loop differ by {difference:.3g}")
    fast, slow = [], []
    for _ in range(rounds):
        start = time.process_time()
        batch()
        middle = time.process_time()
        loop(states, rules)
        fast.append(middle - start)
        slow.append((time.process_time() - middle) * REPLICATES / LOOP_REPLICATES)
    ratios = [b / a for a, b in zip(fast, slow, strict=True)]
    return statistics.median(fast), statistics.median(slow), statistics.median(ratios)


def peak_memory(n_steps: int) -> float:
    """Peak of the memory that one run allocates, MB."""
    tracemalloc.start()
    batch(n_steps)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def test_batch(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(batch, rounds=3, warmup_rounds=1)


def test_ratio_and_memory() -> None:
    report()


def report() -> None:
    """Print both figures."""
    fast, slow, factor = ratio()
    print(f"\n{REPLICATES} replicates, d = {DIM}, {N_STEPS} steps")
    print(f"  together           {fast:8.2f} s")
    print(f"  loop (multiplied)  {slow:8.1f} s")
    print(f"  ratio              {factor:8.0f}   (target: at least 50)")
    for n_steps in (N_STEPS // 10, N_STEPS):
        print(f"  peak memory, {n_steps:6d} steps  {peak_memory(n_steps):6.2f} MB")


if __name__ == "__main__":
    report()
