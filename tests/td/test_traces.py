"""TD(lambda) against a scalar loop, its mean field against sums over powers, and refusals."""

import itertools

import numpy as np
import pytest

from amgd.descent.steps import sgd, theorem2, theorem3
from amgd.errors import Diverged
from amgd.td import TDProblem, expected_trace, kappa_trace, lstd, td0, td_trace, trace_system


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


def all_paths(problem, length):
    """Every path of the chain from its stationary law, and the probability of each."""
    P = problem.chain.transition
    paths = np.arange(problem.n_states)[:, None]
    chance = np.array(problem.law)
    for _ in range(length):
        parent, after = np.nonzero(P[paths[:, -1]])
        chance = chance[parent] * P[paths[parent, -1], after]
        paths = np.column_stack([paths[parent], after])
    return paths, chance


@pytest.mark.parametrize("trace", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("average", ["none", "uniform", "linear", "Algorithm 2"])
def test_the_expected_error_is_the_mean_over_all_paths(trace, average):
    """Not cut: the runs of `td_trace` along every path, weighted with its probability."""
    rng = np.random.default_rng(10)
    problem = random_problem(rng, n=3)
    paths, chance = all_paths(problem, 5)
    rule = theorem3(0.2, 1.0) if average == "Algorithm 2" else 0.3
    kind = "none" if average == "Algorithm 2" else average
    given = {"trace": trace, "average": kind, "theta0": [1.0, 2.0], "record": [1, 3, 5]}
    run = td_trace(problem, paths, rule, **given)
    found = expected_trace(problem, 5, rule, cut=1 if trace == 0 else 9, **given)
    np.testing.assert_array_equal(found.k, run.k)
    np.testing.assert_allclose(found.theta, np.einsum("p,rpd->rd", chance, run.theta), rtol=1e-10)
    away = run.theta - np.linalg.solve(*trace_system(problem, trace))
    square = np.einsum("p,rpd,rpe->rde", chance, away, away)
    np.testing.assert_allclose(found.error, square, rtol=1e-9)


@pytest.mark.theorem("prop-14-cut")
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_cut_trace_keeps_the_last_features(cut):
    """Beside a loop over all paths, on a chain with moves that do not occur."""
    rng = np.random.default_rng(11)
    P = np.array([[0.5, 0.5, 0.0], [0.3, 0.0, 0.7], [0.0, 1.0, 0.0]])
    problem = TDProblem(P, rng.normal(size=3), rng.normal(size=(3, 2)), 0.9)
    paths, chance = all_paths(problem, 6)
    total = np.zeros((2, 2))
    limit = np.linalg.solve(*trace_system(problem, 0.8))
    for path, weight in zip(paths, chance, strict=True):
        theta = np.zeros(2)
        for t in range(6):
            z = sum(
                (0.9 * 0.8) ** i * problem.features[path[t - i]] for i in range(min(cut, t + 1))
            )
            ahead = 0.9 * problem.features[path[t + 1]] - problem.features[path[t]]
            theta = theta + 0.4 * (problem.reward[path[t]] + ahead @ theta) * z
        total += weight * np.outer(theta - limit, theta - limit)
    found = expected_trace(problem, 6, 0.4, trace=0.8, cut=cut, record=[6])
    np.testing.assert_allclose(found.error[0], total, rtol=1e-10)


@pytest.mark.theorem("prop-14-cut")
def test_longer_cuts_come_close_to_the_whole_trace():
    """The error of cutting falls like (discount * trace)^cut, and lies beside a simulation."""
    problem = random_problem(np.random.default_rng(12), n=2, discount=0.6)
    runs = [
        expected_trace(problem, 60, 0.2, trace=0.8, cut=c, record=[60]).error for c in range(1, 13)
    ]
    gaps = [np.abs(run - runs[-1]).max() for run in runs[:-1]]
    assert (gaps[8] / gaps[0]) ** (1 / 8) < 1.2 * 0.48
    path = problem.chain.sample(61, rng=np.random.default_rng(1), replicates=4000)
    away = td_trace(problem, path, 0.2, trace=0.8, record=[60]).theta[0]
    away = away - np.linalg.solve(*trace_system(problem, 0.8))
    square = away[:, :, None] * away[:, None]
    error = square.std(axis=0) / 4000**0.5
    assert (np.abs(square.mean(axis=0) - runs[-1][0]) < 4 * error).all()


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
    "cut": (lambda: expected_trace(GOOD, 5, 0.1, cut=0), "^cut must be at least 1: got 0"),
    "ridge": (lambda: lstd(GOOD, [[0, 1]], ridge=0.0), "^ridge must lie in "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_run_that_diverges_names_seed_and_transition_and_holds_the_records():
    path = np.tile([0, 1], 500)[None]
    with pytest.raises(Diverged, match="seed 0 is not finite after transition") as one:
        td_trace(GOOD, path, 100.0, record=7)
    with pytest.raises(Diverged, match="a second moment is not finite after transition") as all_:
        expected_trace(GOOD, 500, 100.0, record=7)
    for error in (one.value, all_.value):
        assert error.recorded.k.tolist() == list(range(7, error.k, 7)) != []
    short = td_trace(GOOD, path[:, : one.value.k], 100.0, record=one.value.recorded.k)
    np.testing.assert_array_equal(one.value.recorded.theta, short.theta)
    last = int(all_.value.recorded.k[-1])
    short = expected_trace(GOOD, last, 100.0, record=7)
    np.testing.assert_array_equal(all_.value.recorded.error, short.error)


def test_too_many_pieces_of_path_are_refused():
    problem = random_problem(np.random.default_rng(0), n=12)
    with pytest.raises(ValueError, match=r"^cut must ask for at most .*; cut the trace shorter"):
        expected_trace(problem, 30, 0.1, trace=0.9, cut=30)
