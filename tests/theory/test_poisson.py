"""Poisson's equation on a finite chain: its solution, and the constants T and T_*."""

import numpy as np
import pytest
from enumeration import random_chain

from amgd.markov import MarkovChain, de_bruijn, iid, lazy_cycle, sticky, two_clusters


def fundamental(chain):
    """Z = (I - P + 1 pi^T)^-1."""
    n = chain.n_states
    return np.linalg.inv(np.eye(n) - chain.transition + np.outer(np.ones(n), chain.stationary))


@pytest.mark.theorem("lem-poisson")
@pytest.mark.theorem("thm-1-poisson")
def test_solution_of_poissons_equation(record):
    """Q = (Z - I) H is the series P H + P^2 H + ..., |Q| <= 2 sigma T_* <= 2 sigma T."""
    rng = np.random.default_rng(301)
    worst = 0.0
    for _ in range(200):
        _, chain = random_chain(rng)
        P, n = chain.transition, chain.n_states
        H = rng.normal(size=(n, int(rng.integers(1, 6))))
        if rng.random() < 0.5:
            H = np.where(rng.random((n, 1)) < 0.5, 1.0, -1.0) * H[0]
        G = H.copy()
        H = H - chain.stationary @ H
        Q = (fundamental(chain) - np.eye(n)) @ H
        np.testing.assert_allclose(P @ H, Q - P @ Q, atol=1e-9)  # Poisson's equation
        # The mean grad f may be added back: the constant vector is in the kernel of Z - I.
        np.testing.assert_allclose((fundamental(chain) - np.eye(n)) @ G, Q, atol=1e-8)
        # 2^12 terms of the series, by doubling: S_2m = S_m + P^m S_m.
        partial, power = P @ H, P.copy()
        for _ in range(15):
            partial, power = partial + power @ partial, power @ power
        np.testing.assert_allclose(partial, Q, atol=1e-6 * (1 + np.abs(Q).max()))
        sigma = np.linalg.norm(G, axis=1).max()
        T, T_star = chain.mixing_sum, chain.poisson_mixing
        assert T_star <= T * (1 + 1e-9) + 1e-12
        size = np.linalg.norm(Q, axis=1).max()
        assert size <= 2 * sigma * T_star * (1 + 1e-9) + 1e-12
        if T_star > 1e-6:
            worst = max(worst, size / (2 * sigma * T_star))
    record("Poisson solution / (2 sigma T_*)", worst)
    assert worst > 0.99  # the constant 2 T_* is attained


@pytest.mark.theorem("lem-poisson")
@pytest.mark.parametrize(
    "chain",
    [
        iid([0.3, 0.7]),
        sticky([0.3, 0.7], 0.05),
        lazy_cycle(12),
        two_clusters(8, 0.01),
        de_bruijn(5),
    ],
    ids=["iid", "sticky", "lazy cycle", "clusters", "de Bruijn"],
)
def test_T_and_T_star(chain):
    n = chain.n_states
    curve = chain.tv_distance(np.arange(1, 5000))
    assert chain.mixing_sum == pytest.approx(curve.sum(), rel=1e-9, abs=1e-12)
    T_star = np.abs(fundamental(chain) - np.eye(n)).sum(axis=1).max() / 2
    assert chain.poisson_mixing == pytest.approx(T_star, rel=1e-9, abs=1e-12)
    assert chain.mixing_sum <= 2 * chain.mixing_time(0.25) + 1e-12
    assert chain.mixing_sum <= chain.mixing_constant + 1e-12


@pytest.mark.theorem("lem-poisson")
def test_sticky_closed_form():
    for p in (0.01, 0.3, 1.0):
        for pi in ([0.5, 0.5], [0.2, 0.3, 0.5]):
            expected = (1 - min(pi)) * (1 - p) / p
            assert sticky(pi, p).mixing_sum == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.theorem("lem-poisson")
def test_T_star_is_finite_for_periodic_chains():
    for n in (2, 3, 7):
        turn = MarkovChain(np.roll(np.eye(n), 1, axis=1))
        assert np.isfinite(turn.poisson_mixing)
        T_star = np.abs(fundamental(turn) - np.eye(n)).sum(axis=1).max() / 2
        assert turn.poisson_mixing == pytest.approx(T_star, rel=1e-12)
    with pytest.raises(ValueError, match="period"):
        _ = turn.mixing_sum
