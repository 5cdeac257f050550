"""Displacement of Algorithm 1: how far y travels, and which gradients carry it."""

import numpy as np
import pytest

from amgd.descent.algorithms import amgd_nonconvex, sgd
from amgd.descent.problems import Problem
from amgd.descent.steps import StepSizes, ghadimi_lan, matched, nesterov, theorem1
from amgd.descent.steps import sgd as sgd_steps
from amgd.markov import MarkovChain, iid

SCHEDULES = [sgd_steps, theorem1, ghadimi_lan, nesterov]


class Slope(Problem):
    """G(x; xi) = rows[xi], the same at every x."""

    def __init__(self, rows, chain):
        self.rows = np.asarray(rows, dtype=float)
        super().__init__(*self.rows.shape, chain.stationary, None)
        self.L = 0.0

    def _sample_value(self, x, xi):
        return (self.rows[xi] * x).sum(axis=-1)

    def _sample_gradient(self, x, xi):
        return np.broadcast_to(self.rows[xi], x.shape).copy()


def random_rule(rng, n):
    alpha, beta, gamma = rng.uniform(0.05, 0.95, n + 4), rng.random(n + 4), rng.random(n + 4)
    alpha[1] = 1.0
    return StepSizes("any", lambda k: alpha[k], lambda k: beta[k], lambda k: gamma[k])


def weights(steps, n):
    """h_{n,t}, t = 1..n, by the definition of c_k: the response of y_{n+1} to G_t alone."""
    h = np.zeros(n)
    for t in range(1, n + 1):
        c = steps.gamma(t) - steps.beta(t)
        h[t - 1] = steps.beta(t)
        for k in range(t, n + 1):
            h[t - 1] += steps.alpha(k + 1) * c
            c *= 1 - steps.alpha(k + 1)
    return h


def last_y(method, problem, chain, steps, n, rng_seed):
    """y_{n+1} - y_1 and the states xi_1, ..., xi_n of the run."""
    rng = np.random.default_rng(rng_seed)
    run = method(
        problem,
        chain,
        steps,
        n + 1,
        x0=np.zeros(problem.dim),
        rng=rng,
        record=1,
        initial=0,
    )
    again = chain.sample(n + 2, rng=np.random.default_rng(rng_seed), initial=0)[0, 1 : n + 1]
    y = dict(zip(run.k.tolist(), run.y[:, 0], strict=True))
    return y[n + 1] - y[1], again


@pytest.mark.theorem("prop-11-displacement")
@pytest.mark.parametrize("seed", range(20))
def test_weights_give_the_displacement_for_any_steps_and_any_gradients(seed, record):
    rng = np.random.default_rng([11, seed])
    n, m = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    transition = rng.dirichlet(np.ones(m), size=m)
    rows, chain = rng.normal(size=(m, 3)), MarkovChain(transition)
    problem = Slope(rows, chain)
    steps = random_rule(rng, n)
    moved, states = last_y(amgd_nonconvex, problem, chain, steps, n, seed)
    h = weights(steps, n)
    np.testing.assert_allclose(moved, -h @ problem.rows[states], atol=1e-12 * (1 + n))
    t = np.arange(1, n + 1)
    forgotten = np.cumprod(np.r_[1.0, 1 - steps.alpha(np.arange(2, n + 2))])  # Gamma_1, ...
    share = forgotten[n] / forgotten[t - 1]
    np.testing.assert_allclose(h, (1 - share) * steps.gamma(t) + share * steps.beta(t), atol=1e-12)
    norms = np.linalg.norm(problem.rows[states], axis=1)
    ratio = np.linalg.norm(moved) / (np.abs(h) @ norms)
    record("prop-11-displacement, length of the path", ratio)
    assert ratio <= 1 + 1e-12


@pytest.mark.theorem("prop-11-displacement")
@pytest.mark.parametrize("make", [*SCHEDULES, "random"])
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_matched_sgd_moves_as_far_along_a_constant_gradient(make, n):
    rng = np.random.default_rng([12, n])
    steps = random_rule(rng, n) if make == "random" else make(0.3)
    g = rng.normal(size=4)
    chain = iid([0.5, 0.5])
    problem = Slope([g, g], chain)
    accelerated, _ = last_y(amgd_nonconvex, problem, chain, steps, n, 1)
    plain, _ = last_y(sgd, problem, chain, matched(steps), n, 1)
    eta = matched(steps).beta(np.arange(1, n + 1))
    np.testing.assert_allclose(accelerated, -eta.sum() * g, rtol=1e-11)
    np.testing.assert_allclose(plain, accelerated, rtol=1e-11)
    np.testing.assert_allclose(weights(steps, n).sum(), eta.sum(), rtol=1e-11)


@pytest.mark.theorem("prop-11-displacement")
@pytest.mark.parametrize("beta", [0.1, 3.0])
def test_closed_forms(beta):
    k = np.arange(1, 201)
    harmonic = np.cumsum(1 / (k + 2))
    forms = {
        sgd_steps: (beta + 0 * k, k * beta),
        theorem1: ((1 + 2 / (k + 2)) * beta, (k + 2 * harmonic) * beta),
        ghadimi_lan: ((3 * k + 5) * beta / 12, k * (3 * k + 13) * beta / 24),
        nesterov: ((k + 3) * beta / 4, k * (k + 7) * beta / 8),
    }
    for make, (eta, total) in forms.items():
        np.testing.assert_allclose(matched(make(beta)).beta(k), eta, rtol=1e-12)
        np.testing.assert_allclose(np.cumsum(eta), total, rtol=1e-12)
        n = 60
        t = np.arange(1, n + 1)
        steps = make(beta)
        b, c = np.broadcast_to(steps.beta(t), n), np.broadcast_to(steps.gamma(t), n)
        h = b + (c - b) * (1 - t * (t + 1) / ((n + 1) * (n + 2)))
        np.testing.assert_allclose(weights(steps, n), h, rtol=1e-11)
