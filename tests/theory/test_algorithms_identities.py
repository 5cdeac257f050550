"""The statements of the chapter on the two algorithms, on random paths with random step sizes."""

import numpy as np
import pytest
from enumeration import random_chain, step1, step2, tree
from scipy.optimize import minimize

from amgd.descent.problems import Ball, Quadratic
from amgd.descent.steps import StepSizes, theorem1
from amgd.markov import sticky


def random_steps(rng, mu=None):
    """Tables of alpha, beta, gamma (index k) and the rule; Algorithm 2 when mu is given."""
    alpha, beta, gamma = rng.uniform(0.05, 0.95, 64), rng.random(64), rng.uniform(0.05, 1, 64)
    alpha[1] = 1.0
    if mu is not None:
        beta = alpha / (alpha + (1 - alpha) * (1 + mu * gamma))
    rule = StepSizes(
        "any",
        lambda k: alpha[k],
        lambda k: beta[k],
        lambda k: gamma[k],
        mu or 0.0,
        "nonconvex" if mu is None else "convex",
    )
    return alpha, beta, gamma, rule


def random_quadratic(rng, chain, domain=None):
    d = int(rng.integers(1, 6))
    noise = rng.normal(size=(chain.n_states, d))
    noise -= chain.stationary @ noise
    root = rng.normal(size=(d, d)) / np.sqrt(d)
    return Quadratic(root @ root.T, noise, stationary=chain.stationary, domain=domain)


def path1(rng, steps, n=25, problem=None):
    """y_k, G_k, x_k, x_bar_k (k from 0; y_0 and G_0 are unused) of Algorithm 1 on a random path."""
    _, chain = random_chain(rng)
    problem = problem or random_quadratic(rng, chain)
    xi = chain.sample(n + 1, rng=rng)[0]
    x, x_bar = [rng.normal(size=problem.dim)], [rng.normal(size=problem.dim)]
    y, G = [np.zeros(problem.dim)], [np.zeros(problem.dim)]
    for k in range(1, n + 1):
        new = step1(problem, steps, k, x[-1], x_bar[-1], xi[k])
        for sequence, value in zip((y, x, x_bar), new, strict=True):
            sequence.append(value)
        G.append(problem.sample_gradient(y[k], xi[k]))
    return np.array(y), np.array(G), np.array(x), np.array(x_bar)


def close(left, right):
    np.testing.assert_allclose(left, right, atol=1e-11 * (1 + np.abs(right).max()))


@pytest.mark.theorem("prop-matrix")
def test_one_step_is_a_matrix():
    rng = np.random.default_rng(501)
    for _ in range(200):
        a, b, g = rng.uniform(0.01, 0.99), rng.uniform(0.01, 1), rng.uniform(0.01, 30)
        lam = rng.uniform(0.05, 0.99) / b
        A = np.array(
            [[1 - a * g * lam, -(1 - a) * g * lam], [a * (1 - b * lam), (1 - a) * (1 - b * lam)]]
        )
        rule = StepSizes("c", lambda k, a=a: a, lambda k, b=b: b, lambda k, g=g: g)
        u = rng.normal(size=2)
        _, x, x_bar = step1(Quadratic([lam]), rule, 1, u[:1], u[1:], np.array(0))
        close(np.concatenate([x, x_bar]), A @ u)
        D = (1 - b * lam) * (1 - a)
        assert np.linalg.det(A) == pytest.approx(D, abs=1e-12)
        assert np.trace(A) == pytest.approx(1 + D - a * g * lam, rel=1e-12)
        same = A.copy()
        same[0] = [1 - a * b * lam, -(1 - a) * b * lam]
        expected = np.sort([1 - b * lam, 1 - a])
        np.testing.assert_allclose(np.sort(np.linalg.eigvals(same).real), expected, atol=1e-7)
        radius = np.abs(np.linalg.eigvals(A)).max()
        low, high = (1 - np.sqrt(D)) ** 2, (1 + np.sqrt(D)) ** 2
        inside = low <= a * g * lam <= high
        assert radius >= np.sqrt(D) * (1 - 1e-7)
        if abs(a * g * lam - low) > 1e-3 and abs(a * g * lam - high) > 1e-3:
            assert (radius <= np.sqrt(D) * (1 + 1e-9)) == inside


@pytest.mark.theorem("lem-prox")
def test_the_long_step_in_closed_form():
    rng = np.random.default_rng(502)
    for _ in range(25):
        _, chain = random_chain(rng)
        problem, mu = random_quadratic(rng, chain, Ball(0.7)), rng.uniform(0.1, 2)
        _, beta, gamma, rule = random_steps(rng, mu)
        x0 = problem.project(rng.normal(size=problem.dim))
        x_bar = problem.project(rng.normal(size=problem.dim))
        y, _, x, _ = step2(problem, rule, 5, x0, x_bar, np.array(0))
        close(y, (1 - beta[5]) * x_bar + beta[5] * x0)
        G = problem.sample_gradient(y, np.array(0))

        def objective(z, x0=x0, y=y, G=G, g=gamma[5], mu=mu):
            return g * (G @ (z - y) + mu * np.sum((z - y) ** 2) / 2) + np.sum((z - x0) ** 2) / 2

        ball = {"type": "ineq", "fun": lambda z: 0.49 - z @ z}
        best = minimize(objective, x0, method="SLSQP", constraints=[ball], options={"ftol": 1e-15})
        assert objective(x) <= best.fun + 1e-10
        np.testing.assert_allclose(x, best.x, atol=1e-5)


@pytest.mark.theorem("prop-convex-nesterov")
def test_the_convex_algorithm_is_nesterovs():
    rng = np.random.default_rng(503)
    for _ in range(50):
        _, chain = random_chain(rng)
        for domain in (Ball(0.7), None):
            problem = random_quadratic(rng, chain, domain)
            alpha, _, gamma, rule = random_steps(rng, 0.0)
            short = StepSizes(
                "1",
                rule.alpha,
                lambda k, a=alpha, g=gamma: a[k] * g[k],
                rule.gamma,
            )
            xi = chain.sample(21, rng=rng)[0]
            x = problem.project(rng.normal(size=problem.dim))
            x_bar = problem.project(rng.normal(size=problem.dim))
            other = (None, x, x_bar)
            for k in range(1, 21):
                before = x
                y, _, x, x_bar = step2(problem, rule, k, x, x_bar, xi[k])
                close(x_bar - y, alpha[k] * (x - before))
                if domain is None:
                    other = step1(problem, short, k, other[1], other[2], xi[k])
                    for ours, theirs in zip((y, x, x_bar), other, strict=True):
                        close(ours, theirs)


@pytest.mark.theorem("lem-gap")
@pytest.mark.theorem("prop-one-buffer")
@pytest.mark.theorem("prop-nesterov")
def test_gap_buffer_and_nesterovs_form():
    rng = np.random.default_rng(504)
    for number in range(60):
        alpha, beta, gamma, rule = random_steps(rng)
        if number % 2:
            alpha[1:] = 2 / (np.arange(1, 64) + 1)
        y, G, x, x_bar = path1(rng, rule)
        n = len(y) - 1
        e = x_bar - x
        Gamma = np.ones(n + 1)
        Gamma[2:] = np.cumprod(1 - alpha[2 : n + 1])
        buffer, point = np.zeros_like(x[0]), x[0]
        close(y[1], x[0])
        for k in range(1, n + 1):
            close(e[k], (1 - alpha[k]) * e[k - 1] + (gamma[k] - beta[k]) * G[k])
            terms = [Gamma[k] / Gamma[t] * (gamma[t] - beta[t]) * G[t] for t in range(1, k + 1)]
            close(e[k], np.sum(terms, axis=0))
            buffer = (1 - alpha[k]) * buffer + (gamma[k] - beta[k]) * G[k]
            point = point - beta[k] * G[k] - alpha[k + 1] * buffer
            close(x_bar[k], point + alpha[k + 1] * buffer)
            close(x[k], point - (1 - alpha[k + 1]) * buffer)
            momentum = alpha[k + 1] * (1 - alpha[k]) / alpha[k]
            correction = alpha[k + 1] * (beta[k] / alpha[k] - gamma[k])
            close(point, x_bar[k] + momentum * (x_bar[k] - x_bar[k - 1]) + correction * G[k])
            if number % 2:
                assert momentum == pytest.approx((k - 1) / (k + 2), abs=1e-14)
                assert Gamma[k] == pytest.approx(2 / (k * (k + 1)), rel=1e-12)
            if k < n:
                close(y[k + 1], point)


@pytest.mark.theorem("prop-is-sgd")
def test_equal_steps_are_sgd():
    rng = np.random.default_rng(505)
    for _ in range(50):
        alpha, beta, gamma, _ = random_steps(rng)
        rule = StepSizes(
            "sgd", lambda k, a=alpha: a[k], lambda k, b=beta: b[k], lambda k, b=beta: b[k]
        )
        y, G, x, x_bar = path1(rng, rule)
        close(x_bar[1:], x[1:])
        close(y[1:], x[:-1])
        close(x[1:], x[:-1] - beta[1 : len(x), None] * G[1:])
        unequal = StepSizes(
            "any", lambda k, a=alpha: a[k], lambda k, b=beta: b[k], lambda k, g=gamma: g[k]
        )
        _, _, x, x_bar = path1(rng, unequal)  # conversely: other steps, other points
        assert np.abs(x_bar[1:] - x[1:]).max() > 1e-6


@pytest.mark.theorem("prop-two-moments")
def test_exact_error_with_sticky_noise():
    rng = np.random.default_rng(506)
    for _ in range(30):
        p, lam = rng.uniform(0.05, 1), rng.uniform(0.1, 2)
        chain = sticky(rng.dirichlet(np.ones(2)) * 0.9 + 0.05, p)
        noise = rng.normal(size=2)
        noise -= chain.stationary @ noise
        problem = Quadratic([lam], noise[:, None], stationary=chain.stationary)
        alpha, beta, gamma, rule = random_steps(rng)
        v, rho = chain.stationary @ noise**2, 1 - p
        x0 = rng.normal()
        m, c, S = np.full(2, x0), np.zeros(2), np.zeros((2, 2))
        for level in tree(problem, chain, rule, [x0], chain.stationary, 7, algorithm=1):
            a, b, g = alpha[level.k], beta[level.k], gamma[level.k]
            A = np.array(
                [
                    [1 - a * g * lam, -(1 - a) * g * lam],
                    [a * (1 - b * lam), (1 - a) * (1 - b * lam)],
                ]
            )
            push = -np.array([g, b])  # z_k = A z_{k-1} + push n_k
            cross = np.outer(A @ c, push)
            S = A @ S @ A.T + rho * (cross + cross.T) + v * np.outer(push, push)
            m, c = A @ m, rho * A @ c + v * push
            z = np.stack([level.x[:, 0], level.x_bar[:, 0]], axis=1)
            n = noise[level.xi]
            close(level.probability @ z, m)
            close(level.probability @ ((z - m) * n[:, None]), c)
            close(np.einsum("p,pi,pj->ij", level.probability, z - m, z - m), S)


@pytest.mark.theorem("prop-mild")
def test_the_steps_of_theorem_1_stay_close_to_sgd():
    rng = np.random.default_rng(507)
    for _ in range(60):
        beta, table = 10 ** rng.uniform(-2, 0), rng.random(64)
        rule = theorem1(beta, lambda k, b=beta, t=table: b * (1 + t[k] * 2 / (k + 1)))
        y, G, x, x_bar = path1(rng, rule)
        n = len(y) - 1
        k = np.arange(1, n + 1)
        M = np.linalg.norm(G[1:], axis=1).max()
        e = x_bar - x
        for j in k:
            theta = (rule.gamma(k[:j]) - beta) / (2 / (k[:j] + 1) * beta)
            assert np.all((theta >= 0) & (theta <= 1 + 1e-12))
            close(e[j], beta * (theta * 2 * k[:j] / (j * (j + 1))) @ G[1 : j + 1])
            assert np.linalg.norm(e[j]) <= beta * M * (1 + 1e-12)
        shifts = y[2:] - y[1:-1] + beta * G[1:-1]
        close(shifts, -2 / (k[:-1, None] + 2) * e[1:-1])
        lengths = np.linalg.norm(shifts, axis=1)
        assert np.all(lengths <= 2 * beta * M / (k[:-1] + 2) * (1 + 1e-9))
        limit = 2 * beta * M * np.log((k[:-1] + 2) / 2)
        assert np.all(np.cumsum(lengths) <= limit * (1 + 1e-9))
