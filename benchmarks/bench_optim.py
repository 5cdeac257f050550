"""One step of AMGD beside one step of torch.optim.SGD with Nesterov momentum.

Both do four passes over an MLP 111-128-64-32-8 with fixed gradients. The two take turns in short
rounds, so that a busy machine slows both; the figure is the median over the rounds of the ratio of
their times, and its target is at most 1.10.

Run as ``python benchmarks/bench_optim.py`` or ``python -m pytest benchmarks/bench_optim.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch

from amgd.optim import AMGD

SIZES = (111, 128, 64, 32, 8)
OPTIMIZERS: dict[str, Callable[[list[torch.Tensor]], torch.optim.Optimizer]] = {
    "sgd nesterov foreach": lambda p: torch.optim.SGD(
        p, 1e-6, momentum=0.9, nesterov=True, foreach=True
    ),
    "amgd nesterov": lambda p: AMGD(p, 1e-6),
    "amgd momentum=0.9": lambda p: AMGD(p, 1e-6, momentum=0.9),
    "amgd nesterov loop": lambda p: AMGD(p, 1e-6, foreach=False),
    "amgd theorem1": lambda p: AMGD(p, 1e-6, schedule="theorem1"),
    "amgd sgd (no buffer)": lambda p: AMGD(p, 1e-6, schedule="sgd"),
}
PEER = "sgd nesterov foreach"


def make(name: str) -> torch.optim.Optimizer:
    """Return the optimizer over a fresh MLP with a gradient, after one step (state is made)."""
    generator = torch.Generator().manual_seed(0)
    shapes = [shape for a, b in pairwise(SIZES) for shape in ((b, a), (b,))]
    params = [torch.randn(s, generator=generator, requires_grad=True) for s in shapes]
    for p in params:
        p.grad = torch.randn(p.shape, generator=generator)
    optimizer = OPTIMIZERS[name](params)
    optimizer.step()
    return optimizer


def interleaved(rounds: int = 400, steps: int = 25) -> dict[str, list[float]]:
    """Return, for each optimizer, the seconds a step takes in each round."""
    optimizers = {name: make(name) for name in OPTIMIZERS}
    seconds: dict[str, list[float]] = {name: [] for name in OPTIMIZERS}
    names = list(OPTIMIZERS)
    for turn in range(rounds):
        # The order moves on by one each round: no one always follows the same neighbour.
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            step = optimizers[name].step
            start = time.perf_counter()
            for _ in range(steps):
                step()
            seconds[name].append((time.perf_counter() - start) / steps)
    return seconds


def table(seconds: dict[str, list[float]]) -> str:
    """Return medians and ratios to the peer, a line each."""
    lines = [f"{'':24}{'microseconds':>14}{'ratio':>8}"]
    for name, values in seconds.items():
        ratio = statistics.median(v / peer for v, peer in zip(values, seconds[PEER], strict=True))
        lines.append(f"{name:24}{statistics.median(values) * 1e6:14.1f}{ratio:8.3f}")
    return "\n".join(lines)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.benchmark(group="optimizer step, MLP 111-128-64-32-8")
def test_step(benchmark: Callable[[Callable[[], object]], object], name: str) -> None:
    benchmark(make(name).step)


def test_interleaved_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + table(interleaved()))


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(table(interleaved()))
