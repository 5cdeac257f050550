"""Chapter 7: the limit of k times the error, and what no method can beat, exactly."""

from itertools import product

import numpy as np
import pytest

from amgd.descent import steps
from amgd.markov import iid, lazy_cycle, sticky, two_state


def long_run_variance(chain, noise):
    """r(0) + 2 sum r(t), by the fundamental matrix."""
    pi, P = chain.stationary, chain.transition
    later = np.linalg.solve(np.eye(len(pi)) - P + pi, P @ noise)  # sum over t >= 1 of P^t noise
    return pi @ noise**2 + 2 * pi @ (noise * later)


def gap_times_k(matrices, vectors, chain, noise, curvature, last):
    """k E f(x_bar_k) for z_k = A_k z_{k-1} + b_k n(xi_k), z = (x_bar, x), from z_0 = 0 and pi."""
    P, pi = chain.transition, chain.stationary
    first = np.zeros((len(pi), 2))  # E[z 1{xi = j}]
    second = np.zeros((len(pi), 2, 2))  # E[z z' 1{xi = j}]
    for k in range(1, last + 1):
        A, b = matrices(k), vectors(k)
        first, second = P.T @ first, np.tensordot(P.T, second, 1)
        moved = first @ A.T
        cross = noise[:, None, None] * moved[:, :, None] * b
        square = (noise**2 * pi)[:, None, None] * np.outer(b, b)
        second = A @ second @ A.T + cross + cross.transpose(0, 2, 1) + square
        first = moved + (noise * pi)[:, None] * b
    return last * 0.5 * curvature * second.sum(axis=0)[0, 0]


def accelerated(a, mu, L):
    rule = steps.theorem3(mu, L)

    def parts(k):
        alpha, beta, gamma = rule.alpha(k), rule.beta(k), rule.gamma(k)
        eta = gamma / (1 + mu * gamma)
        y = np.array([1 - beta, beta])
        x = (1 - mu * eta) * np.array([0.0, 1.0]) + (mu - a) * eta * y
        return np.array([(1 - alpha) * np.array([1.0, 0.0]) + alpha * x, x]), eta, alpha

    return (
        lambda k: parts(k)[0],
        lambda k: -parts(k)[1] * np.array([parts(k)[2], 1.0]),
    )


def averaged(a, mu, L):
    def parts(k):
        beta, weight = 2 / (mu * (k + 1) + 2 * L), 2 / (k + 1)
        x = (1 - a * beta) * np.array([0.0, 1.0])
        return np.array([(1 - weight) * np.array([1.0, 0.0]) + weight * x, x]), beta, weight

    return (
        lambda k: parts(k)[0],
        lambda k: -parts(k)[1] * np.array([parts(k)[2], 1.0]),
    )


PHI = {
    accelerated: lambda r: 16 * r / (48 * r - 21),
    averaged: lambda r: 16 * r / (3 * (2 * r + 1) * (4 * r - 1)),
}
CHAINS = [iid([0.3, 0.7]), sticky([0.3, 0.7], 0.2), two_state(0.9, 0.8), lazy_cycle(4)]


@pytest.mark.theorem("prop-07-limit")
@pytest.mark.parametrize("chain", CHAINS, ids=["iid", "sticky", "antithetic", "cycle"])
@pytest.mark.parametrize("r", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("method", [accelerated, averaged])
def test_k_times_the_error_has_the_limit(method, r, chain):
    noise = np.arange(chain.n_states) ** 2 - 1.0
    noise -= chain.stationary @ noise
    mu, a, L = 0.5, 0.5 * r, 5.0
    limit = long_run_variance(chain, noise) * PHI[method](r) / mu
    near, far = (gap_times_k(*method(a, mu, L), chain, noise, a, k) for k in (600, 2400))
    assert far == pytest.approx(limit, rel=0.03)
    assert abs(far - limit) < 0.5 * abs(near - limit)  # the distance falls like 1/k


@pytest.mark.theorem("prop-07-lower")
@pytest.mark.parametrize("seed", range(200))
def test_no_method_is_below_the_lower_bound(seed, record):
    """The best method for the mean over both signs, from the exact law of all paths."""
    rng = np.random.default_rng(seed)
    K, p = int(rng.integers(0, 11)), float(rng.uniform(0.01, 1))
    mu, sigma, B = rng.exponential(size=3)
    paths = np.array(list(product([0, 1], repeat=K + 1)))

    def law(delta, theta):
        pi = np.array([1 - theta * delta, 1 + theta * delta]) / 2
        P = (1 - p) * np.eye(2) + p * pi
        return pi[paths[:, 0]] * P[paths[:, :-1], paths[:, 1:]].prod(axis=1)

    m = 1 + K * p
    delta = 2 / (3 * np.sqrt(m))
    plus, minus = law(delta, 1), law(delta, -1)
    strongly = mu * (sigma * delta / mu) ** 2 * (plus * minus / (plus + minus)).sum()
    bound = 2 * sigma**2 / (27 * mu * m)
    record("Prop. 07-lower (a): bound / best method", bound / strongly)
    assert strongly >= bound * (1 - 1e-12)

    delta = 1 / (2 * np.sqrt(m))
    convex = 0.5 * sigma * delta * B * np.minimum(law(delta, 1), law(delta, -1)).sum()
    bound = sigma * B / (8 * np.sqrt(m))
    record("Prop. 07-lower (b): bound / best method", bound / convex)
    assert convex >= bound * (1 - 1e-12)
