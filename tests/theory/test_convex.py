"""Lemmas 2', 3', 4', P, Theorems 2', 3' and Propositions A, C: exact means over all paths."""

import numpy as np
import pytest
from enumeration import depth, random_chain, squared, step2, tree

from amgd.descent import bounds, problems
from amgd.descent.algorithms import amgd_convex
from amgd.descent.steps import (
    StepSizes,
    theorem2,
    theorem2_printed,
    theorem3,
    theorem3_printed,
)

ROUNDING = 1e-12  # relative error allowed to the two sides of an inequality


def random_ball_point(rng, d, radius):
    point = rng.normal(size=d)
    reach = radius if rng.random() < 0.4 else radius * rng.random()
    return reach * point / np.linalg.norm(point)


def random_quadratic(rng, chain, d, strong):
    """Additive or multiplicative noise, or none; the minimiser anywhere in the ball."""
    n, pi, radius = chain.n_states, chain.stationary, 10 ** rng.uniform(-1, 1)
    L = 10 ** rng.uniform(-1, 1)
    low = L * 10 ** rng.uniform(-2, 0) if strong else 0.0
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    spectrum = np.concatenate([[L, low], rng.uniform(low, L, max(d - 2, 0))])[:d]
    if strong and d == 1:
        spectrum = np.array([L])
    A = (basis * spectrum) @ basis.T
    A = (A + A.T) / 2
    noise = None
    if rng.random() < 0.8:
        noise = 10 ** rng.uniform(-2, 1) * L * radius * rng.normal(size=(n, d))
        noise -= pi @ noise
    matrix = A
    if rng.random() < 0.4:
        wobble = L * rng.uniform(0.1, 1) * rng.normal(size=(n, d, d))
        wobble = wobble + wobble.swapaxes(1, 2)
        matrix = A + wobble - np.tensordot(pi, wobble, axes=1)
    return problems.Quadratic(
        matrix,
        noise if noise is not None or matrix is not A else np.zeros((n, d)),
        stationary=pi,
        minimiser=random_ball_point(rng, d, radius * (1 - 1e-9)),
        domain=problems.Ball(radius),
    )


def random_problem(rng, chain, strong):
    n, pi, d = chain.n_states, chain.stationary, int(rng.integers(1, 6))
    kind = rng.random()
    if kind < 0.5:
        return random_quadratic(rng, chain, d, strong)
    features = rng.normal(size=(n, d))
    labels = rng.choice([-1.0, 1.0], n)
    radius = 10 ** rng.uniform(-0.5, 0.7)
    if strong or kind < 0.65:
        ridge = 10 ** rng.uniform(-2, 0) if strong else 0.0
        return problems.Logistic(features, labels, radius=radius, ridge=ridge, stationary=pi)
    if kind < 0.85:
        slopes = np.where(rng.random((n, 1)) < 0.5, 1.0, -1.0) * features[0] * radius
        slopes = slopes + rng.choice([0.0, 0.05]) * features
        return problems.Linear(slopes, stationary=pi, domain=problems.Ball(radius))
    centres = features * rng.uniform(0.1, 0.4) * radius / np.linalg.norm(features, axis=1).max()
    far = np.linalg.norm(centres - pi @ centres, axis=1).max()
    clip = rng.uniform(1.01, 3) * far
    return problems.Huber(centres, 1.0, clip, stationary=pi, domain=problems.Ball(radius))


def constants(problem):
    """The constants that the bounds of Algorithm 2 take from a problem."""
    names = {"B": "diameter", "sigma": "sigma", "M": "M", "ell": "ell"}
    return {key: float(getattr(problem, name)) for key, name in names.items()}


def strong_constants(problem, x0):
    r0 = float(np.linalg.norm(x0 - problem.minimiser))
    return {"mu": problem.mu, "L": problem.L, "r0": r0} | constants(problem)


def random_instance(rng, strong=False, make_chain=lambda rng: random_chain(rng)[1]):
    chain = make_chain(rng)
    problem = random_problem(rng, chain, strong)
    radius = problem.diameter / 2
    x0 = random_ball_point(rng, problem.dim, radius)
    return chain, problem, x0, int(rng.integers(chain.n_states))


def gaps(problem, chain, steps, x0, xi0, n):
    """E f(x_bar_k) - f*, E ||x_k - x*||^2 and the rounding error of the first, k = 1, ..., n."""
    gap, distance = np.empty(n), np.empty(n)
    size = abs(problem.minimum) + problem.M * problem.diameter
    for level in tree(problem, chain, steps, x0, xi0, n, algorithm=2):
        gap[level.k - 1] = level.mean(problem.value(level.x_bar)) - problem.minimum
        distance[level.k - 1] = level.mean(squared(level.x - problem.minimiser))
    return gap, distance, 1e-12 * size


def largest(measured, bound, floor):
    """max measured / bound where the bound is above rounding."""
    usable = bound > 1e3 * floor
    return float(np.max(measured[usable] / bound[usable])) if usable.any() else 0.0


@pytest.mark.theorem("lem-2")
@pytest.mark.parametrize("strong", [False, True])
def test_lemma_2_pathwise(strong, record):
    """Arbitrary alpha and gamma with (C1): the inequality holds on every path, for every z."""
    rng = np.random.default_rng([201, strong])
    worst = 0.0
    for _ in range(200):
        chain, problem, x0, xi0 = random_instance(rng, strong)
        mu, L, n = problem.mu if strong else 0.0, problem.L, 20
        alphas = rng.random(n + 1) if rng.random() < 0.5 else 2 / (np.arange(n + 1) + 1.0)
        scale = L if L > 0 else 1.0
        gammas = 10 ** rng.uniform(-2, 2, n + 1) / scale
        alphas[0] = alphas[1] = 1.0
        # (C1) 1 + mu gamma > L alpha gamma, with a margin now large, now small
        room = L * alphas - mu
        cap = np.where(room > 0, rng.uniform(0.1, 0.99, n + 1) / np.maximum(room, 1e-300), np.inf)
        gammas = np.minimum(gammas, cap)
        betas = alphas / (alphas + (1 - alphas) * (1 + mu * gammas))
        steps = StepSizes(
            "any", lambda k, a=alphas: a[k], lambda k, b=betas: b[k], lambda k, g=gammas: g[k],
            mu, "convex",
        )  # fmt: skip
        points = [random_ball_point(rng, problem.dim, problem.diameter / 2) for _ in range(3)]
        points.append(problem.minimiser)
        excess = bounds.lemma2_excess(np.arange(1, n + 1), steps=steps)
        xi = chain.sample(n + 1, rng=rng, initial=xi0)[0, 1:]
        x, x_bar, Gamma = x0, random_ball_point(rng, problem.dim, problem.diameter / 2), 1.0
        sums = np.zeros(len(points))
        for k in range(1, n + 1):
            alpha, gamma = alphas[k], gammas[k]
            Gamma = 1.0 if k == 1 else (1 - alpha) * Gamma
            before = x
            y, x_tilde, x, x_bar = step2(problem, steps, k, x, x_bar, xi[k - 1])
            np.testing.assert_allclose(
                x_bar - y, alpha * (x - x_tilde), atol=1e-13 * problem.diameter
            )
            noise = problem.sample_gradient(y, xi[k - 1]) - problem.gradient(y)
            room = 1 + mu * gamma - L * alpha * gamma
            for i, z in enumerate(points):
                sums[i] += excess[k - 1] * squared(before - z) / 2
                sums[i] += alpha * gamma * squared(noise) / (2 * Gamma * room)
                sums[i] += alpha / Gamma * (noise @ (z - x_tilde))
                eta = gamma / (1 + mu * gamma)
                left = problem.value(x_bar) - problem.value(z) + alpha / eta * squared(x - z) / 2
                right = Gamma * sums[i]
                size = (1 + alpha / eta * problem.diameter / problem.M) * problem.M
                size *= problem.diameter
                assert left <= right + 1e-11 * size, (k, i)
                if left > 1e-6 * size:
                    worst = max(worst, left / right)
    record(f"Lemma 2' pathwise, {'mu > 0' if strong else 'mu = 0'}", worst)


def steps_for(rng, rule, problem):
    """A step rule of Part II that fits the problem."""
    L = problem.L if problem.L > 0 else 10 ** rng.uniform(-1, 1)
    if rule == "theorem2":
        return theorem2(L, 10 ** rng.uniform(-2, 1.5) * problem.M / problem.diameter)
    if rule == "theorem2_printed":
        return theorem2_printed(L)
    if rule == "theorem3":
        return theorem3(problem.mu, problem.L)
    return theorem3_printed(problem.mu, "k+1" if rule.endswith("+") else "k")


@pytest.mark.theorem("lem-lag")
@pytest.mark.theorem("lem-poisson")
@pytest.mark.parametrize("rule", ["theorem2", "theorem2_printed", "theorem3", "theorem3_printed"])
def test_mixing_lemmas(rule, record):
    rng = np.random.default_rng([202, len(rule)])
    worst_lag = worst_sum = worst_star = 0.0
    for _ in range(60):
        chain, problem, x0, xi0 = random_instance(rng, rule.startswith("theorem3"))
        steps, n = steps_for(rng, rule, problem), depth(chain, 500)
        known = constants(problem)
        points = [random_ball_point(rng, problem.dim, problem.diameter / 2), problem.minimiser]
        lag = np.array([[k, s] for k in range(1, n + 1) for s in range(1, k + 1)])
        lag_bound = bounds.lemma_lag(*lag.T, steps=steps, chain=chain, **known)
        k_all = np.arange(1, n + 1)
        poisson = bounds.lemma_poisson(k_all, steps=steps, T=chain.mixing_sum, **known)
        star = bounds.lemma_poisson(k_all, steps=steps, T=chain.poisson_mixing, **known)
        floor = 1e-12 * known["M"] * known["B"]
        total = np.zeros(len(points))
        for level in tree(problem, chain, steps, x0, xi0, n, algorithm=2):
            k = level.k
            noise = problem.sample_gradient(level.y, level.xi) - problem.gradient(level.y)
            for i, z in enumerate(points):
                term = level.mean(np.einsum("pd,pd->p", noise, z - level.x_tilde))
                allowed = min(lag_bound[lag[:, 0] == k].min(), known["sigma"] * known["B"])
                assert abs(term) <= allowed * (1 + ROUNDING) + floor
                if allowed > 1e3 * floor:
                    worst_lag = max(worst_lag, abs(term) / allowed)
                total[i] += k * term
                for bound in (poisson[k - 1], star[k - 1]):
                    assert abs(total[i]) <= bound * (1 + ROUNDING) + k * k * floor
                if star[k - 1] > 1e3 * k * k * floor:
                    worst_sum = max(worst_sum, abs(total[i]) / poisson[k - 1])
                    worst_star = max(worst_star, abs(total[i]) / star[k - 1])
    record(f"Lemmas 3', 4' (lag), {rule} steps", worst_lag)
    record(f"Lemma P, {rule} steps", worst_sum)
    record(f"Lemma P with T_*, {rule} steps", worst_star)


@pytest.mark.theorem("thm-2")
@pytest.mark.theorem("thm-2-lag")
def test_theorem_2(record):
    rng = np.random.default_rng(203)
    worst = {}
    for number in range(240):
        chain, problem, x0, xi0 = random_instance(rng)
        n = depth(chain, 500)
        k = np.arange(1, n + 1)
        L = problem.L if problem.L > 0 else float(rng.choice([0.0, 1.0]))
        r0 = float(np.linalg.norm(x0 - problem.minimiser))
        known = {"L": L, "r0": r0} | constants(problem)
        noise = 4 * problem.sigma**2 + 8 * problem.sigma * problem.M * chain.mixing_sum
        best = np.sqrt(noise / 3) / problem.diameter
        choices = ("best", "other") if number % 2 else ("best",)
        for choice in choices:
            c = best if choice == "best" else best * 10 ** rng.uniform(-1.5, 1.5)
            if c == 0 and L == 0:
                continue
            gap, _, floor = gaps(problem, chain, theorem2(L, c), x0, xi0, n)
            given = None if choice == "best" else c
            claims = {
                "Theorem 2'": bounds.theorem2(k, T=chain.mixing_sum, c=given, **known),
                "Theorem 2', T_*": bounds.theorem2(k, T=chain.poisson_mixing, c=c, **known),
                "Theorem 2', lag": bounds.theorem2_lag(k, chain=chain, c=c, **known),
            }
            for name, bound in claims.items():
                assert np.all(gap <= bound * (1 + ROUNDING) + floor), name
                worst[name] = max(worst.get(name, 0.0), largest(gap, bound, floor))
        # The lag form's own best c, which depends on the horizon.
        s = chain.mixing_time(1 / n)
        lag_noise = 4 * problem.sigma**2 + 4 * np.sqrt(2) * problem.sigma * problem.M * (s - 1)
        c = np.sqrt(lag_noise / 3) / problem.diameter
        if c > 0 or L > 0:
            gap, _, floor = gaps(problem, chain, theorem2(L, c), x0, xi0, n)
            bound = bounds.theorem2_lag(n, chain=chain, **known)
            assert gap[-1] <= bound * (1 + ROUNDING) + floor
    for name, value in worst.items():
        record(name, value)


@pytest.mark.theorem("prop-a")
def test_proposition_a(record):
    rng = np.random.default_rng(204)
    worst = 0.0
    for _ in range(240):
        chain, problem, x0, xi0 = random_instance(rng)
        n = depth(chain, 500)
        k = np.arange(1, n + 1)
        L = problem.L if problem.L > 0 else 10 ** rng.uniform(-1, 1)
        gap, _, floor = gaps(problem, chain, theorem2_printed(L), x0, xi0, n)
        for T in (chain.mixing_sum, chain.poisson_mixing):
            bound = bounds.proposition_a(k, L=L, T=T, **constants(problem))
            assert np.all(gap <= bound * (1 + ROUNDING) + floor)
            worst = max(worst, largest(gap, bound, floor))
    record("Proposition A", worst)


@pytest.mark.theorem("thm-3")
@pytest.mark.theorem("thm-3-lag")
def test_theorem_3(record):
    rng = np.random.default_rng(205)
    worst = {}
    for _ in range(240):
        chain, problem, x0, xi0 = random_instance(rng, strong=True)
        n = depth(chain, 500)
        k = np.arange(1, n + 1)
        steps = theorem3(problem.mu, problem.L)
        gap, distance, floor = gaps(problem, chain, steps, x0, xi0, n)
        left = gap + problem.mu / 2 * distance
        known = strong_constants(problem, x0)
        claims = {
            "Theorem 3'": bounds.theorem3(k, T=chain.mixing_sum, **known),
            "Theorem 3', T_*": bounds.theorem3(k, T=chain.poisson_mixing, **known),
            "Theorem 3', lag": bounds.theorem3_lag(k, chain=chain, **known),
        }
        for name, bound in claims.items():
            assert np.all(left <= bound * (1 + ROUNDING) + floor), name
            worst[name] = max(worst.get(name, 0.0), largest(left, bound, floor))
    for name, value in worst.items():
        record(name, value)


@pytest.mark.theorem("prop-no-bound")
def test_without_a_bound_of_the_gradients(record):
    """M = 2 sigma (1 + T); M = sigma with one more term if the gradient is zero at x*."""
    rng = np.random.default_rng(209)
    worst, smaller = {}, 0
    for number in range(120):
        strong = number % 3 == 0
        chain, problem, x0, xi0 = random_instance(rng, strong)
        n = depth(chain, 500)
        k = np.arange(1, n + 1)
        L, T = problem.L or 1.0, chain.poisson_mixing_centred
        known = strong_constants(problem, x0) | {"L": L, "T": T}
        mu, sigma, M, B = (known[name] for name in ("mu", "sigma", "M", "B"))
        if sigma == 0:
            continue
        c = 10 ** rng.uniform(-2, 2) * sigma / B
        two = {name: value for name, value in known.items() if name != "mu"} | {"c": c}
        a = {name: value for name, value in known.items() if name not in ("mu", "r0")}
        free = {"M": 2 * sigma * (1 + T)}
        claims = [
            ("Theorem 2'", theorem2(L, c), 0.0, bounds.theorem2(k, **two | free)),
            ("Proposition A", theorem2_printed(L), 0.0, bounds.proposition_a(k, **a | free)),
        ]
        if strong:
            bound = bounds.theorem3(k, **known | free)
            claims.append(("Theorem 3'", theorem3(mu, L), mu / 2, bound))
        if np.linalg.norm(problem.gradient(problem.minimiser)) < 1e-12 * M:
            bound = bounds.theorem2(k, **two | {"M": sigma})
            bound = bound + 4 * L * (sigma * T / c) ** 2 / (k + 1)
            claims.append(("Theorem 2', M = sigma", theorem2(L, c), 0.0, bound))
        smaller += free["M"] < M
        for name, steps, weight, bound in claims:
            gap, distance, floor = gaps(problem, chain, steps, x0, xi0, n)
            measured = gap + weight * distance
            assert np.all(measured <= bound * (1 + ROUNDING) + floor), name
            worst[name] = max(worst.get(name, 0.0), largest(measured, bound, floor))
    assert smaller > 20  # the new bound is the smaller one
    assert len(worst) == 4
    for name, value in worst.items():
        record(f"{name}, gradients not bounded", value)


@pytest.mark.theorem("lem-curvature-size")
def test_curvature_and_size():
    """mu B <= 2 M, also for the least M: the largest gradient at two opposite points."""
    rng = np.random.default_rng(208)
    for _ in range(200):
        _, problem, x0, _ = random_instance(rng, strong=True)
        edge = x0 / np.linalg.norm(x0) * problem.diameter / 2
        M = max(np.linalg.norm(problem.gradient(z)) for z in (edge, -edge))
        assert problem.mu * problem.diameter <= 2 * M * (1 + 1e-12)
        known = constants(problem)
        bracket = known["sigma"] * known["M"] / problem.mu + 2 * known["sigma"] * known["B"]
        assert bracket <= 5 * known["sigma"] * known["M"] / problem.mu * (1 + 1e-12)


@pytest.mark.theorem("prop-c")
@pytest.mark.parametrize("denominator", ["k", "k+1"])
def test_proposition_c(denominator, record):
    rng = np.random.default_rng([206, len(denominator)])
    worst = 0.0
    for _ in range(200):
        chain, problem, x0, xi0 = random_instance(rng, strong=True)
        n = depth(chain, 500)
        k = np.arange(1, n + 1)
        steps = theorem3_printed(problem.mu, denominator)
        gap, _, floor = gaps(problem, chain, steps, x0, xi0, n)
        for T in (chain.mixing_sum, chain.poisson_mixing):
            bound = bounds.proposition_c(
                k, T=T, denominator=denominator, **strong_constants(problem, x0)
            )
            assert np.all(gap <= bound * (1 + ROUNDING) + floor)
            worst = max(worst, largest(gap, bound, floor))
    record(f"Proposition C, denominator {denominator}", worst)


def test_package_algorithm_is_the_enumerated_one():
    rng = np.random.default_rng(207)
    for rule in ["theorem2", "theorem2_printed", "theorem3", "theorem3_printed+"]:
        chain, problem, x0, _ = random_instance(rng, rule.startswith("theorem3"))
        steps, n = steps_for(rng, rule, problem), 25
        xi = chain.sample(n + 1, rng=np.random.default_rng(5), replicates=4, initial=0)
        run = amgd_convex(
            problem, chain, steps, n, x0=x0, replicates=4, rng=np.random.default_rng(5),
            record=1, initial=0,
        )  # fmt: skip
        at = {int(k): i for i, k in enumerate(run.k)}
        x = x_bar = np.tile(x0, (4, 1))
        for k in range(1, n + 1):
            y, _, x, x_bar = step2(problem, steps, k, x, x_bar, xi[:, k])
            for ours, theirs in ((y, run.y), (x, run.x), (x_bar, run.x_bar)):
                np.testing.assert_allclose(theirs[at[k]], ours, rtol=1e-12, atol=1e-12)
