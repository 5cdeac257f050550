"""TD(0) on the 50 x 50 grid: transitions learned from per second, ten seeds together.

Peers in the same run, on the same paths and with the same features:

- the plain Python loop of teaching code, one seed after the other: one NumPy dot product per
  value, one update per transition (for each method its own loop);
- the loop of TD(0) in C (built here with the system's compiler, skipped without one), one seed
  after the other: a lower bound of the time that compiled code needs on one core.

Both ratios are printed. What they say: composing the affine
maps of the episodes in NumPy comes within a small factor of C. Numba or Cython would add
100 MB or a compiler to the installation to shorten a figure that takes a few seconds; they do not
pay.

Run: ``python -m pytest benchmarks/bench_td.py -s --benchmark-disable-gc``.
"""

import ctypes
import itertools
import shutil
import subprocess
import time

import numpy as np
import pytest

from amgd.descent.steps import theorem3_printed
from amgd.td import GridWorld, TDProblem, fourier_features, td0, td0_accelerated

N, SEEDS, LENGTH = 50, 10, 500
RATE, PAPER = 0.01, theorem3_printed(1.0, "k+1", delta=0.1)


def acc(problem, states):
    """TD(0)-Acc with the paper's steps."""
    return td0_accelerated(problem, states, PAPER)


C_SOURCE = r"""
#include <stdint.h>
void td0(const double *phi, const double *reward, const int64_t *s, double discount, double rate,
         int64_t terminal, int64_t episodes, int64_t length, int64_t stride, double *w) {
    for (int64_t e = 0; e < episodes; e++, s += stride)
        for (int64_t t = 0; t < length; t++) {
            if (s[t] == terminal) break;
            const double *f = phi + 3 * s[t], *g = phi + 3 * s[t + 1];
            double keep = s[t + 1] == terminal ? 0.0 : discount;
            double delta = reward[s[t]]
                + keep * (g[0] * w[0] + g[1] * w[1] + g[2] * w[2])
                - (f[0] * w[0] + f[1] * w[1] + f[2] * w[2]);
            for (int i = 0; i < 3; i++) w[i] += rate * delta * f[i];
        }
}
"""


@pytest.fixture(scope="module")
def problem():
    grid = GridWorld(N, goal="absorbing")
    return TDProblem.from_gridworld(grid, fourier_features(N), law="episode")


@pytest.fixture(scope="module")
def states(problem):
    return problem.sample_episodes(500, rng=np.random.default_rng(0), replicates=SEEDS)


def python_td0(problem, path, theta, rate):
    """One episode of TD(0) as it is written on a blackboard, in place."""
    features, reward, discount = problem.features, problem.reward, problem.discount
    for s, after in itertools.pairwise(path):
        if problem.is_terminal[s]:
            break
        value_after = 0.0 if problem.is_terminal[after] else features[after] @ theta
        delta = reward[s] + discount * value_after - features[s] @ theta
        theta += rate * delta * features[s]


def python_accelerated(problem, path, x, x_bar, alpha, beta, gamma, mu):
    """One episode of TD(0)-Acc, in place."""
    features, reward, discount = problem.features, problem.reward, problem.discount
    for s, after in itertools.pairwise(path):
        if problem.is_terminal[s]:
            break
        y = (1 - beta) * x_bar + beta * x
        value_after = 0.0 if problem.is_terminal[after] else features[after] @ y
        delta = reward[s] + discount * value_after - features[s] @ y
        x[:] = (x + gamma * (mu * y + delta * features[s])) / (1 + mu * gamma)
        x_bar[:] = (1 - alpha) * x_bar + alpha * x


def python_loop(problem, states, accelerated):
    """Learn one seed after the other; return the evaluated iterate of each."""
    thetas = []
    for r in range(states.shape[1]):
        x, x_bar = np.zeros(problem.dim), np.zeros(problem.dim)
        for k, path in enumerate(states[:, r], 1):
            if accelerated:
                rates = PAPER.alpha(k), PAPER.beta(k), PAPER.gamma(k), PAPER.mu
                python_accelerated(problem, path, x, x_bar, *rates)
            else:
                python_td0(problem, path, x, RATE)
        thetas.append(x_bar if accelerated else x)
    return np.array(thetas)


@pytest.fixture(scope="module")
def loop_rates(problem, states):
    """Transitions per second of the two plain loops, on some of the episodes."""
    part = states[:8]
    rates = {}
    for accelerated, peer in ((False, td0(problem, part, RATE)), (True, acc(problem, part))):
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            theta = python_loop(problem, part, accelerated)
            seconds.append(time.perf_counter() - start)
        np.testing.assert_allclose(theta, peer.theta[-1], rtol=1e-9, atol=1e-9)
        rates[accelerated] = part.shape[0] * SEEDS * LENGTH / min(seconds)
    return rates


@pytest.fixture(scope="module")
def compiled_rate(problem, states, tmp_path_factory):
    """Transitions per second of the C loop, or None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    folder = tmp_path_factory.mktemp("c")
    (folder / "td0.c").write_text(C_SOURCE)
    library = folder / "td0.so"
    command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, folder / "td0.c"], check=True)
    function = ctypes.CDLL(str(library)).td0
    real, whole = ctypes.c_double, ctypes.c_int64
    function.argtypes = [ctypes.c_void_p] * 3 + [real, real] + [whole] * 4 + [ctypes.c_void_p]
    features, reward = np.array(problem.features), np.array(problem.reward)
    paths = np.ascontiguousarray(states.swapaxes(0, 1))  # seed, episode, time
    seconds = []
    for _ in range(5):
        theta = np.zeros((SEEDS, 3))
        start = time.perf_counter()
        for r in range(SEEDS):
            pointers = (features.ctypes.data, reward.ctypes.data, paths[r].ctypes.data)
            function(
                *pointers,
                problem.discount,
                RATE,
                N * N - 1,
                len(states),
                LENGTH,
                LENGTH + 1,
                theta[r].ctypes.data,
            )
        seconds.append(time.perf_counter() - start)
    np.testing.assert_allclose(theta, td0(problem, states, RATE).theta[-1], rtol=1e-9, atol=1e-9)
    return states.shape[0] * SEEDS * LENGTH / min(seconds)


METHODS = {
    "td0": lambda problem, states: td0(problem, states, RATE),
    "td0, single transitions": lambda problem, states: td0(problem, states, RATE, compose=False),
    "td0_accelerated": acc,
}


@pytest.mark.parametrize("name", METHODS)
def test_transitions_per_second(name, benchmark, problem, states, loop_rates, compiled_rate):
    benchmark.pedantic(METHODS[name], args=(problem, states), rounds=5, warmup_rounds=1)
    rate = states.shape[0] * SEEDS * LENGTH / benchmark.stats.stats.min
    loop = loop_rates[name == "td0_accelerated"]
    text = f"\n{name}: {rate:.3g} transitions/s, {rate / loop:.1f} x the Python loop"
    if name == "td0":
        if compiled_rate is None:
            text += "; no C compiler found, so no lower bound"
        else:
            text += f", {compiled_rate / rate:.2f} x slower than the C loop"
    benchmark.extra_info.update(loop=loop, compiled=compiled_rate)
    print(text)


def test_figure_1(benchmark, problem):
    """The four curves of both sizes with the tuning grid: paths, runs and exact NEU."""

    def figure():
        for n, episodes in ((10, 1000), (50, 500)):
            grid = GridWorld(n, goal="absorbing")
            problem = TDProblem.from_gridworld(grid, fourier_features(n), law="episode")
            states = problem.sample_episodes(
                episodes, rng=np.random.default_rng(0), replicates=SEEDS
            )
            runs = [acc(problem, states)]
            for rate in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, lambda k: 0.3 / k):
                runs.append(td0(problem, states, rate))
            for run in runs:
                problem.neu(run.theta)

    benchmark.pedantic(figure, rounds=2)
    print(f"\nFigure 1: {benchmark.stats.stats.min:.2f} s")
