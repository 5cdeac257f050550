"""The statements of Part I on random small chains: exact moments, the distances d(k), T and C*."""

import math

import numpy as np
import pytest
from enumeration import random_chain, tree

from amgd import markov
from amgd.descent.problems import Quadratic
from amgd.descent.steps import sgd


def chains(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng, random_chain(rng)[1]


def tv(v):
    """Total variation norm of row vectors: half the sum of moduli."""
    return 0.5 * np.abs(v).sum(axis=-1)


def tracking(chain, centres):
    """F(x; i) = |x - m_i|^2 / 2: the minimiser is the mean of the centres under pi."""
    x_star = chain.stationary @ centres
    problem = Quadratic(
        np.eye(centres.shape[1]),
        x_star - centres,
        stationary=chain.stationary,
        minimiser=x_star,
    )
    return problem, x_star


@pytest.mark.theorem("prop-01-moments")
def test_exact_moments():
    for rng, chain in chains(401, 200):
        noise = rng.normal(size=chain.n_states)
        noise -= chain.stationary @ noise
        problem, x_star = tracking(chain, -noise[:, None])
        gammas = rng.uniform(0, 1.5, 9)
        steps = sgd(lambda k, g=gammas: g[k])
        i, e0 = int(rng.integers(chain.n_states)), rng.normal()
        P, n = chain.transition, noise
        q = np.eye(chain.n_states)[i]
        u, v = q * e0, q * e0**2
        for level in tree(problem, chain, steps, x_star + e0, i, 6, algorithm=1):
            g = gammas[level.k]
            q = q @ P
            v = (1 - g) ** 2 * v @ P - 2 * g * (1 - g) * n * (u @ P) + g**2 * n**2 * q
            u = (1 - g) * u @ P - g * n * q
            e = level.x[:, 0] - x_star[0]
            assert level.mean(e) == pytest.approx(u.sum(), abs=1e-12)
            assert level.mean(e**2) == pytest.approx(v.sum(), abs=1e-12)


@pytest.mark.theorem("prop-01-constant")
def test_constant_step():
    rng = np.random.default_rng(402)
    for _ in range(200):
        two = rng.random() < 0.5
        if two:
            chain = markov.two_state(*rng.uniform(0.02, 0.98, 2))
            P = chain.transition
            eigenvalue = 1 - P[0, 1] - P[1, 0]
        else:
            p = rng.uniform(0.02, 1)
            chain, eigenvalue = markov.sticky(rng.dirichlet(np.ones(3)) * 0.9 + 1 / 30, p), 1 - p
        pi, P = chain.stationary, chain.transition
        n = rng.normal(size=chain.n_states)
        n -= pi @ n
        np.testing.assert_allclose(P @ n, eigenvalue * n, atol=1e-12)
        gamma = rng.uniform(0.05, 1.9)
        b, e0 = 1 - gamma, rng.normal()
        # (i) the mean from every state, by the exact recursion
        means, q = np.eye(chain.n_states) * e0, np.eye(chain.n_states)
        for k in range(1, 8):
            q = q @ P
            means = b * means @ P - gamma * q * n
            total = sum(b ** (k - j) * eigenvalue**j for j in range(1, k + 1))
            np.testing.assert_allclose(means.sum(axis=1), b**k * e0 - gamma * n * total, atol=1e-12)
        # (ii) the limit of the second moment from pi: fixed point of the recursion
        identity = np.eye(chain.n_states)
        u = np.linalg.solve((identity - b * P).T, -gamma * pi * n)
        right = -2 * gamma * b * n * (u @ P) + gamma**2 * n**2 * pi
        v = np.linalg.solve((identity - b**2 * P).T, right)
        variance = pi @ n**2
        expected = gamma / (2 - gamma) * (1 + b * eigenvalue) / (1 - b * eigenvalue) * variance
        assert v.sum() == pytest.approx(expected, rel=1e-9)


@pytest.mark.theorem("thm-01-sample-mean")
def test_sgd_as_a_sample_mean(record):
    worst_bias = worst_error = 0.0
    for rng, chain in chains(403, 200):
        centres = rng.normal(size=(chain.n_states, int(rng.integers(1, 6))))
        problem, x_star = tracking(chain, centres)
        n = x_star - centres
        sigma, T = np.linalg.norm(n, axis=1).max(), chain.mixing_sum
        steps = sgd(lambda k: 1 / k)
        x0 = rng.normal(size=centres.shape[1])
        mean, sums = None, None
        for level in tree(problem, chain, steps, x0, int(rng.integers(chain.n_states)), 6, 1):
            k = level.k
            sums = centres[level.xi] + (0 if k == 1 else sums[level.parent])
            np.testing.assert_allclose(level.x, sums / k, atol=1e-12)  # (a)
            mean = level.probability @ level.x
            error = level.mean(((level.x - x_star) ** 2).sum(axis=1))
            bias, allowed = np.linalg.norm(mean - x_star), 2 * sigma * T / k
            assert bias <= allowed + 1e-12  # (b)
            assert error <= sigma**2 * (1 + 4 * T) / k * (1 + 1e-12)  # (c)
            if allowed > 1e-9:
                worst_bias = max(worst_bias, bias / allowed)
            worst_error = max(worst_error, error * k / (sigma**2 * (1 + 4 * T)))
        P, pi = chain.transition, chain.stationary
        r = [np.einsum("i,id,ij,jd->", pi, n, np.linalg.matrix_power(P, t), n) for t in range(7)]
        for level in tree(problem, chain, steps, x0, pi, 6, 1):
            k = level.k
            np.testing.assert_allclose(level.probability @ level.x, x_star, atol=1e-12)  # (d)
            error = level.mean(((level.x - x_star) ** 2).sum(axis=1))
            expected = (r[0] + 2 * sum((1 - t / k) * r[t] for t in range(1, k))) / k
            assert error == pytest.approx(expected, abs=1e-11)
    record("Sample mean: bias / (2 sigma T / k)", worst_bias)
    record("Sample mean: error / (sigma^2 (1 + 4 T) / k)", worst_error)
    for p in (0.05, 0.4, 1.0):  # the sticky chain: k times the error in closed form
        chain = markov.sticky([0.3, 0.7], p)
        for k in (1, 2, 5, 9):
            series = 1 + 2 * sum((1 - t / k) * (1 - p) ** t for t in range(1, k))
            closed = (2 - p) / p - 2 * (1 - p) * (1 - (1 - p) ** k) / (k * p**2)
            assert series == pytest.approx(closed, rel=1e-9)


@pytest.mark.theorem("lem-contraction")
def test_forgetting_never_reverses():
    for rng, chain in chains(404, 200):
        powers = [np.linalg.matrix_power(chain.transition, k) for k in range(9)]
        d = chain.tv_distance(np.arange(9))
        d_bar = np.array([tv(Q[:, None] - Q[None]).max() for Q in powers])
        v = rng.normal(size=chain.n_states)
        v -= v.mean()
        for k in range(9):
            assert tv(v @ powers[k]) <= d_bar[k] * tv(v) + 1e-12
            assert d[k] - 1e-12 <= d_bar[k] <= 2 * d[k] + 1e-12
            for s in range(9 - k):
                assert d_bar[s + k] <= d_bar[s] * d_bar[k] + 1e-12
                assert d[s + k] <= d[s] * d_bar[k] + 1e-12
        assert chain.tv_distance(10**6) < 1e-9  # ergodic: d(k) -> 0


@pytest.mark.theorem("prop-two-state")
def test_two_states():
    rng = np.random.default_rng(405)
    for _ in range(200):
        p, q = rng.uniform(0.01, 0.99, 2)
        chain, rate = markov.two_state(p, q), abs(1 - p - q)
        pi = np.array([q, p]) / (p + q)
        np.testing.assert_allclose(chain.stationary, pi, rtol=1e-12)
        k = np.arange(1, 8)
        np.testing.assert_allclose(chain.tv_distance(k), pi.max() * rate**k, atol=1e-13)
        assert chain.mixing_sum == pytest.approx(pi.max() * rate / (1 - rate), rel=1e-8, abs=1e-13)
        if rate > 1e-3:
            assert chain.mixing_constant == pytest.approx(1 / math.log(1 / rate), rel=1e-8)
    assert markov.two_state(0.25, 0.75).mixing_constant == 0.0


@pytest.mark.theorem("prop-de-bruijn")
@pytest.mark.parametrize("b", [2, 3, 5, 8])
def test_de_bruijn(b):
    chain = markov.de_bruijn(b)
    k = np.arange(0, 2 * b)
    expected = np.where(k <= b, 1 - 2.0 ** (np.minimum(k, b) - b), 0.0)
    np.testing.assert_allclose(chain.tv_distance(k), expected, atol=1e-14)
    np.testing.assert_allclose(chain.stationary, 2.0**-b, rtol=1e-12)
    assert chain.mixing_sum == pytest.approx(b - 2 + 2.0 ** (1 - b), rel=1e-12)
    assert chain.mixing_constant == pytest.approx(1 / math.log(1 / expected[1]), rel=1e-12)
    assert 2 ** (b - 1) - 1 < chain.mixing_constant < 2 ** (b - 1) - 0.5
    for delta in (0.49, 0.1, 1e-6):
        assert chain.mixing_time(delta) == b


def quotients(chain, k):
    """k / log(1/d(k)), 0 where d(k) is 0."""
    d = chain.tv_distance(k)
    values = np.zeros(len(d))
    values[d > 0] = k[d > 0] / np.log(1 / d[d > 0])
    return values


@pytest.mark.theorem("prop-mixing-constant")
def test_the_constant_C():
    k = np.arange(1, 60)
    for rng, chain in chains(406, 200):
        C, d = chain.mixing_constant, chain.tv_distance(k)
        live = d > 1e-11  # below, the distance itself is rounding
        q = np.where(live, quotients(chain, k), 0.0)
        assert q.max() <= C * (1 + 1e-9) + 1e-12  # 1: d(k) <= exp(-k/C)
        if C > 0:
            assert np.all(d[live] <= np.exp(-k[live] / (C * (1 + 1e-9))) * (1 + 1e-9))
        t = chain.mixing_time(0.25)
        first = (t - 1) / math.log(1 / d[0]) if t > 1 else 0.0
        assert max(t / math.log(2), first) * (1 + 1e-9) >= C  # 2
        m = int(rng.integers(1, 12))
        if 2 * d[m - 1] < 1 and d[m - 1] > 1e-11:
            for times in (1, 2, 4):
                tail = q[k >= times * m].max()
                assert tail <= (1 + 1 / times) * m / math.log(1 / (2 * d[m - 1])) * (1 + 1e-9)
        a = int(rng.integers(1, 30))
        b = int(rng.integers(a + 1, 40))
        if d[a - 1] > 1e-11:
            assert q[a - 1 : b - 1].max() <= (b - 1) / math.log(1 / d[a - 1]) * (1 + 1e-9)  # 4


@pytest.mark.theorem("prop-relations")
def test_one_dictionary():
    k = np.arange(1, 12)
    for _, chain in chains(407, 200):
        d, T, C = chain.tv_distance(k), chain.mixing_sum, chain.mixing_constant
        others = np.sort(np.abs(np.linalg.eigvals(chain.transition)))[:-1]
        # A zero eigenvalue of a defective matrix comes out of the solver as about 1e-8.
        rate = float(others[-1]) if others[-1] > 1e-6 else 0.0
        assert np.all(rate**k / 2 <= d + 1e-12)
        assert rate / (2 * (1 - rate)) <= T * (1 + 1e-9)
        if rate > 0:
            assert 1 / math.log(1 / rate) <= C * (1 + 1e-6)
        assert chain.poisson_mixing <= T * (1 + 1e-9) + 1e-12
        t = chain.mixing_time(0.25)
        assert (t - 1) / 4 <= T * (1 + 1e-9)
        assert 1.5 * t - 1 >= T * (1 - 1e-9)
        if C > 0:
            assert T <= 1 / math.expm1(1 / C) * (1 + 1e-9) < C * (1 + 1e-9)
        for delta in (0.4, 0.1, 1e-3):
            bound = max(1, math.ceil(C * math.log(1 / delta) * (1 + 1e-9)))
            assert chain.mixing_time(delta) <= bound
        if chain.is_reversible:
            smallest = chain.stationary.min()
            assert np.all(d <= 0.5 * math.sqrt(1 / smallest - 1) * rate**k + 1e-12)
