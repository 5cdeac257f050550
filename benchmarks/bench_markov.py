"""Speed of the Markov chain code against plain peers, in the same run.

Run ``pytest benchmarks/bench_markov.py -s`` to see the ratios.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest

from amgd.markov import MarkovChain, de_bruijn, lazy_cycle

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
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


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


def test_stationary(benchmark):
    matrix = np.random.default_rng(0).dirichlet(np.ones(1000), size=1000)
    ours = []

    def eliminate():
        chain = MarkovChain(matrix)
        ours.append(seconds(lambda: chain.stationary))

    benchmark.pedantic(eliminate, rounds=2, iterations=1)
    peer = min(seconds(lambda: np.linalg.eig(matrix.T)) for _ in range(2))
    benchmark.extra_info["ratio"] = peer / min(ours)
    print(
        f"\nstationary law, 1000 states: {min(ours):.2f} s; eigenvectors by numpy {peer:.2f} s: "
        f"{peer / min(ours):.1f} times"
    )


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
