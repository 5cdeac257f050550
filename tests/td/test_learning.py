"""TD(0) and TD(0)-Acc against scalar loops, exact limits and each other."""

import itertools

import numpy as np
import pytest

from amgd.descent.steps import StepSizes, sgd, theorem2, theorem3, theorem3_printed
from amgd.td import (
    Diverged,
    GridWorld,
    TDProblem,
    decaying,
    expected_run,
    fourier_features,
    neu_area,
    td0,
    td0_accelerated,
)

PAPER = theorem3_printed(1.0, "k+1", delta=0.1)


def grid_problem(n=5, kind="three", goal="absorbing", reward="step", length=None):
    grid = GridWorld(n, goal=goal, reward=reward)
    features = fourier_features(n, kind)
    return TDProblem.from_gridworld(grid, features, 0.9, law="episode", length=length)


def draw(problem, episodes, replicates=3, seed=0):
    return problem.sample_episodes(episodes, rng=np.random.default_rng(seed), replicates=replicates)


def transitions(problem, path):
    """phi, phi - discount phi', r of the transitions of one episode that are learned from."""
    for s, after in itertools.pairwise(path):
        if problem.is_terminal[s]:
            continue
        next_phi = 0.0 * problem.features[after]
        if not problem.is_terminal[after]:
            next_phi = problem.features[after]
        reward = problem.reward[s] + problem.arrival_reward[after]
        yield problem.features[s], problem.features[s] - problem.discount * next_phi, reward


def scalar_td0(problem, paths, rate, count):
    """The textbook loop of one seed, number by number."""
    theta, k = [0.0] * problem.dim, 0
    for e, path in enumerate(paths, 1):
        for phi, difference, reward in transitions(problem, path):
            k += 1
            delta = reward - sum(float(u) * w for u, w in zip(difference, theta, strict=True))
            step = rate(e if count == "episode" else k) * delta
            theta = [w + step * float(f) for w, f in zip(theta, phi, strict=True)]
    return theta


def scalar_accelerated(problem, paths, steps, count):
    """Algorithm 2 with TD updates for one seed, number by number."""
    x, x_bar, k, mu = [0.0] * problem.dim, [0.0] * problem.dim, 0, steps.mu
    for e, path in enumerate(paths, 1):
        for phi, difference, reward in transitions(problem, path):
            k += 1
            index = e if count == "episode" else k
            alpha, beta, gamma = steps.alpha(index), steps.beta(index), steps.gamma(index)
            eta = gamma / (1.0 + mu * gamma)
            y = [(1.0 - beta) * b + beta * a for a, b in zip(x, x_bar, strict=True)]
            delta = reward - sum(float(u) * w for u, w in zip(difference, y, strict=True))
            x = [
                a + mu * eta * (w - a) + eta * delta * float(f)
                for a, w, f in zip(x, y, phi, strict=True)
            ]
            x_bar = [(1.0 - alpha) * b + alpha * a for a, b in zip(x, x_bar, strict=True)]
    return x, x_bar


@pytest.mark.parametrize("count", ["episode", "transition"])
@pytest.mark.parametrize("kind", ["three", "order"])
@pytest.mark.parametrize(("goal", "reward"), [("absorbing", "step"), ("ordinary", "goal")])
def test_single_transitions_equal_the_scalar_loops_bit_for_bit(count, kind, goal, reward):
    problem = grid_problem(kind=kind, goal=goal, reward=reward)
    states = draw(problem, 20)  # 20 episodes of 50 steps: 1000 transitions
    options = {"count": count, "compose": False}
    plain = td0(problem, states, decaying(0.05), **options)
    accelerated = td0_accelerated(problem, states, PAPER, **options)
    for r in range(3):
        theta = scalar_td0(problem, states[:, r], decaying(0.05), count)
        np.testing.assert_array_equal(plain.theta[-1, r], theta)
        x, x_bar = scalar_accelerated(problem, states[:, r], PAPER, count)
        np.testing.assert_array_equal(accelerated.x[-1, r], x)
        np.testing.assert_array_equal(accelerated.theta[-1, r], x_bar)
    np.testing.assert_array_equal(plain.x, plain.theta)


@pytest.mark.parametrize("count", ["episode", "transition"])
@pytest.mark.parametrize("kind", ["three", "order"])
@pytest.mark.parametrize("goal", ["absorbing", "ordinary", "reset"])
@pytest.mark.parametrize("block", [3, 1000])
def test_composed_maps_equal_single_transitions(count, kind, goal, block, monkeypatch):
    monkeypatch.setattr("amgd.td.learning.BLOCK", block)
    problem = grid_problem(3, kind=kind, goal=goal)
    states = draw(problem, 40)
    theta0 = np.random.default_rng(0).normal(size=(3, problem.dim))
    for method, rule in ((td0, 0.02), (td0, PAPER.eta), (td0_accelerated, PAPER)):
        runs = [
            method(problem, states, rule, theta0=theta0, count=count, record=1, compose=compose)
            for compose in (True, False)
        ]
        for name in ("theta", "x"):
            one, other = (getattr(run, name) for run in runs)
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("goal", ["absorbing", "ordinary"])
@pytest.mark.parametrize("block", [3, 1000])
def test_maps_that_overflow_send_zero_to_zero(goal, block, monkeypatch):
    """Steps of 30: an episode's map has entries beyond 1e308, but no reward moves the point 0."""
    monkeypatch.setattr("amgd.td.learning.BLOCK", block)
    grid = GridWorld(50, reward="goal", goal=goal)
    problem = TDProblem.from_gridworld(grid, fourier_features(50), law="episode")
    states = problem.sample_episodes(20, rng=np.random.default_rng(0), replicates=2)
    assert not (states == grid.goal_state).any()
    for compose in (True, False):
        run = td0(problem, states, 30.0, compose=compose)
        assert not run.theta.any()
    steps = theorem3_printed(0.01, "k+1", delta=30.0)
    assert not td0_accelerated(problem, states, steps, compose=True).theta.any()
    with pytest.raises(Diverged, match="diverges: after episode 1 "):
        td0(problem, states, 30.0, compose=True, theta0=np.ones(problem.dim))


@pytest.mark.parametrize(
    ("kind", "episodes", "composes"),
    [("three", 20, True), ("three", 5, False), ("order", 20, False)],
)
def test_the_default_composes_when_it_pays(kind, episodes, composes):
    problem = grid_problem(kind=kind)
    states = draw(problem, episodes)
    runs = {flag: td0(problem, states, 0.01, compose=flag).theta for flag in (None, True, False)}
    assert not np.array_equal(runs[True], runs[False])  # the last bits tell which one ran
    np.testing.assert_array_equal(runs[None], runs[composes])


# The matched step


@pytest.mark.parametrize("goal", ["absorbing", "ordinary"])
@pytest.mark.parametrize("compose", [True, False])
@pytest.mark.parametrize("rule", [PAPER, theorem3(0.05, 0.2), theorem2(0.2, 0.1)])
def test_first_episode_is_td0_with_the_matched_step(goal, compose, rule):
    """alpha_1 = beta_1 = 1, frozen for the whole episode."""
    problem = grid_problem(goal=goal)
    states = draw(problem, 1)
    accelerated = td0_accelerated(problem, states, rule, compose=compose)
    plain = td0(problem, states, rule.eta, compose=compose)
    np.testing.assert_allclose(accelerated.theta, plain.theta, rtol=0, atol=1e-13)
    if not compose:
        np.testing.assert_array_equal(accelerated.theta, plain.theta)


@pytest.mark.parametrize("update", ["transition", "episode"])
@pytest.mark.parametrize("mu", [0.0, 0.5, 4.0])
def test_without_averaging_it_is_td0_with_the_matched_step(update, mu):
    one = lambda k: np.ones(k.shape)  # noqa: E731
    steps = StepSizes("plain", one, one, lambda k: 0.1 / np.sqrt(k), mu, "convex")
    problem = grid_problem()
    states = draw(problem, 30)
    compose = None if update == "episode" else False
    accelerated = td0_accelerated(problem, states, steps, update=update, compose=compose)
    plain = td0(problem, states, steps.eta, update=update, compose=compose)
    np.testing.assert_array_equal(accelerated.theta, plain.theta)


# Updates by the mean of an episode, projection, counting


@pytest.mark.parametrize("goal", ["absorbing", "reset"])
def test_mean_update_is_the_mean_over_the_episode(goal):
    problem = grid_problem(3, goal=goal)
    states = draw(problem, 25)
    run = td0(problem, states, decaying(0.5), update="episode", record=1)
    for r in range(3):
        theta = np.zeros(3)
        for e, path in enumerate(states[:, r], 1):
            moves = [(t - u @ theta) * phi for phi, u, t in transitions(problem, path)]
            theta = theta + 0.5 / e * np.mean(moves, axis=0)
            np.testing.assert_allclose(run.theta[e, r], theta, atol=1e-12)


def test_accelerated_mean_update():
    problem = grid_problem(3)
    states = draw(problem, 25)
    run = td0_accelerated(problem, states, PAPER, update="episode", record=1)
    for r in range(3):
        x = x_bar = np.zeros(3)
        for e, path in enumerate(states[:, r], 1):
            alpha, beta, gamma = PAPER.alpha(e), PAPER.beta(e), PAPER.gamma(e)
            y = (1 - beta) * x_bar + beta * x
            moves = [(t - u @ y) * phi for phi, u, t in transitions(problem, path)]
            x = (x + gamma * y + gamma * np.mean(moves, axis=0)) / (1 + gamma)  # mu = 1
            x_bar = (1 - alpha) * x_bar + alpha * x
            np.testing.assert_allclose(run.x[e, r], x, atol=1e-12)
            np.testing.assert_allclose(run.theta[e, r], x_bar, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"compose": False}, {"update": "episode"}])
def test_an_episode_in_a_terminal_state_moves_nothing(options):
    problem = grid_problem(3)
    states = draw(problem, 4)
    states[2, 1] = 8  # the third episode of the second seed
    for method, rule in ((td0, 0.1), (td0_accelerated, PAPER)):
        run = method(problem, states, rule, record=1, **options)
        moved = (run.theta[3] != run.theta[2]).any(axis=1)
        assert moved.tolist() == [True, False, True]
        assert (run.x[3, 1] == run.x[2, 1]).all()


@pytest.mark.parametrize("update", ["transition", "episode"])
def test_projection_holds_the_iterates_in_the_ball(update):
    problem = grid_problem()
    states = draw(problem, 30)
    radius = 0.03 * np.linalg.norm(problem.theta_star)
    for method, rule in ((td0, 0.1), (td0_accelerated, PAPER)):
        free = method(problem, states, rule, update=update)
        ball = method(problem, states, rule, update=update, radius=radius)
        wide = method(problem, states, rule, update=update, radius=1e6)
        assert np.linalg.norm(free.x, axis=2).max() > radius
        assert np.linalg.norm(ball.x, axis=2).max() <= radius * (1 + 1e-12)
        assert np.linalg.norm(ball.theta, axis=2).max() <= radius * (1 + 1e-12)
        np.testing.assert_allclose(wide.theta, free.theta, rtol=1e-10, atol=1e-10)


def test_projection_is_part_of_each_step():
    problem = grid_problem(3)
    states = draw(problem, 4, replicates=2)
    radius = 0.3
    run = td0(problem, states, 0.2, radius=radius)
    for r in range(2):
        theta = np.zeros(3)
        for path in states[:, r]:
            for phi, difference, reward in transitions(problem, path):
                theta = theta + 0.2 * (reward - difference @ theta) * phi
                theta *= min(1.0, radius / np.linalg.norm(theta))
        np.testing.assert_allclose(run.theta[-1, r], theta, atol=1e-12)


def test_projection_saves_a_run_with_steps_that_are_too_large():
    problem = grid_problem()
    states = draw(problem, 30)
    run = td0(problem, states, 1e200, radius=2.0)
    assert np.isfinite(run.theta).all()
    assert np.linalg.norm(run.theta, axis=2).max() <= 2.0 * (1 + 1e-12)


# Limits


def test_a_run_without_noise_reaches_theta_star():
    P = np.roll(np.eye(4), 1, axis=1)
    problem = TDProblem(P, [1, -2, 0, 3], np.eye(4), 0.7, length=40)
    states = draw(problem, 40)
    for run in (
        td0(problem, states, 0.5),
        td0(problem, states, 0.5, update="episode", theta0=problem.theta_star),
        td0(problem, states, 0.5, radius=100.0),
    ):
        np.testing.assert_allclose(run.theta[-1], np.tile(problem.theta_star, (3, 1)), rtol=1e-10)


@pytest.mark.parametrize("method", ["td0", "td0_accelerated"])
@pytest.mark.parametrize("goal", ["absorbing", "ordinary"])
def test_the_limit_is_theta_star_under_the_law_of_the_episodes(method, goal):
    problem = grid_problem(3, goal=goal, reward="step")
    states = draw(problem, 2000, replicates=40)
    if method == "td0":
        run = td0(problem, states, lambda k: 2.0 / (20 + k))
    else:
        run = td0_accelerated(problem, states, theorem3(problem.mu, 5 * problem.L))
    error = run.theta[-1] - problem.theta_star
    bar = error.std(axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(error.mean(axis=0)) < 4 * bar + 0.01 * np.abs(problem.theta_star)).all()
    assert problem.neu(run.theta[-1]).mean() < 1e-3 * problem.neu(run.theta[0]).mean()


def test_the_paper_s_ranking_is_that_of_the_matched_step():
    """The paper's TD(0)-Acc beats TD(0) with .001, and TD(0) with the matched step does too."""
    grid = GridWorld(10, goal="absorbing")
    problem = TDProblem.from_gridworld(grid, fourier_features(10), law="episode")
    states = draw(problem, 1000, replicates=10)
    area = {
        "plain": neu_area(problem, td0(problem, states, 0.001)),
        "accelerated": neu_area(problem, td0_accelerated(problem, states, PAPER)),
        "matched": neu_area(problem, td0(problem, states, PAPER.eta)),
        "decaying": neu_area(problem, td0(problem, states, decaying(0.3))),
    }
    assert (area["accelerated"] < 0.1 * area["plain"]).all()
    assert (area["matched"] < 0.1 * area["plain"]).all()
    assert area["matched"].mean() < area["accelerated"].mean()
    assert area["decaying"].mean() < 0.5 * area["matched"].mean()
    # the figures of the text, with the spread of ten seeds
    assert area["plain"].mean() == pytest.approx(4.3e-2, rel=0.05)
    assert area["accelerated"].mean() == pytest.approx(2.0e-4, rel=0.8)


# Divergence


@pytest.mark.parametrize(
    "options",
    [{}, {"compose": False}, {"update": "episode"}, {"count": "transition"}],
)
@pytest.mark.parametrize("method", ["td0", "td0_accelerated"])
def test_divergence_is_reported(method, options):
    problem = grid_problem()
    states = draw(problem, 400, replicates=4)
    if method == "td0":
        call = lambda: td0(problem, states, 50.0, record=1, **options)  # noqa: E731
    else:
        rule = StepSizes(
            "large", lambda k: 2 / (k + 1), lambda k: 2 / (k + 1), lambda k: 1e5, 0.0, "convex"
        )
        call = lambda: td0_accelerated(problem, states, rule, record=1, **options)  # noqa: E731
    with pytest.raises(Diverged, match=rf"{method} diverges: after episode \d+") as caught:
        call()
    error = caught.value
    assert isinstance(error, FloatingPointError)
    assert f"episode {error.k} " in str(error)
    assert f"seed {error.run} " in str(error)
    assert 0 <= error.run < 4
    run = error.recorded  # every episode before, all finite
    np.testing.assert_array_equal(run.episodes, np.arange(error.k))
    assert run.theta.shape == (error.k, 4, 3)
    assert np.abs(run.theta).max() < 1e150


def test_the_diverging_seed_is_named():
    problem = grid_problem()
    theta0 = np.zeros((4, 3))
    theta0[2] = 1e155
    with pytest.raises(Diverged, match="after episode 1 the largest entry of seed 2 is"):
        td0(problem, draw(problem, 3, replicates=4), 0.01, theta0=theta0)


def test_a_smaller_limit_stops_earlier():
    problem = grid_problem()
    states = draw(problem, 100)
    bare = td0(problem, states, 0.05, record=1)
    size = np.abs(bare.theta).max(axis=(1, 2))
    limit = float(size[40])
    first = int(np.argmax(size >= limit))
    with pytest.raises(Diverged, match="expected below") as caught:
        td0(problem, states, 0.05, record=1, limit=limit)
    assert caught.value.k == first
    np.testing.assert_array_equal(caught.value.recorded.theta, bare.theta[:first])


def test_small_mu_diverges_with_16_features_as_the_text_says():
    problem = grid_problem(10, kind="order", length=100)
    states = draw(problem, 15, replicates=2)
    with pytest.raises(Diverged):
        td0_accelerated(problem, states, theorem3_printed(0.01, "k+1", delta=0.1))
    assert np.isfinite(td0_accelerated(problem, states, PAPER).theta).all()


# Records


@pytest.mark.parametrize(
    ("episodes", "record", "kept"),
    [
        (20, 10, [0, 10, 20]),
        (25, 10, [0, 10, 20, 25]),
        (3, 10, [0, 3]),
        (3, 1, [0, 1, 2, 3]),
        (9, [7, 2], [0, 2, 7]),
    ],
)
def test_records(episodes, record, kept):
    problem = grid_problem()
    run = td0(problem, draw(problem, episodes), 0.01, record=record)
    assert run.episodes.tolist() == kept
    assert run.theta.shape == run.x.shape == (len(kept), 3, 3)
    assert run.method == "td0"


@pytest.mark.parametrize("compose", [True, False])
def test_initial_point(compose):
    problem = grid_problem()
    theta0 = np.arange(3.0)
    states = draw(problem, 12)
    run = td0(problem, states, 0.05, theta0=theta0, record=1, compose=compose)
    np.testing.assert_array_equal(run.theta[0], np.tile(theta0, (3, 1)))


@pytest.mark.parametrize("kind", ["three", "order"])
@pytest.mark.parametrize(
    "options",
    [{"update": "episode"}, {"compose": False}, {"compose": True}, {"count": "transition"}],
    ids=str,
)
@pytest.mark.parametrize("rule", ["plain", "accelerated"])
def test_a_seed_has_the_same_bits_in_any_company(kind, options, rule):
    """Alone, with some of the others, and however the paths lie in memory."""
    problem = grid_problem(kind=kind, goal="reset")
    states = draw(problem, 60, replicates=7)
    before = states.copy()

    def learn(paths):
        if rule == "plain":
            return td0(problem, paths, 0.01, record=7, **options)
        return td0_accelerated(problem, paths, PAPER, record=7, **options)

    together = learn(states)
    np.testing.assert_array_equal(states, before)
    for some in [*([seed] for seed in range(7)), [0, 1], [6, 2], [1, 2, 3], [5, 4, 3, 2, 1, 0]]:
        for layout in (np.asarray, np.ascontiguousarray, np.asfortranarray):
            found = learn(layout(states[:, some]))
            np.testing.assert_array_equal(found.theta, together.theta[:, some])
            np.testing.assert_array_equal(found.x, together.x[:, some])


def test_neu_area_is_the_mean_after_the_start():
    problem = grid_problem()
    run = td0(problem, draw(problem, 30), 0.01)
    expected = [problem.neu(run.theta[i]) for i in (1, 2, 3)]
    np.testing.assert_allclose(neu_area(problem, run), np.mean(expected, axis=0))


# Bad input


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p, s: td0(p, s, 0.0), ValueError, r"step must lie in \(0, inf\): got 0.0"),
        (lambda p, s: td0(p, s, -0.1), ValueError, r"step must lie in \(0, inf\): got -"),
        (lambda p, s: td0(p, s, np.nan), ValueError, r"step must lie in \(0, inf\): got nan"),
        (
            lambda p, s: td0(p, s, "matched"),
            TypeError,
            "step must be a real number in .*: got 'matched'",
        ),
        (lambda p, s: td0(p, s, True), TypeError, "step must be a real number in .*: got True"),
        (lambda p, s: td0(p, s, lambda k: -1.0 / k), ValueError, "step size is out of range"),
        (lambda p, s: td0(p, s, lambda k: np.nan * k), ValueError, "step size is out of range"),
        (
            lambda p, s: td0(p, s, 0.1, update="batch"),
            ValueError,
            "update must be one of .*: got 'batch'",
        ),
        (
            lambda p, s: td0(p, s, 0.1, count="step"),
            ValueError,
            "count must be one of .*: got 'step'",
        ),
        (
            lambda p, s: td0(p, s, 0.1, update="episode", count="transition"),
            ValueError,
            "does not fit",
        ),
        (lambda p, s: td0(p, s, 0.1, update="episode", compose=True), ValueError, "compose=True"),
        (lambda p, s: td0(p, s, 0.1, radius=1.0, compose=True), ValueError, "compose=True"),
        (lambda p, s: td0(p, s, 0.1, compose=1), TypeError, "compose must be True or False: got 1"),
        (
            lambda p, s: td0(p, s, 0.1, radius=0),
            ValueError,
            r"radius must lie in \(0, inf\): got 0",
        ),
        (
            lambda p, s: td0(p, s, 0.1, radius=np.inf),
            ValueError,
            r"radius must lie in \(0, inf\): got inf",
        ),
        (lambda p, s: td0(p, s, 0.1, limit=0), ValueError, r"limit must lie in \(0, inf\): got 0"),
        (lambda p, s: td0(p, s, 0.1, record=0), ValueError, "record must be at least 1: got 0"),
        (lambda p, s: td0(p, s, 0.1, record=2.5), TypeError, "record must be an integer"),
        (
            lambda p, s: td0(p, s, 0.1, theta0=[1.0]),
            ValueError,
            r"theta0 must have shape \(3,\) or \(3, 3\): got \(1,\)",
        ),
        (
            lambda p, s: td0(p, s, 0.1, theta0=np.ones((2, 3))),
            ValueError,
            r"shape \(3,\) or \(3, 3\): got \(2, 3\)",
        ),
        (
            lambda p, s: td0(p, s, 0.1, theta0=[np.nan] * 3),
            ValueError,
            "theta0 must be finite: entry 0 is nan",
        ),
        (
            lambda p, s: td0(p, s, 0.1, theta0=np.ones(3), radius=1.0),
            ValueError,
            "theta0 is outside the ball: its norm is 1.73205",
        ),
        (lambda p, s: td0(p, s[0], 0.1), ValueError, r"states .*got \(3, 51\)"),
        (lambda p, s: td0(p, s[:0], 0.1), ValueError, r"states .*got \(0, 3, 51\)"),
        (lambda p, s: td0(p, s[:, :, :1], 0.1), ValueError, "states must hold paths"),
        (
            lambda p, s: td0(p, s * 1.0, 0.1),
            TypeError,
            "states must be an integer or an array of integers",
        ),
        (lambda p, s: td0(p, s + 1, 0.1), ValueError, r"states must lie in 0\.\.\d+: got"),
        (lambda p, s: td0(None, s, 0.1), TypeError, "problem must be a TDProblem: got NoneType"),
        (lambda p, s: td0_accelerated(p, s, 0.1), TypeError, "steps must be a StepSizes"),
        (lambda p, s: td0_accelerated(p, s, sgd(0.1)), ValueError, "rule for Algorithm 1: got sgd"),
        (lambda p, s: decaying(0), ValueError, r"scale must lie in \(0, inf\): got 0"),
    ],
)
def test_bad_input_is_refused(call, error, text):
    problem = grid_problem()
    with pytest.raises(error, match=text):
        call(problem, draw(problem, 200))


def test_paths_that_the_chain_cannot_take_are_refused() -> None:
    grid = GridWorld(4, goal="absorbing")
    problem = TDProblem.from_gridworld(grid, fourier_features(4), law="episode")
    paths = problem.sample_episodes(5, rng=np.random.default_rng(0), replicates=3)
    jump = paths.copy()
    jump[2, 1, 4] = 15 if jump[2, 1, 3] in (0, 1, 4, 5) else 0
    for wrong in (jump, jump[2:3, 1:2, 3:5], paths.transpose(2, 1, 0)):
        with pytest.raises(ValueError, match="which has probability 0"):
            td0(problem, wrong, 0.1)
        with pytest.raises(ValueError, match="which has probability 0"):
            problem.sampled_sums(wrong)
    one_k = td0(problem, paths, lambda k: 0.1 if k < 3 else 0.05)
    many = td0(problem, paths, lambda k: np.where(k < 3, 0.1, 0.05))
    assert one_k.theta.tolist() == many.theta.tolist()


# The expectation over all runs


def small_problem(seed, terminal):
    """Three states, two features, every transition possible with a reward of its own."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(3), size=3)
    P[rng.integers(3), rng.integers(1, 3)] = 0.0  # one transition is impossible
    return TDProblem(
        P / P.sum(axis=1, keepdims=True),
        rng.normal(size=3),
        rng.normal(size=(3, 2)),
        0.8,
        length=3,
        terminal=terminal,
        arrival_reward=rng.normal(size=3),
    )


def all_runs(problem, episodes):
    """Every sequence of episodes, shape (episodes, N, length + 1), and its probability, (N,)."""
    n, length = problem.n_states, problem.length
    later = np.array(list(itertools.product(range(n), repeat=length)))
    paths = np.insert(later, 0, problem.start, axis=1)
    P = problem.transition.toarray()
    probability = P[paths[:, :-1], paths[:, 1:]].prod(axis=1)
    paths, probability = paths[probability > 0], probability[probability > 0]
    choice = np.array(list(itertools.product(range(len(paths)), repeat=episodes)))
    return paths[choice].swapaxes(0, 1), probability[choice].prod(axis=1)


AVERAGED = StepSizes("averaged", PAPER.alpha, np.ones_like, PAPER.gamma, mu=1, algorithm="convex")


@pytest.mark.parametrize("terminal", [(), [1], [2]])
@pytest.mark.parametrize("rule", [0.3, decaying(0.5), PAPER.eta, PAPER, AVERAGED, theorem2(1, 0.1)])
def test_expected_run_is_the_mean_over_all_runs(rule, terminal):
    problem = small_problem(sum(terminal), terminal)
    states, probability = all_runs(problem, 2)
    assert probability.sum() == pytest.approx(1, abs=1e-12)
    convex = isinstance(rule, StepSizes)
    for theta0 in (None, [3.0, -1.0]):
        method = td0_accelerated if convex else td0
        run = method(problem, states, rule, theta0=theta0, record=1, compose=False)
        exact = expected_run(problem, 2, rule, theta0=theta0, record=1)
        assert exact.method == run.method
        assert exact.episodes.tolist() == [0, 1, 2]
        np.testing.assert_allclose(exact.neu, problem.neu(run.theta) @ probability, rtol=1e-11)
        mean = np.einsum("erd,r->ed", run.theta, probability)
        np.testing.assert_allclose(exact.theta, mean, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("goal", ["absorbing", "reset"])
def test_expected_run_lies_in_the_band_of_a_simulation(goal):
    problem = grid_problem(4, goal=goal)
    states = draw(problem, 30, replicates=1500)
    for method, rule in ((td0, PAPER.eta), (td0_accelerated, PAPER), (td0_accelerated, AVERAGED)):
        exact = expected_run(problem, 30, rule)
        neu = problem.neu(method(problem, states, rule).theta)[1:]
        band = neu.std(axis=1, ddof=1) / np.sqrt(neu.shape[1])
        assert (np.abs(neu.mean(axis=1) - exact.neu[1:]) < 4 * band).all()
        assert (band < 0.1 * exact.neu[1:]).all()  # else the line above could not fail


def test_expected_run_without_noise_and_its_refusals():
    """A cycle has one run: the expectation is that run, and all of it is bias."""
    cycle = TDProblem([[0, 1], [1, 0]], [1, 0], [[1.0, 0.0], [1.0, 1.0]], 0.5, length=5)
    states = cycle.sample_episodes(40, rng=np.random.default_rng(0), replicates=1)
    exact, run = (
        expected_run(cycle, 40, PAPER, record=1),
        td0_accelerated(cycle, states, PAPER, record=1),
    )
    np.testing.assert_allclose(exact.neu, cycle.neu(run.theta)[:, 0], rtol=1e-9)
    np.testing.assert_allclose(exact.neu, cycle.neu(exact.theta), rtol=1e-9)
    with pytest.raises(Diverged, match="second moment is not finite after episode") as stopped:
        expected_run(cycle, 400, 30.0, record=1)
    recorded = stopped.value.recorded
    assert len(recorded.neu) == stopped.value.k
    assert np.isfinite(recorded.neu).all()
    with pytest.raises(ValueError, match="at least one episode"):
        expected_run(cycle, 0, 0.1)
    with pytest.raises(ValueError, match="length is missing"):
        expected_run(TDProblem([[0, 1], [1, 0]], [1, 0], np.eye(2), 0.5), 3, 0.1)
    with pytest.raises(ValueError, match="A is singular"):
        expected_run(TDProblem([[0, 1], [1, 0]], [1, 0], np.ones((2, 2)), 0.5, length=2), 3, 0.1)
