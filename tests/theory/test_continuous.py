"""Chapter 14: AR(1) samples, which never mix in total variation, along all their paths."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from amgd.descent import bounds


def grow(values, keep, push):
    """AR(1) with innovations +-1: every value goes to two."""
    return np.stack([keep * values + push, keep * values - push], axis=-1)


@pytest.mark.theorem("thm-14-poisson")
def test_regression_along_all_paths(record):
    """One feature, label noise of its own memory, Algorithm 2 on an interval; 4^k paths."""
    rng = np.random.default_rng(147)
    worst = 0.0
    for _ in range(80):
        a, b = rng.choice([0.0, 0.3, 0.9, 0.99]), rng.choice([-0.9, 0.0, 0.5, 0.99])
        s, c = 10 ** rng.uniform(-2, 0.5), 10 ** rng.uniform(-2, 1)
        low, high = np.sort(rng.uniform(-1, 1, 2)) * 10 ** rng.uniform(-1, 1)
        truth = rng.uniform(low, high)
        xi, zeta = np.array([rng.uniform(-3, 3)]), np.array([s * rng.uniform(-3, 3)])
        start = rng.uniform(low, high)
        x = x_bar = np.array([start])
        slow, slow_label = a * a / (1 - a * a), a * b / (1 - a * b)
        ends = np.array([low, high])[:, None] - truth

        def supremum(square, cross, xi=xi, zeta=zeta, ends=ends):
            return (np.max((square * ends - cross) ** 2, axis=0)).mean()

        known = {"sigma": 0.0, "M": 1e-9, "q_lip": slow * np.abs(xi**2 - 1).mean()}
        known["q"] = supremum(slow * (xi**2 - 1), slow_label * zeta * xi)
        for k in range(1, 6):
            xi = grow(xi, a, (1 - a * a) ** 0.5)[..., None] + np.zeros(2)
            zeta = grow(zeta, b, s * (1 - b * b) ** 0.5)[..., None, :] + np.zeros((2, 1))
            xi, zeta = xi.ravel(), zeta.ravel()
            x, x_bar = np.repeat(x, 4), np.repeat(x_bar, 4)
            alpha, gamma = 2 / (k + 1), k / (4 + c * k**1.5)
            y = (1 - alpha) * x_bar + alpha * x
            x = np.clip(x - gamma * (xi * xi * (y - truth) - zeta * xi), low, high)
            x_bar = (1 - alpha) * x_bar + alpha * x
            spread = np.abs(xi**2 - 1).mean()
            known["sigma"] = max(known["sigma"], supremum(xi**2 - 1, zeta * xi))
            known["M"] = max(known["M"], supremum(xi**2, zeta * xi))
            q = supremum(slow * (xi**2 - 1), slow_label * zeta * xi)
            known["q"], known["q_lip"] = max(known["q"], q), max(known["q_lip"], slow * spread)
            roots = {name: known[name] ** 0.5 for name in ("sigma", "M", "q")}
            bound = bounds.theorem2_poisson(
                k, L=1.0, r0=abs(start - truth), B=high - low, c=c, q_lip=known["q_lip"], **roots
            )
            measured = 0.5 * ((x_bar - truth) ** 2).mean()
            assert measured <= bound
            worst = max(worst, measured / bound)
    record("Theorem 2' along AR(1)", worst)


def test_for_finite_chains_it_is_theorem_2():
    known = {"L": 2.0, "M": 3.0, "r0": 1.0, "B": 2.0, "sigma": 0.5}
    for T, ell, c in product([0.0, 2.5], [0.0, 0.3], [None, 0.7]):
        old = bounds.theorem2([1, 9, 500], T=T, ell=ell, c=c, **known)
        new = bounds.theorem2_poisson(
            [1, 9, 500], q=2 * known["sigma"] * T, q_lip=2 * ell * T, c=c, **known
        )
        np.testing.assert_allclose(new, old, rtol=1e-14)


@pytest.mark.theorem("prop-14-wasserstein")
@pytest.mark.parametrize("a", [0.1, 0.6, 0.95])
def test_a_contraction_bounds_the_solution_of_poissons_equation(a, record):
    """H = cos(w xi + phase) less its mean; the conditional means are cosines too."""
    rng = np.random.default_rng(148)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    xi = np.linspace(-6, 6, 601)
    powers = a ** np.arange(1, int(30 / (1 - a)))[:, None]

    def poisson(at, w, phase):
        fade = np.exp(-(w**2) * (1 - powers**2) / 2)
        return (fade * np.cos(w * powers * at + phase) - np.exp(-(w**2) / 2) * np.cos(phase)).sum(0)

    distance = xi * (2 * norm.cdf(xi) - 1) + 2 * norm.pdf(xi)  # E |xi - eta|, eta Gaussian
    worst = 0.0
    for _ in range(20):
        w, phase = 10 ** rng.uniform(-1, 1), rng.uniform(0, 6)
        Q, bound = poisson(xi, w, phase), a * w / (1 - a)
        assert (np.abs(Q) <= bound * distance).all()
        assert np.abs(np.diff(Q)).max() <= bound * (xi[1] - xi[0]) * (1 + 1e-9)
        root = np.sqrt(weights @ poisson(nodes, w, phase) ** 2)
        assert root <= 2**0.5 * bound
        worst = max(worst, (np.abs(Q) / distance).max() / bound)
        # PH = Q - PQ
        here, root_rest = rng.normal(size=5), (1 - a * a) ** 0.5
        after = (a * here[:, None] + root_rest * nodes).ravel()
        H = np.cos(w * after + phase) - np.exp(-(w**2) / 2) * np.cos(phase)
        ahead = (H + poisson(after, w, phase)).reshape(5, -1) @ weights
        np.testing.assert_allclose(ahead, poisson(here, w, phase), atol=1e-6)
    record("Poisson's equation by contraction", worst)


@pytest.mark.theorem("prop-14-regression")
def test_the_solution_for_regression_is_exact():
    """E[H + Q of the next sample] = Q, over all innovations +-1 of features and label noise."""
    rng = np.random.default_rng(149)
    for d, _ in product([1, 2, 3], range(20)):
        a, b = rng.uniform(-0.99, 0.99, 2)
        xi, u, zeta, s = rng.normal(size=d), rng.normal(size=d), rng.normal(), rng.uniform(0, 2)

        def pair(xi, zeta, u=u, d=d, a=a, b=b):
            square, cross = (np.outer(xi, xi) - np.eye(d)) @ u, zeta * xi
            Q = a * a / (1 - a * a) * square - a * b / (1 - a * b) * cross
            return square - cross, Q

        signs = np.array(list(product([-1, 1], repeat=d + 1)))
        ahead = [
            sum(
                pair(
                    a * xi + (1 - a * a) ** 0.5 * w[:-1], b * zeta + s * (1 - b * b) ** 0.5 * w[-1]
                )
            )
            for w in signs
        ]
        np.testing.assert_allclose(np.mean(ahead, axis=0), pair(xi, zeta)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.theorem("prop-14-regression")
def test_the_moments_of_gaussian_features():
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / weights.sum()
    for d in (1, 2, 3):
        xi = np.array(list(product(nodes, repeat=d)))
        law = np.prod(list(product(weights, repeat=d)), axis=1)
        spread = xi[:, :, None] * xi[:, None] - np.eye(d)
        assert law @ (spread**2).sum(axis=(1, 2)) == pytest.approx(d * (d + 1))
        assert law @ ((xi**2).sum(axis=1) ** 2) == pytest.approx(d * (d + 2))
