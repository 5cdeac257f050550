"""Exact errors against the sum over all paths, against each other, and what is refused."""

import itertools

import numpy as np
import pytest

from amgd import markov
from amgd.descent import exact, steps
from amgd.descent.algorithms import amgd_convex
from amgd.descent.problems import Ball, Quadratic, Sigmoid, cosines, huber_pair


def by_paths(problem, chain, steps, n_steps, x0, initial, average="none"):
    """E f(x_bar_k) - f* for every k, path by path, with the methods written out once more."""
    P = chain.transition
    weights = chain.stationary if initial is None else np.eye(len(P))[initial]
    paths = [(w, i, x0, x0) for i, w in enumerate(weights)]
    gaps = []
    for k in range(1, n_steps + 1):
        alpha, beta, gamma, after = steps.alpha(k), steps.beta(k), steps.gamma(k), []
        for weight, i, x, bar in paths:
            for j in np.flatnonzero(P[i]):
                if steps.algorithm == "convex":
                    y = (1 - beta) * bar + beta * x
                    G = problem.sample_gradient(y, j)
                    new = (x + steps.mu * gamma * y - gamma * G) / (1 + steps.mu * gamma)
                    new_bar = (1 - alpha) * bar + alpha * new
                elif average == "none":
                    y = (1 - alpha) * bar + alpha * x
                    G = problem.sample_gradient(y, j)
                    new, new_bar = x - gamma * G, y - beta * G
                else:
                    new = x - beta * problem.sample_gradient(x, j)
                    share = {"uniform": 1 / k, "linear": 2 / (k + 1)}[average]
                    new_bar = bar + share * (new - bar)
                after.append((weight * P[i, j], j, new, new_bar))
        paths = after
        gaps.append(sum(w * (problem.value(b) - problem.minimum) for w, *_, b in paths))
    return np.array(gaps)


def multiplicative(rng, chain):
    """A quadratic whose matrices and vectors depend on the state, with a minimiser off 0."""
    n, pi = chain.n_states, chain.stationary
    half = rng.normal(size=(n, 2, 2))
    noise = rng.normal(size=(n, 2))
    matrices = half @ half.swapaxes(1, 2) + 0.1 * np.eye(2)
    return Quadratic(
        matrices / 4, noise - pi @ noise, stationary=pi, minimiser=rng.normal(size=2), offset=0.3
    )


METHODS = {
    "sgd": (steps.sgd(lambda k: 0.4 / k), "none"),
    "uniform": (steps.sgd(0.3), "uniform"),
    "linear": (steps.sgd(0.3), "linear"),
    "Algorithm 1": (steps.ghadimi_lan(0.2), "none"),
    "Nesterov": (steps.nesterov(0.2, momentum=0.6), "none"),
    "Theorem 2": (steps.theorem2(1.0, 0.3), "none"),
    "Theorem 3": (steps.theorem3(0.1, 1.0), "none"),
}
CHAINS = {
    "iid": markov.iid([0.3, 0.7]),
    "sticky": markov.sticky([0.2, 0.3, 0.5], 0.3),
    "passes": markov.cyclic(3),
    "reshuffled": markov.reshuffled(2)[0],
}


@pytest.mark.parametrize("initial", [None, 0, 1])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", CHAINS)
def test_gap_is_the_sum_over_all_paths(kind, name, initial):
    chain, (rule, average) = CHAINS[kind], METHODS[name]
    problem = multiplicative(np.random.default_rng(len(name)), chain)
    x0 = np.array([1.0, -2.0])
    wanted = by_paths(problem, chain, rule, 5, x0, initial, average)
    k, gap = exact.exact_gap(problem, chain, rule, 5, x0=x0, initial=initial, average=average)
    assert k.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(gap, wanted, rtol=1e-12)
    k, some = exact.exact_gap(
        problem, chain, rule, 5, x0=x0, initial=initial, average=average, record=[2, 5]
    )
    assert k.tolist() == [2, 5]
    assert some.tolist() == gap[[1, 4]].tolist()


def test_a_law_of_the_first_state_mixes_the_states():
    chain = CHAINS["sticky"]
    problem = multiplicative(np.random.default_rng(3), chain)
    parts = [
        exact.exact_gap(problem, chain, steps.sgd(0.2), 4, x0=[1.0, 0.0], initial=i)[1]
        for i in range(3)
    ]
    law = [0.5, 0.25, 0.25]
    mixed = exact.exact_gap(problem, chain, steps.sgd(0.2), 4, x0=[1.0, 0.0], initial=law)[1]
    np.testing.assert_allclose(mixed, law @ np.array(parts), rtol=1e-12)


@pytest.mark.parametrize("tail", [1, 2, 5, 6])
@pytest.mark.parametrize("theta", [0.0, 0.7])
@pytest.mark.parametrize("q", [0.0, 0.6, -0.5])
def test_constant_steps_agree_with_the_recursion_over_a_chain(q, theta, tail):
    """A sticky chain with signs as noise has correlation q^t; tails by differences of sums."""
    chain = markov.two_state((1 - q) / 2, (1 - q) / 2)
    curvature, beta, k, s, x0 = np.array([0.3, 1.0]), 0.4, 6, 0.7, 1.5
    start, noise = exact.exact_average(curvature, beta, k, theta=theta, tail=tail, correlation=q)
    signs = s * np.array([1.0, -1.0])
    for a, by_squaring in zip(curvature, start * x0**2 + noise * s**2, strict=True):
        square = 0.0
        for path in np.ndindex(*[2] * (k + 1)):
            weight = 0.5 * chain.transition[path[:-1], path[1:]].prod()
            x = before = x0
            seen = []
            for state in path[1:]:
                y = x + theta * (x - before)
                x, before = y - beta * (a * y + signs[state]), x
                seen.append(x)
            square += weight * np.mean(seen[-tail:]) ** 2
        assert by_squaring == pytest.approx(square, rel=1e-12)


@pytest.mark.parametrize("rule", [steps.theorem2(1.0, 0.2), steps.theorem3(0.2, 1.0)])
def test_algorithm_2_splits_into_start_and_noise(rule):
    curvature, ks = np.array([0.2, 0.5, 1.0]), [1, 2, 7, 20]
    start, noise = exact.exact_convex(curvature, [steps.theorem2(2.0, 1.0), rule], record=ks)
    assert start.shape == noise.shape == (4, 2, 3)
    for i, a in enumerate(curvature):
        task = Quadratic([a], noise=[[0.7], [-0.7]])
        _, gap = exact.exact_gap(task, markov.iid([0.5, 0.5]), rule, 20, x0=[1.5], record=ks)
        split = start[:, 1, i] * 1.5**2 + noise[:, 1, i] * 0.7**2
        np.testing.assert_allclose(0.5 * a * split, gap, rtol=1e-12)


TASK, FAIR = Quadratic([1.0], noise=[[1.0], [-1.0]]), markov.iid([0.5, 0.5])
RESTARTS = {
    "never": [],
    "once": [3],
    "every second step": [2, 4, 6],
    "every step": range(1, 20),
    "uneven, one past the end": [1, 2, 4, 100],
}


def follow(task, rule, path, x):
    """The average of Algorithm 2 at the end of one path from x."""
    bar = x
    for k, state in enumerate(path, 1):
        alpha, beta, gamma = rule.alpha(k), rule.beta(k), rule.gamma(k)
        y = (1 - beta) * bar + beta * x
        push = task.sample_gradient(y, state)
        x = (x + rule.mu * gamma * y - gamma * push) / (1 + rule.mu * gamma)
        bar = (1 - alpha) * bar + alpha * x
    return bar


@pytest.mark.parametrize("rule", [steps.theorem2(1.0, 0.2), steps.theorem3(0.2, 1.0)])
@pytest.mark.parametrize("name", RESTARTS)
def test_restarts_are_runs_from_the_last_average(name, rule):
    """Over all paths of noise with two signs."""
    curvature, last, x0, s = 0.4, 7, 1.5, 0.7
    task, at = Quadratic([curvature], noise=[[s], [-s]]), [0, *RESTARTS[name], last]
    ends = sorted({min(k, last) for k in at})
    squares = []
    for path in np.ndindex(*[2] * last):
        x = np.array([x0])
        for begin, end in itertools.pairwise(ends):
            x = follow(task, rule, path[begin:end], x)
        squares.append(x[0] ** 2)
    rules, restarts = [steps.theorem2(2.0, 1.0), rule], [[2], RESTARTS[name]]
    start, noise = exact.exact_convex([1.0, curvature], rules, record=[3, last], restarts=restarts)
    assert start[1, 1, 1] * x0**2 + noise[1, 1, 1] * s**2 == pytest.approx(np.mean(squares))


def test_runs_with_restarts_have_the_exact_error():
    """Each piece is a call of Algorithm 2 from where the last one ended; 4 standard errors."""
    task, chain, rule = Quadratic([0.3], noise=[[0.5], [-0.5]]), FAIR, steps.theorem2(0.5, 0.05)
    rng, x, ends = np.random.default_rng(18), 2.0, [0, 8, 16, 32]
    for begin, end in itertools.pairwise(ends):
        length = end - begin
        run = amgd_convex(
            task, chain, rule, length, x0=x, replicates=4000, rng=rng, record=[length]
        )
        x = run.x_bar[0]
    start, noise = exact.exact_convex([0.3], [rule], record=[32], restarts=[ends[1:3]])
    squares = x[:, 0] ** 2
    error = squares.std(ddof=1) / len(squares) ** 0.5
    assert abs(squares.mean() - (start * 2.0**2 + noise * 0.5**2).item()) < 4 * error


def test_without_restarts_no_bit_changes():
    rules, ks = [steps.theorem2(1.0, 0.2), steps.theorem3(0.2, 1.0)], [1, 5, 30]
    plain = exact.exact_convex([0.2, 1.0], rules, record=ks)
    none = exact.exact_convex([0.2, 1.0], rules, record=ks, restarts=[[], [30, 31]])
    assert np.array_equal(plain, none)


REFUSED = {
    "constrained": (
        lambda: exact.exact_gap(
            Quadratic([1.0], domain=Ball(1.0)), markov.iid([1.0]), steps.sgd(0.1), 1, x0=[0.5]
        ),
        "^problem must be unconstrained",
    ),
    "states": (
        lambda: exact.exact_gap(TASK, markov.iid([1.0]), steps.sgd(0.1), 1, x0=[0.5]),
        "^chain and problem must have the same states: got 1 and 2",
    ),
    "law": (
        lambda: exact.exact_gap(TASK, markov.two_state(0.3, 0.6), steps.sgd(0.1), 1, x0=[0.5]),
        "^the stationary law of the chain must be the law of the problem",
    ),
    **{
        f"{type(task).__name__} is not affine": (
            lambda task=task: exact.exact_gap(task, FAIR, steps.sgd(0.1), 1, x0=[0.0]),
            f"gradients that are affine in x: got {type(task).__name__}",
        )
        for task in (huber_pair(1.0, 1.0), Sigmoid([[1.0], [2.0]]), cosines([[0.0], [1.0]]))
    },
    "average of acceleration": (
        lambda: exact.exact_gap(TASK, FAIR, steps.nesterov(0.1), 3, x0=[0.5], average="uniform"),
        "^step must be one sequence: the steps 'nesterov' have gamma_k != beta_k at k = 2",
    ),
    "average": (
        lambda: exact.exact_gap(
            TASK, FAIR, steps.theorem2(1.0, 0.0), 1, x0=[0.5], average="linear"
        ),
        "^average must be 'none'",
    ),
    "initial": (
        lambda: exact.exact_gap(TASK, FAIR, steps.sgd(0.1), 1, x0=[0.5], initial=2),
        "^initial must lie in 0..1: got 2",
    ),
    "tail": (lambda: exact.exact_average(1.0, 0.1, 2, tail=3), "^tail must lie in 1..2: got 3"),
    "beta": (lambda: exact.exact_average(1.0, [0.1, 0.0], 2), "^beta must be above 0"),
    "theta": (lambda: exact.exact_average(1.0, 0.1, 2, theta=np.nan), "^theta must be at least 0"),
    "rules": (
        lambda: exact.exact_convex([1.0], [steps.sgd(0.1)], record=[1]),
        "^rules must be made for Algorithm 2: got 'sgd'",
    ),
    "record": (
        lambda: exact.exact_convex([1.0], [steps.theorem2(1.0, 0.0)], record=[2, 1]),
        "^record must be increasing",
    ),
    "restarts": (
        lambda: exact.exact_convex(
            [1.0], [steps.theorem2(1.0, 0.0)] * 2, record=[2], restarts=[[1]]
        ),
        "^restarts must hold one entry for each of the 2 rules: got 1",
    ),
    "restart": (
        lambda: exact.exact_convex([1.0], [steps.theorem2(1.0, 0.0)], record=[2], restarts=[[0]]),
        "^restarts must be at least 1: got 0",
    ),
    "mu": (
        lambda: exact.lower_sgd(1, mu=2.0, L=1.0, r0=1.0, sigma=0.0),
        "^mu must not exceed L",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
