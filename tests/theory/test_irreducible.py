"""Theorems for every irreducible chain, periodic too: T_* and T_P in place of T, exact means."""

import numpy as np
import pytest
from enumeration import depth, random_chain, squared, tree
from scipy.optimize import linprog
from test_convex import constants, gaps, largest, random_instance, strong_constants
from test_nonconvex import random_problem, random_start, random_steps

from amgd.descent import bounds
from amgd.descent.algorithms import sgd as run_sgd
from amgd.descent.steps import sgd, theorem2, theorem2_printed, theorem3, theorem3_printed
from amgd.markov import MarkovChain, de_bruijn, iid, two_state

ROUNDING = 1e-12


def cycle(n):
    return MarkovChain(np.roll(np.eye(n), 1, axis=1))


def periodic_chain(rng):
    """A cycle, or a random chain that alternates between two groups of states."""
    if rng.random() < 0.4:
        return cycle(int(rng.integers(2, 8)))
    a, b = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    P = np.zeros((a + b, a + b))
    P[:a, a:] = rng.dirichlet(np.full(b, 0.8), size=a) * 0.97 + 0.03 / b
    P[a:, :a] = rng.dirichlet(np.full(a, 0.8), size=b) * 0.97 + 0.03 / a
    return MarkovChain(P / P.sum(axis=1, keepdims=True))


CHAINS = {"periodic": periodic_chain, "aperiodic": lambda rng: random_chain(rng)[1]}


@pytest.mark.theorem("prop-poisson-constant")
@pytest.mark.parametrize("kind", CHAINS)
def test_constants_of_poissons_equation_are_the_least(kind, record):
    rng = np.random.default_rng([901, len(kind)])
    worst = {"T_*": 0.0, "T_P": 0.0}
    for _ in range(40):
        chain = CHAINS[kind](rng)
        P, pi, n = chain.transition, chain.stationary, chain.n_states
        R = np.linalg.inv(np.eye(n) - P + pi) - np.eye(n)
        star, centred = chain.poisson_mixing, chain.poisson_mixing_centred
        lazy = MarkovChain((np.eye(n) + P) / 2)
        assert centred <= star + 1e-12
        assert star <= (1 - pi.min() + lazy.mixing_sum) / 2 + 1e-10
        if kind == "aperiodic":
            assert star <= chain.mixing_sum * (1 + 1e-9) + 1e-12
        # the largest r.h over |h| <= 1 with pi.h = 0, by a linear programme
        tops = [-linprog(-r, A_eq=[pi], b_eq=[0], bounds=(-1, 1)).fun for r in R]
        assert 2 * centred == pytest.approx(max(tops), rel=1e-7, abs=1e-9)
        G = rng.normal(size=(n, 3))
        H = G - pi @ G
        Q = R @ H
        np.testing.assert_allclose(P @ H, Q - P @ Q, atol=1e-8)
        row = np.abs(R).sum(axis=1).argmax()
        assert abs(R[row] @ np.sign(R[row])) == pytest.approx(2 * star, abs=1e-9)
        size, noise = (np.linalg.norm(v, axis=1).max() for v in (Q, H))
        if centred > 1e-9:
            worst["T_P"] = max(worst["T_P"], size / (2 * noise * centred))
            worst["T_*"] = max(worst["T_*"], size / (2 * np.linalg.norm(G, axis=1).max() * star))
    for name, ratio in worst.items():
        assert ratio <= 1 + 1e-9
        record(f"Poisson solution / (2 bound {name}), {kind}", ratio)


@pytest.mark.theorem("prop-poisson-constant")
def test_constants_in_closed_form():
    for n in range(2, 30):
        assert cycle(n).poisson_mixing == pytest.approx(n**2 // 4 / (2 * n), rel=1e-12)
        assert cycle(n).poisson_mixing_centred == pytest.approx(n**2 // 4 / (2 * n), rel=1e-12)
    for p, q in ((0.1, 0.3), (0.9, 0.7), (1.0, 1.0), (1e-9, 1e-3)):
        slope = abs(1 - p - q) / (2 * (p + q))
        assert two_state(p, q).poisson_mixing_centred == pytest.approx(slope, rel=1e-10)
    assert iid([0.2, 0.3, 0.5]).poisson_mixing_centred == pytest.approx(0, abs=1e-15)
    assert de_bruijn(4).poisson_mixing_centred <= de_bruijn(4).poisson_mixing


@pytest.mark.theorem("thm-1-irreducible")
@pytest.mark.parametrize("rule", ["sgd", "largest", "wandering"])
def test_theorem_1_on_periodic_chains(rule, record):
    rng = np.random.default_rng([902, len(rule)])
    kind = "sgd" if rule == "sgd" else "theorem1"
    worst = 0.0
    for _ in range(60):
        chain = periodic_chain(rng)
        problem = random_problem(rng, chain)
        L, M = problem.L_sample, problem.M
        beta = 10 ** rng.uniform(-2, 1) / L
        steps, x0 = random_steps(rng, rule, beta), random_start(rng, problem)
        n, xi0 = depth(chain, 500), int(rng.integers(chain.n_states))
        levels = tree(problem, chain, steps, x0, xi0, n, algorithm=1)
        a = np.array([level.mean(squared(problem.gradient(level.y))) for level in levels])
        K = np.arange(1, n + 1)
        gap = max(0.0, float(problem.value(x0)) - problem.minimum)
        gamma = steps.gamma(K)
        measured = np.cumsum(gamma * a) / np.cumsum(gamma)
        bound = bounds.theorem1(
            K, L=L, M=M, initial_gap=gap, T=chain.poisson_mixing, beta=beta, schedule=kind,
            nonincreasing=rule != "wandering",
        )  # fmt: skip
        assert np.all(measured <= bound * (1 + ROUNDING))
        worst = max(worst, np.max(measured / bound))
    record(f"Theorem 1'', every irreducible chain, {rule}", worst)


def convex_claims(rng, problem, chain, x0, k):
    """Steps, weight of the squared distance, and bound of what is claimed without mu."""
    known = {"L": problem.L, "T": chain.poisson_mixing_centred} | constants(problem)
    r0 = float(np.linalg.norm(x0 - problem.minimiser))
    c = 10 ** rng.uniform(-2, 2) * (problem.sigma + 0.1) / problem.diameter
    yield "Theorem 2'", theorem2(problem.L, c), 0.0, bounds.theorem2(k, r0=r0, c=c, **known)
    if problem.L > 0:
        yield "Proposition A", theorem2_printed(problem.L), 0.0, bounds.proposition_a(k, **known)


def strong_claims(rng, problem, chain, x0, k):
    known = strong_constants(problem, x0) | {"T": chain.poisson_mixing_centred}
    mu = problem.mu
    yield "Theorem 3'", theorem3(mu, problem.L), mu / 2, bounds.theorem3(k, **known)
    yield "Proposition C", theorem3_printed(mu), 0.0, bounds.proposition_c(k, **known)


@pytest.mark.theorem("prop-convex-irreducible")
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize(
    ("claims", "strong", "seed"), [(convex_claims, False, 903), (strong_claims, True, 904)]
)
def test_bounds_with_the_sharper_constant(claims, strong, seed, kind, record):
    rng = np.random.default_rng([seed, len(kind)])
    worst = {}
    for _ in range(60):
        chain, problem, x0, xi0 = random_instance(rng, strong, CHAINS[kind])
        n = depth(chain)
        for name, steps, weight, bound in claims(rng, problem, chain, x0, np.arange(1, n + 1)):
            gap, distance, floor = gaps(problem, chain, steps, x0, xi0, n)
            measured = gap + weight * distance
            assert np.all(measured <= bound * (1 + ROUNDING) + floor), (name, kind)
            worst[name] = max(worst.get(name, 0.0), largest(measured, bound, floor))
    for name, ratio in worst.items():
        record(f"{name} with T_P, {kind}", ratio)


@pytest.mark.theorem("prop-cyclic")
def test_sgd_in_passes(record):
    rng = np.random.default_rng(905)
    worst = 0.0
    for _ in range(100):
        n, passes = int(rng.integers(2, 9)), int(rng.integers(1, 30))
        chain = cycle(n)
        problem = random_problem(rng, chain)
        L, M, x0 = problem.L_sample, problem.M, random_start(rng, problem)
        beta = rng.uniform(0.01, 1) / (n * L)
        run = run_sgd(
            problem, chain, sgd(beta), n * passes, x0=x0, initial=n - 1, rng=rng,
            record=np.arange(n, n * passes + 1, n),
        )  # fmt: skip
        starts = np.concatenate([np.asarray(x0, float).reshape(1, -1), run.x[:-1, 0]])
        measured = squared(problem.gradient(starts)).mean()
        gap = float(problem.value(x0)) - problem.minimum
        bound = 2 * gap / (beta * n * passes) + (L * M * beta * (n - 1)) ** 2 / 4
        assert measured <= bound * (1 + ROUNDING)
        worst = max(worst, measured / bound)
    record("SGD in passes", worst)
