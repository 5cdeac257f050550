"""Chapter 9: a reward that teaches nothing, the floor of the estimate, the lag of TD(0)-Acc."""

from itertools import product

import numpy as np
import pytest

from amgd.descent.steps import StepSizes, theorem3_printed
from amgd.td import GridWorld, TDProblem, fourier_features, td0, td0_accelerated

SEEDS = range(60)


# A reward that teaches nothing --------------------------------------------------------------------
@pytest.mark.theorem("prop-09-constant")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_constant_reward_leaves_no_error_at_any_transition(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    transition = rng.dirichlet(np.ones(n), size=n)
    reward, discount = rng.normal(), float(rng.choice([0.0, 0.5, 0.9, 0.99]))
    # the constant is in the span of the features, but none of them need be constant
    mix = np.linalg.qr(rng.normal(size=(d, d)))[0]
    features = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))]) @ mix
    problem = TDProblem(transition, np.full(n, reward), features, discount, length=20)
    theta = reward / (1 - discount) * mix[0]  # theta_1 = mix' e_1
    scale = 1 + abs(reward) / (1 - discount)
    values = features @ theta
    errors = reward + discount * values[None, :] - values[:, None]  # of all pairs (s, s')
    assert np.abs(errors).max() <= 1e-12 * scale
    assert problem.neu(theta) <= 1e-20 * scale**2
    # so TD(0) and TD(0)-Acc stay there, with steps that do not shrink
    paths = problem.sample_episodes(5, rng=rng, replicates=2)
    steady = StepSizes(
        "steady", lambda k: 0.5, lambda k: 0.5, lambda k: 0.3, mu=1.0, algorithm="convex"
    )
    for run in (
        td0(problem, paths, 0.3, theta0=theta, record=1),
        td0_accelerated(problem, paths, steady, theta0=theta, record=1),
    ):
        np.testing.assert_allclose(run.theta, np.broadcast_to(theta, run.theta.shape), atol=1e-9)


def test_the_constant_is_not_a_fixed_point_once_an_episode_ends_at_the_goal():
    """The hypothesis matters: the transition into the goal does not bootstrap."""
    problem = TDProblem.from_gridworld(
        GridWorld(3, goal="absorbing"), fourier_features(3), law="episode"
    )
    assert problem.neu([-10.0, 0.0, 0.0]) > 0.1


# The floor of the estimated NEU -------------------------------------------------------------------
def all_episodes(problem):
    """Every path of the problem's length from its start, with its probability."""
    P = problem.transition.toarray()
    paths, weights = [[problem.start]], [1.0]
    for _ in range(problem.length):
        following = [
            ([*path, s], weight * P[path[-1], s])
            for path, weight in zip(paths, weights, strict=True)
            for s in np.flatnonzero(P[path[-1]])
        ]
        paths, weights = (list(column) for column in zip(*following, strict=True))
    return np.array(paths), np.array(weights)


@pytest.mark.theorem("prop-09-floor")
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize(
    ("n", "goal", "length"),
    # too short to reach the goal, or a goal that does not end the episode: equal lengths
    [(2, "ordinary", 2), (2, "reset", 2), (3, "absorbing", 2), (4, "absorbing", 2)],
)
def test_mean_of_the_estimate_over_all_test_episodes(n, goal, length, m):
    problem = TDProblem.from_gridworld(
        GridWorld(n, goal=goal), fourier_features(n), law="episode", length=length
    )
    paths, weights = all_episodes(problem)
    assert weights.sum() == pytest.approx(1.0)
    A, b = problem.pooled_system(paths[:, None])
    groups = np.array(list(product(range(len(paths)), repeat=m)))
    A_m, b_m = problem.pooled_system(paths[groups])
    theta = np.random.default_rng(m).normal(scale=5.0, size=(50, 3))
    estimate = ((b_m[:, None] - np.einsum("gij,tj->gti", A_m, theta)) ** 2).sum(axis=-1)
    expected = weights[groups].prod(axis=1) @ estimate
    update = b[:, None] - np.einsum("gij,tj->gti", A, theta)
    deviation = update - np.tensordot(weights, update, 1)
    trace = weights @ (deviation**2).sum(axis=-1)
    assert trace.min() > 1e-3  # there is a floor to speak of
    np.testing.assert_allclose(expected, problem.neu(theta) + trace / m, rtol=1e-10)


# The lag ------------------------------------------------------------------------------------------
def transitions_one_by_one(rng, k, rule):
    """TD(0)-Acc of the package, one transition an episode, with all that the proposition names.

    `k` is the index at each transition. Returns x, x_bar (before the first and after each), A_t,
    b_t and the sequences alpha, beta, eta.
    """
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    features = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0])
    discount = float(rng.choice([0.0, 0.5, 0.9]))
    problem = TDProblem(
        rng.dirichlet(np.ones(n), size=n), rng.normal(size=n), features, discount, length=len(k)
    )
    path = problem.sample_episodes(1, rng=rng)[0, 0]
    single = np.stack([path[:-1], path[1:]], axis=1)[:, None]

    def frozen(sequence):  # the package counts transitions, the rule sees k
        return lambda t: sequence(k[t - 1])

    steps = StepSizes(
        "frozen",
        *(frozen(sequence) for sequence in (rule.alpha, rule.beta, rule.gamma)),
        mu=rule.mu,
        algorithm="convex",
    )
    start = rng.normal(size=d)
    run = td0_accelerated(problem, single, steps, theta0=start, record=1, compose=False)
    A, b, _ = problem.sampled_sums(single[:, 0])
    return run.x[:, 0], run.theta[:, 0], A, b, rule.alpha(k), rule.beta(k), rule.eta(k)


def lag_checked(rng, k, rule, record):
    """Check parts 1 to 3; return steps off the matched one, ||A_t||, the sizes and the lags."""
    x, x_bar, A, b, alpha, beta, eta = transitions_one_by_one(rng, k, rule)
    mu, e = rule.mu, x_bar - x
    plain, bound = np.empty_like(b), 0.0
    sizes, eye = np.empty(len(k)), np.eye(b.shape[1])
    for t in range(len(k)):
        y = (1 - beta[t]) * x_bar[t] + beta[t] * x[t]
        g = b[t] - A[t] @ y
        sizes[t] = np.linalg.norm(g)
        plain[t] = x[t] + eta[t] * (b[t] - A[t] @ x[t])
        moved = plain[t] + (1 - beta[t]) * eta[t] * (mu * eye - A[t]) @ e[t]
        lag = (1 - alpha[t]) * ((1 - (1 - beta[t]) * mu * eta[t]) * e[t] - eta[t] * g)
        scale = 1 + np.abs(x[t]).max() + np.abs(x_bar[t]).max() + eta[t] * sizes[t]
        assert x[t + 1] == pytest.approx(moved, abs=1e-12 * scale)
        assert e[t + 1] == pytest.approx(lag, abs=1e-12 * scale)
        bound = (1 - alpha[t]) * (bound + eta[t] * sizes[t])
        assert np.linalg.norm(e[t + 1]) <= bound + 1e-12 * scale
        if bound > 1e-9:
            record("Prop. 9-lag, part 3", np.linalg.norm(e[t + 1]) / bound)
    off = np.linalg.norm(x[1:] - plain, axis=1)
    return off, np.linalg.norm(A, ord=2, axis=(1, 2)), sizes, np.linalg.norm(e[1:], axis=1)


@pytest.mark.theorem("prop-09-lag")
@pytest.mark.parametrize("seed", SEEDS)
def test_lag_of_any_steps(seed, record):
    rng = np.random.default_rng(seed)
    k = np.arange(1, 61)
    weights, gammas = rng.uniform(size=(2, 61)), rng.uniform(0.01, 1.0, size=61)
    rule = StepSizes(
        "any",
        lambda j: weights[0][j],
        lambda j: weights[1][j],
        lambda j: gammas[j],
        mu=float(rng.choice([0.01, 0.5, 5.0])),
        algorithm="convex",
    )
    _, _, sizes, lags = lag_checked(rng, k, rule, record)
    alpha, eta = rule.alpha(k), rule.eta(k)
    C = ((1 - alpha) * eta / alpha).max()
    assert (lags <= C * np.maximum.accumulate(sizes) * (1 + 1e-10)).all()


@pytest.mark.theorem("prop-09-lag")
@pytest.mark.parametrize("seed", SEEDS)
def test_lag_of_the_papers_steps(seed, record):
    rng = np.random.default_rng(seed)
    k = np.arange(1, 101) if seed % 2 else np.repeat(np.arange(1, 11), 10)  # k frozen, or not
    mu, delta = float(rng.choice([0.3, 1.0, 3.0])), float(rng.choice([0.03, 0.1, 1.0]))
    rule = theorem3_printed(mu, "k+1", delta)
    alpha, eta = rule.alpha(k), rule.eta(k)
    exact = delta / mu * (k - 1) / (k + 1 + 2 * delta)
    assert (1 - alpha) * eta / alpha == pytest.approx(exact, rel=1e-12)
    off, norms, sizes, lags = lag_checked(rng, k, rule, record)
    G = np.maximum.accumulate(sizes)
    assert (lags <= delta / mu * G * (1 + 1e-10)).all()
    largest_before = np.concatenate([[0.0], G[:-1]])  # the lag that moves x is the one before
    bound = eta * delta * (1 + norms / mu) * largest_before
    assert (off <= bound + 1e-12).all()
    record("Prop. 9-lag, part 4", (off[1:] / np.maximum(bound[1:], 1e-300)).max())


@pytest.mark.theorem("prop-09-lag")
@pytest.mark.parametrize("delta", [0.03, 0.1, 1.0])
def test_bound_on_the_lag_is_attained_up_to_one_plus_delta(delta, record):
    """Part 2 with A_t = 0, so that all updates are equal: the worst case."""
    rule, k = theorem3_printed(1.0, "k+1", delta), 2000
    alpha, beta, eta = rule.alpha(k), rule.beta(k), rule.eta(k)
    e = 0.0
    for _ in range(20 * k):
        e = (1 - alpha) * ((1 - (1 - beta) * eta) * e - eta)
    assert -e <= delta
    assert -e == pytest.approx(delta / (1 + delta), rel=2e-3)
    record("Prop. 9-lag, delta / mu, equal updates", -e / delta)
