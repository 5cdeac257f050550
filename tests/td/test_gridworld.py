"""The grid against matrices written down by hand, dense linear algebra and simulation."""

import itertools
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import amgd  # noqa: F401 - registers the environment
from amgd.markov import MarkovChain
from amgd.td import GridWorld, GridWorldEnv

GOALS = ("ordinary", "absorbing", "reset")
REWARDS = ("step", "goal")
KINDS = list(itertools.product(GOALS, REWARDS))


def by_hand(n, goal, reward, state, action):
    """Next state and reward of one action, from the words of the paper."""
    target = n * n - 1
    row, column = divmod(state, n)
    if state == target and goal == "absorbing":
        return target, 0.0
    if state == target and goal == "reset":
        after = 0
    else:
        down, right = {0: (-1, 0), 1: (1, 0), 2: (0, -1), 3: (0, 1)}[action]
        if 0 <= row + down < n and 0 <= column + right < n:
            row, column = row + down, column + right
        after = row * n + column
    if reward == "goal":
        return after, 1.0 if after == target else 0.0
    return after, 0.0 if state == target else -1.0


def dense_system(n, goal, reward, policy):
    P, r = np.zeros((n * n, n * n)), np.zeros(n * n)
    for state in range(n * n):
        for action in range(4):
            after, earned = by_hand(n, goal, reward, state, action)
            P[state, after] += policy[state, action]
            r[state] += policy[state, action] * earned
    return P, r


def random_policy(n, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(4), size=n * n)


# Exact quantities


@pytest.mark.parametrize(("goal", "reward"), KINDS)
@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_everything_equals_dense_linear_algebra(n, goal, reward, seed):
    policy = np.full((n * n, 4), 0.25) if seed is None else random_policy(n, seed)
    P, r = dense_system(n, goal, reward, policy)
    grid = GridWorld(n, goal=goal, reward=reward, policy=None if seed is None else policy)
    np.testing.assert_allclose(grid.transition, P, rtol=0, atol=1e-15)
    np.testing.assert_allclose(grid.transition_sparse.toarray(), P, rtol=0, atol=1e-15)
    np.testing.assert_allclose(grid.reward, r, rtol=0, atol=1e-15)

    balance = np.vstack([P.T - np.eye(n * n), np.ones(n * n)])
    pi = np.linalg.lstsq(balance, np.eye(n * n + 1)[-1], rcond=None)[0]
    np.testing.assert_allclose(grid.stationary, pi, rtol=0, atol=1e-12)

    for discount in (0.0, 0.5, 0.99):
        V = np.linalg.solve(np.eye(n * n) - discount * P, r)
        np.testing.assert_allclose(grid.value(discount), V, rtol=1e-10, atol=1e-12)
    for length in (1, 2, 17):
        laws = [np.linalg.matrix_power(P, t)[0] for t in range(length)]
        mean = np.mean(laws, axis=0)
        np.testing.assert_allclose(grid.episode_occupancy(length), mean, rtol=0, atol=1e-14)


def test_discount_zero_is_the_reward():
    grid = GridWorld(5, goal="reset", reward="goal")
    np.testing.assert_array_equal(grid.value(0), grid.reward)


@pytest.mark.parametrize("reward", REWARDS)
def test_an_absorbing_goal_has_value_zero(reward):
    assert GridWorld(7, goal="absorbing", reward=reward).value(0.99)[-1] == 0.0


@pytest.mark.parametrize(
    ("goal", "doubly", "reversible", "irreducible"),
    [
        ("ordinary", True, True, True),
        ("absorbing", False, False, False),
        ("reset", False, False, True),
    ],
)
@pytest.mark.parametrize("n", [2, 3, 10])
def test_what_the_theorems_assume(n, goal, doubly, reversible, irreducible):
    grid = GridWorld(n, goal=goal)
    assert grid.is_doubly_stochastic is doubly
    assert grid.is_reversible is reversible
    assert grid.is_irreducible is irreducible
    if goal == "ordinary":
        np.testing.assert_array_equal(grid.transition, grid.transition.T)
        np.testing.assert_array_equal(grid.stationary, np.full(n * n, 1 / n**2))


def test_a_doubly_stochastic_grid_need_not_be_reversible():
    # 2 x 2 cells walked round clockwise
    grid = GridWorld(2, policy=np.eye(4)[[3, 1, 0, 2]])
    assert (grid.is_doubly_stochastic, grid.is_reversible) == (True, False)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("n", [2, 3, 4, 7, 20, 60])
@pytest.mark.parametrize("seed", [None, 0])
def test_the_chain_agrees(goal, n, seed):
    grid = GridWorld(n, goal=goal, policy=None if seed is None else random_policy(n, seed))
    chain = MarkovChain(grid.transition_sparse)  # not the grid's own
    for name in ("is_reversible", "is_irreducible"):
        assert getattr(grid, name) is getattr(grid.chain, name) is getattr(chain, name)
    assert grid.is_reversible is (goal == "ordinary" and seed is None)
    np.testing.assert_array_equal(grid.stationary, grid.chain.stationary)
    np.testing.assert_allclose(chain.stationary, grid.stationary, rtol=1e-13)
    if n <= 20:
        dense = MarkovChain(grid.transition)
        assert dense.is_reversible is grid.is_reversible
        np.testing.assert_allclose(dense.stationary, grid.stationary, rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "column_sums", "mass", "occupancy", "reached", "cycle"),
    [
        (10, (0.5, 2.0), (0.166, 2.00), (0.25, 6.0), 0.0645, 603),
        (50, (0.5, 2.0), (0.099, 2.00), (1e-4, 40.1), 4.7e-6, 25293),
    ],
)
def test_numbers_of_the_text(n, column_sums, mass, occupancy, reached, cycle):
    N, length = n * n, 10 * n
    ordinary, absorbing, reset = (GridWorld(n, goal=goal) for goal in GOALS)
    sums = reset.transition_sparse.sum(axis=0)
    assert (sums.min(), sums.max()) == column_sums
    sums = absorbing.transition_sparse.sum(axis=0)
    assert (sums.min(), sums.max()) == (0.75, 1.5)
    pi, D = N * reset.stationary, N * ordinary.episode_occupancy(length)
    assert (pi.min(), pi.max()) == pytest.approx(mass, rel=5e-3)
    assert (D.min(), D.max()) == pytest.approx(occupancy, rel=5e-3)
    # the mass at the goal after `length` steps, from two averages
    longer, shorter = absorbing.episode_occupancy(length + 1), absorbing.episode_occupancy(length)
    assert longer[-1] * (length + 1) - shorter[-1] * length == pytest.approx(reached, rel=1e-2)
    assert 1 / reset.stationary[-1] == pytest.approx(cycle, abs=0.6)


@pytest.mark.parametrize("goal", GOALS)
def test_a_grid_of_40000_states(goal):
    grid = GridWorld(200, goal=goal)
    P = grid.transition_sparse
    assert P.nnz <= 4 * grid.n_states
    np.testing.assert_allclose(grid.stationary @ P, grid.stationary, rtol=1e-14)
    assert grid.is_reversible is grid.chain.is_reversible is (goal == "ordinary")
    assert grid.chain.is_aperiodic
    path = grid.chain.sample(500, rng=np.random.default_rng(0), replicates=20, initial=0)
    assert (P[path[:, :-1].ravel(), path[:, 1:].ravel()] > 0).all()
    V = grid.value(0.9)
    np.testing.assert_allclose(V, grid.reward + 0.9 * (P @ V), atol=1e-10)
    assert grid.episode_occupancy(2000).sum() == pytest.approx(1.0)
    assert grid.is_doubly_stochastic == (goal == "ordinary")
    with pytest.raises(ValueError, match=r"40000 states .*at most 2500.*use transition_sparse"):
        grid.transition  # noqa: B018


def test_what_is_handed_out_cannot_be_changed():
    grid = GridWorld(3)
    for array in (grid.transition, grid.reward, grid.stationary, grid.policy, grid.successors):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_policy_is_copied():
    policy = np.full((4, 4), 0.25)
    grid = GridWorld(2, policy=policy)
    policy[:] = 0
    assert grid.policy.sum() == 4


# Simulation


def walks(grid, episodes, length, seed):
    """Walks of `length` steps from the start, shape (episodes, length + 1)."""
    rng = np.random.default_rng(seed)
    return grid.chain.sample(length + 1, rng=rng, replicates=episodes, initial=grid.start)


@pytest.mark.parametrize(("goal", "reward"), KINDS)
def test_simulated_returns_and_occupancy(goal, reward):
    n, discount, length, episodes = 4, 0.8, 80, 20_000
    grid = GridWorld(n, goal=goal, reward=reward, policy=random_policy(n, 3))
    states = walks(grid, episodes, length, seed=8)
    earned = grid.departure_reward[states[:, :-1]] + grid.arrival_reward[states[:, 1:]]
    returns = earned @ discount ** np.arange(length)  # the rest is below 0.8^80 / 0.2 = 9e-8
    error = returns.std(ddof=1) / np.sqrt(episodes)
    assert abs(returns.mean() - grid.value(discount)[0]) < 4 * error

    occupancy = grid.episode_occupancy(length)
    for state in (0, 5, n * n - 1):
        share = (states[:, :-1] == state).mean(axis=1)
        error = share.std(ddof=1) / np.sqrt(episodes)
        assert abs(share.mean() - occupancy[state]) < 4 * error
    # only transitions of positive probability occur
    assert (grid.transition[states[:, :-1], states[:, 1:]] > 0).all()


def test_long_run_frequencies_follow_the_stationary_law():
    grid = GridWorld(3, goal="reset")
    states = walks(grid, 400, 2000, seed=2)[:, 500:]
    share = np.stack([(states == s).mean(axis=1) for s in range(9)])
    error = share.std(axis=1, ddof=1) / np.sqrt(400)
    assert (np.abs(share.mean(axis=1) - grid.stationary) < 4 * error).all()


# Bad input


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"n": 1}, ValueError, "n must be at least 2: got 1"),
        ({"n": 0}, ValueError, "got 0"),
        ({"n": -3}, ValueError, "got -3"),
        ({"n": 2.0}, TypeError, r"n must be an integer: got 2\.0"),
        ({"n": True}, TypeError, "got True"),
        ({"n": "10"}, TypeError, "got '10'"),
        ({"n": 3, "goal": "end"}, ValueError, "goal must be one of .*'ordinary'.*: got 'end'"),
        ({"n": 3, "goal": None}, TypeError, "goal must be one of .*: got None"),
        (
            {"n": 3, "reward": "big"},
            ValueError,
            "reward must be one of 'step', 'goal'.*: got 'big'",
        ),
        (
            {"n": 2, "policy": [0.25] * 4},
            ValueError,
            r"policy must have shape \(4, 4\): got \(4,\)",
        ),
        ({"n": 2, "policy": np.full((4, 4), 0.2)}, ValueError, "row 0 sums to 0.8 .*divide"),
        ({"n": 2, "policy": np.full((9, 4), 0.25)}, ValueError, r"got \(9, 4\)"),
        (
            {"n": 2, "policy": [[2, -1, 0, 0]] * 4},
            ValueError,
            r"policy must be non-negative: entry \(0, 1\) is -1",
        ),
        ({"n": 2, "policy": [[np.nan, 1, 0, 0]] * 4}, ValueError, r"finite: entry \(0, 0\) is nan"),
        ({"n": 2, "policy": [[np.inf, 1, 0, 0]] * 4}, ValueError, r"finite: entry \(0, 0\) is inf"),
        ({"n": 2, "policy": np.eye(4, dtype=bool)}, TypeError, "dtype bool"),
        ({"n": 2, "policy": [["a"] * 4] * 4}, TypeError, "must hold real numbers: got dtype <U1"),
        (
            {"n": 2, "policy": np.eye(4) * 1j},
            TypeError,
            "must hold real numbers: got dtype complex",
        ),
    ],
)
def test_a_bad_grid_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        GridWorld(**arguments)


@pytest.mark.parametrize("discount", [-0.1, 1, 1.0, 2, np.nan, np.inf])
def test_a_discount_outside_is_refused(discount):
    with pytest.raises(ValueError, match=r"discount must lie in \[0, 1\): got .*; with discount 1"):
        GridWorld(3).value(discount)


@pytest.mark.parametrize("discount", [True, "0.9", None, [0.9]])
def test_a_discount_of_the_wrong_type_is_refused(discount):
    with pytest.raises(TypeError, match="discount must be a real number"):
        GridWorld(3).value(discount)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.episode_occupancy(0), ValueError, "length must be at least 1: got 0"),
        (lambda g: g.episode_occupancy(1.5), TypeError, "length must be an integer"),
    ],
)
def test_bad_calls_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(GridWorld(3))


def test_a_law_that_is_not_unique_is_refused():
    always_up = GridWorld(3, policy=[[1, 0, 0, 0]] * 9)
    with pytest.raises(ValueError, match=r"not unique: the chain has 3 recurrent classes"):
        always_up.stationary  # noqa: B018


# Environment


@pytest.mark.parametrize(("goal", "reward"), KINDS)
@pytest.mark.parametrize("n", [2, 5])
def test_the_environment_is_the_transition_matrix(n, goal, reward):
    grid = GridWorld(n, goal=goal, reward=reward)
    env = gymnasium.make("amgd/GridWorld-v0", n=n, goal=goal, reward=reward).unwrapped
    P, r = np.zeros_like(grid.transition), np.zeros(n * n)
    for state in range(n * n):
        for action in range(4):
            assert env.reset(options={"state": state})[0] == state
            after, earned, terminated, truncated, info = env.step(action)
            assert (after, earned) == by_hand(n, goal, reward, state, action)
            assert terminated is (goal == "absorbing" and after == n * n - 1)
            assert truncated is False
            assert info == {"row": after // n, "column": after % n}
            P[state, after] += 0.25
            r[state] += 0.25 * earned
    np.testing.assert_array_equal(P, grid.transition)
    np.testing.assert_allclose(r, grid.reward, atol=1e-15)


@pytest.mark.parametrize(("goal", "reward"), KINDS)
@pytest.mark.parametrize("n", [2, 10])
@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_gymnasium_accepts_the_environment(n, goal, reward, mode):
    arguments = {"n": n, "goal": goal, "reward": reward, "render_mode": mode}
    check_env(gymnasium.make("amgd/GridWorld-v0", **arguments).unwrapped)


def test_defaults_of_grid_and_environment_agree():
    env = gymnasium.make("amgd/GridWorld-v0").unwrapped
    assert (env.grid.n, env.grid.goal, env.grid.reward_kind) == (10, "ordinary", "step")
    assert (GridWorld(10).goal, GridWorld(10).reward_kind) == ("ordinary", "step")


@pytest.mark.parametrize(("limit", "steps"), [(None, 1000), (30, 30), (2000, 2000)])
def test_the_time_limit_is_the_one_that_is_asked_for(limit, steps):
    env = gymnasium.make("amgd/GridWorld-v0", n=3, max_episode_steps=limit)
    env.reset(seed=0)
    for t in range(1, steps + 1):
        truncated = env.step(t % 4)[3]
        assert truncated is (t == steps)


def test_vector_and_pickle():
    envs = gymnasium.make_vec("amgd/GridWorld-v0", num_envs=3, n=3)
    observation, _ = envs.reset(seed=1)
    np.testing.assert_array_equal(observation, 0)
    np.testing.assert_array_equal(envs.step(np.array([1, 3, 0]))[0], [3, 1, 0])
    env = GridWorldEnv(4, goal="absorbing")
    env.reset()
    env.step(3)
    assert pickle.loads(pickle.dumps(env)).step(1)[0] == 5


def test_ansi_rendering():
    env = gymnasium.make("amgd/GridWorld-v0", n=3, render_mode="ansi")
    env.reset()
    assert env.render() == "A . .\n. . .\n. . G\n"
    env.step(1)
    assert env.render() == "S . .\nA . .\n. . G\n"


@pytest.mark.parametrize("n", [2, 7, 100])
def test_image_rendering(n):
    env = gymnasium.make("amgd/GridWorld-v0", n=n, render_mode="rgb_array")
    env.reset()
    env.step(3)
    image = env.render()
    side = image.shape[0] // n
    assert image.shape == (n * side, n * side, 3)
    assert image.dtype == np.uint8
    centre = image[side // 2 :: side, side // 2 :: side]
    assert centre[0, 1].tolist() == [213, 94, 0]  # the agent, and nowhere else
    assert (centre == [213, 94, 0]).all(axis=2).sum() == 1
    assert centre[0, 0].tolist() == [86, 180, 233]
    assert centre[-1, -1].tolist() == [0, 158, 115]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda e: e.step(0), gymnasium.error.ResetNeeded, "step was called before reset"),
        (lambda e: e.render(), gymnasium.error.ResetNeeded, "render was called before reset"),
        (lambda e: (e.reset(), e.step(4)), ValueError, "action is unknown: got 4 .*0 up, 1 down"),
        (lambda e: (e.reset(), e.step(-1)), ValueError, "got -1"),
        (lambda e: (e.reset(), e.step(1.0)), ValueError, r"got 1\.0"),
        (lambda e: (e.reset(), e.step(None)), ValueError, "got None"),
        (lambda e: e.reset(options={"state": 9}), ValueError, r"must lie in 0\.\.8: got 9"),
        (lambda e: e.reset(options={"state": -1}), ValueError, "got -1"),
        (lambda e: e.reset(options={"state": 0.5}), TypeError, "got 0.5"),
    ],
)
def test_bad_use_of_the_environment_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(GridWorldEnv(3, render_mode="ansi"))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"n": 1}, "n must be at least 2"), ({"goal": "x"}, "goal"), ({"reward": "x"}, "reward")],
)
def test_bad_arguments_of_the_environment_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        gymnasium.make("amgd/GridWorld-v0", **arguments)


def test_an_unknown_render_mode_is_refused():
    with pytest.raises(ValueError, match=r"render_mode must be one of .*: got 'human'"):
        GridWorldEnv(render_mode="human")


def test_render_without_a_mode_warns():
    env = GridWorldEnv(3)
    env.reset()
    with pytest.warns(UserWarning, match="without a render mode"):
        assert env.render() is None


def test_import_registers_without_heavy_modules():
    code = (
        "import sys, amgd, gymnasium;"
        "assert 'amgd/GridWorld-v0' in gymnasium.registry;"
        "heavy = {'torch', 'scipy', 'matplotlib', 'mujoco'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "import importlib; importlib.reload(amgd)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
