"""TD(lambda) against a scalar loop, its mean field against sums over powers, and refusals."""

import itertools

import numpy as np
import pytest

from amgd.descent.steps import sgd, theorem2, theorem3
from amgd.errors import Diverged
from amgd.td import TDProblem, kappa_trace, lstd, td0, td_trace, trace_system


def random_problem(rng, n=4, d=2, discount=0.8):
    P = rng.dirichlet(np.ones(n), size=n)
    return TDProblem(
        P, rng.normal(size=n), rng.normal(size=(n, d)), discount, arrival_reward=rng.normal(size=n)
    )


@pytest.mark.parametrize("trace", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("average", ["none", "uniform", "linear", "Algorithm 2"])
def test_the_run_is_the_loop(trace, average):
    rng = np.random.default_rng(7)
    problem, gamma = random_problem(rng), 0.8
    path = problem.chain.sample(13, rng=rng, replicates=2)
    rule = theorem3(0.2, 1.0) if average == "Algorithm 2" else sgd(lambda k: 0.3 / k**0.5)
    kind = "none" if average == "Algorithm 2" else average
    run = td_trace(problem, path, rule, trace=trace, average=kind, theta0=[1.0, 2.0])
    for seed in range(2):
        x = bar = np.array([1.0, 2.0])
        z, seen = np.zeros(2), []
        for t in range(12):
            s, after = path[seed, t : t + 2]
            phi, then = problem.features[s], problem.features[after]
            z = gamma * trace * z + phi
            k = t + 1
            y = x if average != "Algorithm 2" else (1 - rule.beta(k)) * bar + rule.beta(k) * x
            reward = problem.reward[s] + problem.arrival_reward[after]
            delta = reward + gamma * then @ y - phi @ y
            if average == "Algorithm 2":
                g, m = rule.gamma(k), rule.mu
                x = (x + m * g * y + g * delta * z) / (1 + m * g)
                bar = (1 - rule.alpha(k)) * bar + rule.alpha(k) * x
            else:
                x = x + rule.beta(k) * delta * z
                seen.append(x)
                share = {"none": k == np.arange(1, k + 1), "uniform": np.ones(k)}
                w = share.get(average, np.arange(1.0, k + 1))
                bar = np.average(seen, axis=0, weights=w)
            np.testing.assert_allclose(run.theta[t, seed], bar, rtol=1e-10)
            np.testing.assert_allclose(run.x[t, seed], x, rtol=1e-10)


def test_without_a_trace_it_is_td0():
    rng = np.random.default_rng(8)
    problem = random_problem(rng)
    path = problem.chain.sample(51, rng=rng, replicates=3)
    one = td0(problem, path[None], 0.1).theta[-1]
    np.testing.assert_allclose(td_trace(problem, path, 0.1).theta[-1], one, rtol=1e-12)


@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9, 1.0])
def test_the_mean_field_is_the_sum_over_all_pasts(trace):
    """E z_t (phi(s_t) - gamma phi(s_{t+1})) with E phi(s_{t-m}) phi(s_t) by powers of P."""
    problem = random_problem(np.random.default_rng(9))
    P, D, F = problem.chain.transition, np.diag(problem.law), problem.features
    A, b = np.zeros((2, 2)), np.zeros(2)
    for m in range(400):
        past = (0.8 * trace) ** m * F.T @ D @ np.linalg.matrix_power(P, m)
        A += past @ (F - 0.8 * P @ F)
        b += past @ (problem.reward + P @ problem.arrival_reward)
    found = trace_system(problem, trace)
    np.testing.assert_allclose(found[0], A, atol=1e-12)
    np.testing.assert_allclose(found[1], b, atol=1e-12)
    if trace == 0:
        np.testing.assert_allclose(found[0], problem.A, atol=1e-14)


def test_lstd_is_the_solution_of_the_sampled_system():
    rng = np.random.default_rng(1)
    problem = random_problem(rng)
    path = problem.chain.sample(3, rng=rng, replicates=4)
    states = path[0]
    z = np.zeros(2)
    A, b = 0.1 * np.eye(2), np.zeros(2)
    for s, after in itertools.pairwise(states):
        z = 0.8 * 0.7 * z + problem.features[s]
        A += np.outer(z, problem.features[s] - 0.8 * problem.features[after])
        b += z * (problem.reward[s] + problem.arrival_reward[after])
    found = lstd(problem, path, trace=0.7, ridge=0.1)[0]
    np.testing.assert_allclose(found, np.linalg.solve(A, b), rtol=1e-10)


ENDS = TDProblem([[0, 1], [1, 0]], [0, 0], [[1.0], [2.0]], 0.9, terminal=[1])
OTHER = TDProblem([[0, 1], [1, 0]], [0, 0], [[1.0], [2.0]], 0.9, law=[0.3, 0.7])
GOOD = TDProblem([[0, 1], [1, 0]], [1.0, 0], [[1.0], [2.0]], 0.9)
REFUSED = {
    "terminal": (lambda: trace_system(ENDS, 0.5), "^problem must have no terminal states: got 1"),
    "law": (lambda: trace_system(OTHER, 0.5), "^problem must have the stationary law"),
    "trace": (lambda: kappa_trace(1.1, discount=0.9), "^trace must lie in "),
    "low": (lambda: kappa_trace(0.5, discount=0.9, low=0.5, high=0.1), "^low must not exceed"),
    "shape": (lambda: td_trace(GOOD, [0, 1], 0.1), "^states must have shape"),
    "average": (
        lambda: td_trace(GOOD, [[0, 1]], theorem2(1.0, 0.0), average="linear"),
        "^average must be 'none'",
    ),
    "ridge": (lambda: lstd(GOOD, [[0, 1]], ridge=0.0), "^ridge must lie in "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_run_that_diverges_names_seed_and_transition():
    path = np.tile([0, 1], 500)[None]
    with (
        pytest.raises(Diverged, match="seed 0 is not finite after transition"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        td_trace(GOOD, path, 100.0)
