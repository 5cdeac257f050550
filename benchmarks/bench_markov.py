"""Speed of the Markov chain code against plain peers, in the same run.

Run ``pytest benchmarks/bench_markov.py -s`` to see the ratios. The peer of the stationary law is
the compiled elimination of QuantEcon.py: ``pip install quantecon``, into an environment of its own,
since it brings Numba. Times are those of the processor, as the machine may be shared; set
``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

from amgd.markov import MarkovChain, de_bruijn, lazy_cycle
from amgd.td import GridWorld

pytestmark = pytest.mark.benchmark(timer=time.process_time)
REPLICATES, LENGTH = 1000, 10_000
PEER_REPLICATES, PEER_LENGTH = 10, 1000  # the peer is timed on this part and scaled up


def choice_loop(chain: MarkovChain, replicates: int, length: int, rng: np.random.Generator):
    """The peer: one ``rng.choice`` a step and path."""
    paths = np.empty((replicates, length), dtype=np.int64)
    for path in paths:
        path[0] = rng.choice(chain.n_states, p=chain.stationary)
        for t in range(1, length):
            path[t] = rng.choice(chain.n_states, p=chain.transition[path[t - 1]])
    return paths


def seconds(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.parametrize("chain", [lazy_cycle(12), de_bruijn(8)], ids=["12 states", "256 states"])
def test_sample(benchmark, chain):
    rng = np.random.default_rng(0)
    chain.sample(2, rng=rng)
    benchmark.pedantic(
        lambda: chain.sample(LENGTH, rng=rng, replicates=REPLICATES), rounds=3, iterations=1
    )
    part = min(
        seconds(lambda: choice_loop(chain, PEER_REPLICATES, PEER_LENGTH, rng)) for _ in range(3)
    )
    loop = part * (REPLICATES * LENGTH) / (PEER_REPLICATES * PEER_LENGTH)
    ours = benchmark.stats.stats.min
    benchmark.extra_info["ratio"] = loop / ours
    print(
        f"\nsample {REPLICATES} x {LENGTH}, {chain.n_states} states: {ours:.2f} s; rng.choice loop "
        f"{loop:.0f} s (scaled up from {PEER_REPLICATES} x {PEER_LENGTH}): {loop / ours:.0f} times"
    )


def test_sample_memory(benchmark):
    chain = lazy_cycle(12)
    rng = np.random.default_rng(0)
    chain.sample(2, rng=rng)
    tracemalloc.start()
    path = benchmark.pedantic(
        lambda: chain.sample(LENGTH, rng=rng, replicates=REPLICATES), rounds=1, iterations=1
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    benchmark.extra_info["ratio"] = peak / path.nbytes
    print(f"\nsample memory: peak {peak / 2**20:.0f} MiB, {peak / path.nbytes:.2f} of the output")


@pytest.mark.parametrize("n", [1000, 2000, 4000])
def test_stationary(benchmark, n):
    reason = "the peer is QuantEcon.py: pip install quantecon"
    solve = pytest.importorskip("quantecon.markov.gth_solve", reason=reason).gth_solve
    solve(np.full((2, 2), 0.5))  # compiles
    matrix = np.random.default_rng(0).dirichlet(np.ones(n), size=n)
    ours, peers = [], []

    def eliminate():
        chain = MarkovChain(matrix)
        ours.append(seconds(lambda: chain.stationary))

    rounds = 3 if n < 4000 else 1
    benchmark.pedantic(eliminate, rounds=max(2, rounds), iterations=1)
    peers = [seconds(lambda: solve(matrix)) for _ in range(rounds)]
    np.testing.assert_allclose(MarkovChain(matrix).stationary, solve(matrix[:n]), rtol=1e-12)
    benchmark.extra_info["ratio"] = min(peers) / min(ours)
    print(
        f"\nstationary law, {n} states: {min(ours):.3f} s; QuantEcon's gth_solve "
        f"{min(peers):.2f} s: {min(peers) / min(ours):.1f} times"
    )


@pytest.mark.parametrize("goal", ["ordinary", "reset"])
def test_sparse_stationary(benchmark, goal):
    """The peer is a sparse LU decomposition, which subtracts."""
    policy = np.random.default_rng(0).dirichlet(np.ones(4), size=40_000)
    grid = GridWorld(200, goal=goal, policy=policy)

    def decompose():
        P = grid.transition_sparse
        law = splu(csc_array(eye_array(39_999) - P[:-1, :-1].T)).solve(P[[-1], :-1].toarray()[0])
        law = np.append(law, 1.0)
        return law / law.sum()

    benchmark.pedantic(lambda: MarkovChain(grid.transition_sparse).stationary, rounds=2)
    peer, ours = min(seconds(decompose) for _ in range(2)), benchmark.stats.stats.min
    benchmark.extra_info["ratio"] = peer / ours
    apart = np.abs(decompose() / grid.stationary - 1).max()
    print(
        f"\nstationary law, {goal} grid of 40000 states: {ours:.1f} s; sparse LU {peer:.2f} s: "
        f"{peer / ours:.2f} times; largest relative difference of an entry {apart:.0e}"
    )


@pytest.mark.parametrize("name", ["grid of 200 x 200", "window of 14 bits"])
def test_large(benchmark, name):
    """No peer: seconds for what a user asks first of a large sparse chain."""

    def ask():
        chain = GridWorld(200).chain if name.startswith("grid") else de_bruijn(14)
        assert chain.is_irreducible
        assert chain.is_aperiodic
        chain.sample(1000, rng=np.random.default_rng(0), replicates=1000)
        return chain.is_reversible

    benchmark.pedantic(ask, rounds=2)
    print(f"\nstructure, law, 1000 x 1000 samples, {name}: {benchmark.stats.stats.min:.1f} s")


def test_mixing_time(benchmark):
    chain = lazy_cycle(100)

    def bisect() -> int:
        return MarkovChain(chain.transition).mixing_time(0.01)

    def plain() -> int:
        power, k = chain.transition, 1
        while 0.5 * np.abs(power - chain.stationary).sum(axis=1).max() > 0.01:
            power, k = power @ chain.transition, k + 1
        return k

    found = benchmark.pedantic(bisect, rounds=3, iterations=1)
    assert found == plain()
    peer, ours = seconds(plain), benchmark.stats.stats.min
    benchmark.extra_info["ratio"] = peer / ours
    print(
        f"\nmixing time, cycle of 100: {ours:.4f} s; power by power {peer:.2f} s: "
        f"{peer / ours:.0f} times"
    )
