"""Figure 1 of the paper, whole: both sizes, ten seeds, four curves, tuning grid, both NEUs.

The peer in the same run is the plain Python loop of teaching code on the same episodes, one seed
after the other; it is timed on a few episodes and scaled to all transitions of the figure.

Run: ``python -m pytest benchmarks/bench_figure1.py -s --benchmark-disable-gc``.
"""

import itertools
import time

import numpy as np

from amgd.experiments.gridworld import FIGURE1, run

PART = 20  # episodes on which the loop is timed


def loop_seconds_per_transition(spec):
    """Seconds of a transition of TD(0) in plain Python, best of three."""
    problem = spec.problem()
    paths = problem.sample_episodes(PART, rng=np.random.default_rng(0))[:, 0]
    features, discount = problem.features, problem.discount
    seconds = []
    for _ in range(3):
        theta = np.zeros(problem.dim)
        start = time.perf_counter()
        for path in paths:
            for s, after in itertools.pairwise(path):
                if problem.is_terminal[s]:
                    break
                value_after = 0.0 if problem.is_terminal[after] else features[after] @ theta
                delta = problem.reward[s] + discount * value_after - features[s] @ theta
                theta += spec.rate * delta * features[s]
        seconds.append(time.perf_counter() - start)
    return min(seconds) / (paths.shape[0] * (paths.shape[1] - 1))


def test_figure_1(benchmark):
    def figure():
        return [run(spec) for spec in FIGURE1]

    benchmark.pedantic(figure, rounds=2)
    loop = 0.0
    for spec in FIGURE1:
        tries = len(spec.rates) + len(spec.scales)
        runs = len(spec.methods) * spec.seeds + tries * spec.tuning_seeds
        loop += loop_seconds_per_transition(spec) * runs * spec.episodes * spec.length
    seconds = benchmark.stats.stats.min
    benchmark.extra_info.update(loop=loop)
    print(f"\nFigure 1: {seconds:.1f} s, {loop / seconds:.0f} x faster than the Python loop")
