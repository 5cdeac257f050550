"""Chapter 8: the linear system of TD(0) on random chains, against the statements of the chapter."""

import numpy as np
import pytest

from amgd.markov import MarkovChain
from amgd.td import TDProblem

SEEDS = range(200)


def random_chain(rng, n, *, reversible=False):
    """A random chain; reversible ones walk on a graph with random weights."""
    weights = rng.exponential(size=(n, n)) * rng.choice([1.0, 20.0])
    weights += rng.choice([0.01, 5.0]) * np.diag(weights.sum(axis=1))
    if reversible:
        weights = weights + weights.T
    return MarkovChain(weights / weights.sum(axis=1, keepdims=True))


def random_problem(rng, *, reversible=False):
    n = int(rng.integers(2, 9))
    d = int(rng.integers(1, min(n, 4) + 1))
    chain = random_chain(rng, n, reversible=reversible)
    reward, features = rng.normal(size=n), rng.normal(size=(n, d))
    discount = float(rng.choice([0.0, 0.5, 0.9, 0.999]))
    return TDProblem(chain.transition, reward, features, discount), chain, reward, features


@pytest.mark.theorem("prop-td-fixed-point")
@pytest.mark.parametrize("seed", SEEDS)
def test_curvature_and_projected_fixed_point(seed, record):
    rng = np.random.default_rng(seed)
    problem, chain, reward, features = random_problem(rng)
    pi, discount = chain.stationary, problem.discount
    x = rng.normal(size=(50, features.shape[1]))
    square = ((x @ features.T) ** 2) @ pi
    form = np.einsum("ri,ij,rj->r", x, problem.A, x)
    record("Prop. td-fixed-point, upper", (form / ((1 + discount) * square)).max())
    record("Prop. td-fixed-point, lower", ((1 - discount) * square / form).max())
    assert (form <= (1 + discount) * square * (1 + 1e-10)).all()
    assert (form >= (1 - discount) * square * (1 - 1e-10)).all()
    gram = np.linalg.eigvalsh(features.T @ (pi[:, None] * features))
    assert problem.mu >= (1 - discount) * gram[0] * (1 - 1e-9)
    assert problem.L <= (1 + discount) * gram[-1] * (1 + 1e-9)
    # the values at theta* are their own projected Bellman backup
    values = features @ problem.theta_star
    backup = reward + discount * chain.transition @ values
    root = np.sqrt(pi)
    projected = features @ np.linalg.lstsq(root[:, None] * features, root * backup, rcond=None)[0]
    assert projected == pytest.approx(values, rel=1e-6, abs=1e-6 * np.abs(values).max())


@pytest.mark.theorem("prop-td-mean")
@pytest.mark.parametrize("seed", SEEDS)
def test_mean_update_is_the_sum_over_transitions(seed):
    rng = np.random.default_rng(seed)
    problem, chain, reward, features = random_problem(rng)
    theta = rng.normal(size=features.shape[1])
    mean = np.zeros_like(theta)
    for s, weight in enumerate(chain.stationary):
        for t, probability in enumerate(chain.transition[s]):
            ahead = reward[s] + problem.discount * features[t] @ theta
            mean += weight * probability * (ahead - features[s] @ theta) * features[s]
    assert problem.b - problem.A @ theta == pytest.approx(mean, rel=1e-9, abs=1e-10)


@pytest.mark.theorem("thm-td-gradient")
@pytest.mark.parametrize("seed", SEEDS)
def test_reversible_chains_give_a_gradient_and_its_energy(seed):
    rng = np.random.default_rng(seed)
    problem, chain, reward, features = random_problem(rng, reversible=True)
    assert problem.is_gradient
    assert pytest.approx(problem.A.T, rel=1e-9, abs=1e-12) == problem.A
    pi, P, discount = chain.stationary, chain.transition, problem.discount
    value = np.linalg.solve(np.eye(len(pi)) - discount * P, reward)

    def gap(theta):
        return 0.5 * theta @ problem.A @ theta - problem.b @ theta

    def energy(theta):
        g = features @ theta - value
        rough = (pi[:, None] * P * (g[:, None] - g) ** 2).sum()
        return (1 - discount) / 2 * (pi @ g**2) + discount / 4 * rough

    first, second = rng.normal(size=(2, features.shape[1]))
    difference = energy(first) - energy(second)
    assert gap(first) - gap(second) == pytest.approx(difference, rel=1e-7, abs=1e-7)


@pytest.mark.theorem("thm-td-gradient")
@pytest.mark.parametrize("seed", range(50))
def test_other_chains_do_not_for_all_features(seed):
    """With one feature a state A = D(I - discount P), symmetric for reversible P only."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    chain = random_chain(rng, n)
    assert not chain.is_reversible
    assert not TDProblem(chain.transition, rng.normal(size=n), np.eye(n), 0.9).is_gradient
