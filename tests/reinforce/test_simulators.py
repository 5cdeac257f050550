"""Simulators against Gymnasium's environments, step for step, and what the interface promises."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium import spaces

from amgd.reinforce import make_simulator
from amgd.reinforce.simulators import GymnasiumSimulator, Robot

ROBOTS = {
    "Swimmer-v5": ("Swimmer-v5", {}),
    "Walker2d-v5": ("Walker2d-v5", {}),
    "HalfCheetah-v5": ("HalfCheetah-v5", {}),
    "Ant-v5": ("Ant-v5", {}),
    "Ant-v4, 27": ("Ant-v4", {}),
    "Ant-v4, 111": ("Ant-v4", {"use_contact_forces": True}),
}
CLASSIC = ["CartPole-v0", "CartPole-v1", "Acrobot-v1"]


def rng(seed=0):
    return np.random.default_rng(seed)


def simulator_of(label, **options):
    name, more = ROBOTS.get(label, (label, {}))
    return make_simulator(name, **more, **options)


def environment(label):
    """Gymnasium's environment with its time limit, made without its notices on versions."""
    name, options = ROBOTS.get(label, (label, {}))
    mujoco.set_mju_user_warning(lambda message: None)  # else a log file in the working directory
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make(name, disable_env_checker=True, **options)
    finally:
        mujoco.set_mju_user_warning(None)


def random_actions(simulator, n, generator):
    if simulator.action_kind == "discrete":
        return generator.integers(simulator.action_size, size=n)
    return generator.uniform(-1.5, 1.5, size=(n, simulator.action_size))  # some need clipping


# --- classic control ------------------------------------------------------------------------------
def left_or_right(simulator, observations, generator):
    """Balance the pole, pump the acrobot; one action in ten at random."""
    if simulator.action_size == 2:
        wise = (observations @ [0.05, 0.2, 1.0, 0.7] > 0).astype(int)
    else:
        wise = np.where(observations[:, 4] > 0, 0, 2)
    n = len(observations)
    return np.where(generator.random(n) < 0.1, random_actions(simulator, n, generator), wise)


@pytest.mark.parametrize(
    ("name", "n", "skilled", "expected"),
    [
        ("CartPole-v0", 8, False, {"terminated"}),
        ("CartPole-v0", 8, True, {"truncated"}),
        ("CartPole-v1", 3, True, {"truncated"}),
        ("Acrobot-v1", 3, False, {"terminated", "truncated"}),
        ("Acrobot-v1", 3, True, {"terminated"}),
    ],
)
def test_classic_episodes_equal_gymnasiums_to_the_last_bit(name, n, skilled, expected):
    simulator = make_simulator(name)
    rows = simulator.initial(n, rng=rng(3))
    observations = simulator.start(rows)
    envs = [environment(name) for _ in range(n)]
    generator = rng(4)
    single = np.float32 if name == "Acrobot-v1" else np.float64
    for env, row in zip(envs, rows, strict=True):
        env.reset(seed=0)
        env.unwrapped.state = row.astype(single)
    ends = set()
    while simulator.n_running:
        if skilled:
            actions = left_or_right(simulator, observations, generator)
        else:
            actions = random_actions(simulator, len(envs), generator)
        step = simulator.step(actions)
        for i, env in enumerate(envs):
            observation, reward, terminated, truncated, _ = env.step(actions[i])
            assert step.observations[i].dtype == observation.dtype
            np.testing.assert_array_equal(step.observations[i], observation)
            np.testing.assert_array_equal(simulator._state[:, i], env.unwrapped.state)
            assert step.rewards[i] == reward
            assert step.terminated[i] == terminated
            assert step.truncated[i] == truncated
            ends |= {"terminated"} if terminated else {"truncated"} if truncated else set()
        keep = ~(step.terminated | step.truncated)
        simulator.compact(keep)
        envs = [env for env, kept in zip(envs, keep, strict=True) if kept]
        observations = step.observations[keep]
    assert ends == expected  # so both kinds of end have been compared


@pytest.mark.parametrize("label", [*CLASSIC, *ROBOTS])
def test_reset_draws_what_gymnasium_draws(label):
    env, simulator = environment(label), simulator_of(label)
    for seed in range(3):
        env.unwrapped.np_random = rng(seed)
        wanted, _ = env.reset()
        got = simulator.reset(1, rng=rng(seed))
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got[0], wanted)


@pytest.mark.parametrize("label", [*CLASSIC, *ROBOTS])
def test_initial_rows_are_independent(label):
    rows = simulator_of(label).initial(500, rng=rng())
    assert len(np.unique(rows)) == rows.size
    correlation = np.corrcoef(rows.T)
    assert np.abs(correlation - np.eye(len(correlation))).max() < 5 / np.sqrt(500)


# --- robots ---------------------------------------------------------------------------------------
TERMS = {
    "Swimmer-v5": {"reward_forward", "reward_ctrl"},
    "HalfCheetah-v5": {"reward_forward", "reward_ctrl"},
    "Walker2d-v5": {"reward_forward", "reward_ctrl", "reward_survive"},
    "Ant-v5": {"reward_forward", "reward_ctrl", "reward_survive", "reward_contact"},
    "Ant-v4, 27": {"reward_forward", "reward_ctrl", "reward_survive"},
    "Ant-v4, 111": {"reward_forward", "reward_ctrl", "reward_survive", "reward_contact"},
}


@pytest.mark.parametrize("label", ROBOTS)
def test_robots_equal_gymnasiums(label):
    """200 random steps in all from the same states, over as many episodes as that takes."""
    simulator, generator = simulator_of(label), rng(5)
    n_steps = n_ends = 0
    touched = False
    while n_steps < 200:
        rows = simulator.initial(2, rng=generator)
        simulator.start(rows)
        envs = [environment(label) for _ in rows]
        for env, row in zip(envs, rows, strict=True):
            env.reset(seed=0)
            robot = env.unwrapped
            mujoco.mj_resetData(robot.model, robot.data)  # the solver's last solution too
            robot.set_state(*np.split(row, [robot.model.nq]))
        while simulator.n_running and n_steps < 200:
            raw = random_actions(simulator, len(envs), generator)
            step = simulator.step(raw)
            assert set(simulator.terms) == TERMS[label]
            np.testing.assert_allclose(sum(simulator.terms.values()), step.rewards, atol=1e-12)
            for i, env in enumerate(envs):
                observation, reward, terminated, _, info = env.step(np.clip(raw[i], -1, 1))
                data = env.unwrapped.data
                np.testing.assert_array_equal(simulator.positions[i], data.qpos)
                np.testing.assert_array_equal(simulator.velocities[i], data.qvel)
                np.testing.assert_allclose(step.observations[i], observation, rtol=0, atol=1e-12)
                assert step.rewards[i] == pytest.approx(reward, rel=0, abs=1e-12)
                assert step.terminated[i] == terminated
                if label == "Ant-v4, 111":
                    # Gymnasium files the contact cost of v4 under the name of the control cost
                    info["reward_contact"] = info["reward_ctrl"]
                    info["reward_ctrl"] = -0.5 * np.square(np.clip(raw[i], -1, 1)).sum()
                    touched |= bool(step.observations[i, 27:].any())
                if label == "Ant-v5":
                    touched |= bool(step.observations[i, 27:].any())
                for term, values in simulator.terms.items():
                    assert values[i] == pytest.approx(info[term], rel=0, abs=1e-12), term
                n_steps += 1
            keep = ~step.terminated
            n_ends += int((~keep).sum())
            simulator.compact(keep)
            envs = [env for env, kept in zip(envs, keep, strict=True) if kept]
    assert touched == (label in ("Ant-v5", "Ant-v4, 111"))
    if label == "Walker2d-v5":
        assert n_ends >= 3


@pytest.mark.parametrize("label", ["Ant-v5", "Ant-v4, 27", "Ant-v4, 111"])
@pytest.mark.parametrize("height", [0.1, 0.19, 0.21, 0.99, 1.01, 1.5])
def test_an_ant_ends_where_gymnasiums_does(label, height):
    simulator, env = simulator_of(label), environment(label)
    row = simulator.initial(1, rng=rng())[0]
    row[2] = height
    simulator.start(row[None])
    env.reset(seed=0)
    mujoco.mj_resetData(env.unwrapped.model, env.unwrapped.data)
    env.unwrapped.set_state(*np.split(row, [15]))
    _, reward, terminated, _, info = env.step(np.zeros(8))
    step = simulator.step(np.zeros((1, 8)))
    assert step.terminated[0] == terminated
    assert step.rewards[0] == pytest.approx(reward, rel=0, abs=1e-12)
    assert simulator.terms["reward_survive"][0] == info["reward_survive"]
    if terminated:  # the dying step is rewarded in v4 alone
        assert info["reward_survive"] == (0.0 if label == "Ant-v5" else 1.0)


@pytest.mark.parametrize("label", ["Walker2d-v5", "Ant-v5", "Ant-v4, 111"])
def test_health_has_gymnasiums_limits(label):
    simulator, robot = simulator_of(label), environment(label).unwrapped
    rows = simulator.initial(1000, rng=rng())
    place, tilt = (1, 2) if label == "Walker2d-v5" else (2, 3)
    rows[:, place] = rng(1).choice([0.199, 0.2, 0.201, 0.799, 0.8, 0.801, 0.999, 1, 1.001, 2], 1000)
    rows[:, tilt] = rng(2).choice([-1.01, -1, -0.99, 0, 0.99, 1, 1.01], 1000)
    simulator.start(rows)
    wanted = []
    for row in rows:
        robot.data.qpos[:], robot.data.qvel[:] = np.split(row, [robot.model.nq])
        wanted.append(bool(robot.is_healthy))
    np.testing.assert_array_equal(simulator._healthy(), wanted)
    assert 0 < sum(wanted) < 1000


# The table of the versions in the book.
@pytest.mark.parametrize(
    ("label", "observations", "actions", "horizon", "dt"),
    [
        ("CartPole-v0", 4, 2, 200, None),
        ("CartPole-v1", 4, 2, 500, None),
        ("Acrobot-v1", 6, 3, 500, None),
        ("Swimmer-v5", 8, 2, 1000, 0.04),
        ("Walker2d-v5", 17, 6, 1000, 0.008),
        ("HalfCheetah-v5", 17, 6, 1000, 0.05),
        ("Ant-v5", 105, 8, 1000, 0.05),
        ("Ant-v4, 27", 27, 8, 1000, 0.05),
        ("Ant-v4, 111", 111, 8, 1000, 0.05),
    ],
)
def test_table_of_versions(label, observations, actions, horizon, dt):
    simulator, env = simulator_of(label), environment(label)
    assert simulator.observation_size == observations == env.observation_space.shape[0]
    assert simulator.action_size == actions
    assert simulator.horizon == horizon == env.spec.max_episode_steps
    assert simulator.reset(2, rng=rng()).shape == (2, observations)
    if isinstance(env.action_space, spaces.Discrete):
        assert simulator.action_kind == "discrete"
        assert env.action_space.n == actions
    else:
        assert simulator.action_kind == "continuous"
        np.testing.assert_array_equal(simulator.low, env.action_space.low)
        np.testing.assert_array_equal(simulator.high, env.action_space.high)
        assert simulator.dt == pytest.approx(dt) == env.unwrapped.dt


@pytest.mark.parametrize("label", ["Walker2d-v5", "Ant-v5"])
def test_the_number_of_threads_changes_nothing(label):
    def run(threads):
        simulator, generator = simulator_of(label, threads=threads), rng(2)
        simulator.reset(5, rng=generator)
        history = []
        for _ in range(30):
            step = simulator.step(random_actions(simulator, simulator.n_running, generator))
            history.append(np.concatenate([*step.observations, step.rewards]))
            simulator.compact(~step.terminated)
            if not simulator.n_running:
                break
        return history

    one = run(1)
    for threads in (2, 3):
        for wanted, got in zip(one, run(threads), strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("label", [*CLASSIC, *ROBOTS])
def test_a_dropped_episode_leaves_the_others_as_they_were(label):
    whole, part = simulator_of(label), simulator_of(label)
    rows = whole.initial(4, rng=rng(1))
    whole.start(rows)
    part.start(rows)
    keep = np.array([True, False, True, True])
    for t in range(5):
        if t == 2:
            part.compact(keep)
            np.testing.assert_array_equal(part.episodes, [0, 2, 3])
        actions = random_actions(whole, 4, rng(t))
        wanted = whole.step(actions)
        got = part.step(actions if t < 2 else actions[keep])
        for a, b in zip(wanted, got, strict=True):
            np.testing.assert_array_equal(a if t < 2 else a[keep], b)


@pytest.mark.parametrize("label", [*CLASSIC, *ROBOTS])
def test_a_saved_state_goes_on_to_the_last_bit(label):
    simulator, generator = simulator_of(label), rng(7)
    simulator.reset(3, rng=generator)

    def run(simulator, seed, steps):
        generator = rng(seed)
        return [
            np.concatenate([*step.observations, step.rewards])
            for step in (
                simulator.step(random_actions(simulator, 2, generator)) for _ in range(steps)
            )
        ]

    simulator.compact(np.array([True, False, True]))
    run(simulator, 1, 5)
    state = simulator.get_state()
    wanted = run(simulator, 2, 3)
    fresh = simulator_of(label)
    observations = fresh.set_state(state)
    np.testing.assert_array_equal(observations, state["observations"])
    np.testing.assert_array_equal(fresh.episodes, [0, 2])
    assert fresh.elapsed == 5
    for again in (fresh, simulator):  # a new one, and the old one after more steps
        again.set_state(state)
        for a, b in zip(wanted, run(again, 2, 3), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("label", ["CartPole-v0", "HalfCheetah-v5"])
def test_observations_are_never_written_again(label):
    simulator = simulator_of(label)
    kept = [simulator.reset(2, rng=rng())]
    for t in range(4):
        kept.append(simulator.step(random_actions(simulator, 2, rng(t))).observations)
    copies = [array.copy() for array in kept]
    simulator.step(random_actions(simulator, 2, rng(9)))
    simulator.reset(2, rng=rng(1))
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    assert all((a != b).any() for a, b in zip(kept[1:], kept[:-1], strict=True))


def test_control_cost_is_that_of_the_clipped_action():
    simulator = make_simulator("HalfCheetah-v5")
    for size in (1.0, 5.0, np.inf):
        simulator.reset(1, rng=rng())
        simulator.step(np.full((1, 6), size))
        assert simulator.terms["reward_ctrl"][0] == pytest.approx(-0.6)


def test_walkers_feet_have_the_friction_of_v5():
    model = make_simulator("Walker2d-v5")._model
    assert model.geom("foot_geom").friction[0] == model.geom("foot_left_geom").friction[0] == 1.9


def test_diverging_physics_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of its own into the working directory
    simulator = make_simulator("Swimmer-v5")
    simulator.reset(3, rng=rng())
    simulator.compact(np.array([True, False, True]))
    simulator._qvel[2] = 1e300
    with pytest.raises(FloatingPointError, match=r"Swimmer-v5: .* episode 2 diverged at step 0"):
        simulator.step(np.zeros((2, 2)))
    simulator.reset(3, rng=rng())
    simulator.step(np.zeros((3, 2)))


def test_no_display_no_renderer_no_output():
    code = """
import sys
import numpy as np
from amgd.reinforce import make_simulator
for name in ("HalfCheetah-v5", "Ant-v5", "CartPole-v0"):
    simulator = make_simulator(name)
    simulator.reset(2, rng=np.random.default_rng(0))
    simulator.step(np.zeros((2, simulator.action_size)) if name != "CartPole-v0" else [0, 1])
loaded = [m for m in sys.modules if m.startswith(("gymnasium.envs.mujoco", "pygame", "imageio"))]
assert not loaded, loaded
"""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    env = {key: value for key, value in os.environ.items() if key not in hidden}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


# --- any other environment ------------------------------------------------------------------------
class Planned(gymnasium.Env):
    """Episodes whose end and faults are set by the options, for tests of the general case."""

    def __init__(self, length=3, fault=None, fault_at=1, start=0, cut=None):
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64)
        self.action_space = spaces.Discrete(3, start=start)
        self.length, self.fault, self.fault_at, self.cut = length, fault, fault_at, cut

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.array([self.np_random.random(), 0.0]), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.t += 1
        observation = np.array([float(action), self.t])
        reward = 1.0
        if self.t == self.fault_at + 1:
            reward = np.nan if self.fault == "reward" else reward
            observation[1] = np.inf if self.fault == "observation" else self.t
        return observation, reward, self.t == self.length, self.t == self.cut, {}


class Odd(Planned):
    def __init__(self, actions):
        super().__init__()
        self.action_space = actions


@pytest.fixture(autouse=True, scope="module")
def _registered():
    gymnasium.register("test/Planned-v0", Planned, max_episode_steps=10, disable_env_checker=True)
    gymnasium.register("test/Endless-v0", Planned, disable_env_checker=True)
    gymnasium.register("test/Odd-v0", Odd, disable_env_checker=True)
    yield
    for name in ("test/Planned-v0", "test/Endless-v0", "test/Odd-v0"):
        del gymnasium.registry[name]


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCar-v0", "amgd/GridWorld-v0"])
def test_other_environments_run_as_in_gymnasium(name):
    simulator, generator = make_simulator(name), rng(1)
    assert isinstance(simulator, GymnasiumSimulator)
    seeds = simulator.initial(3, rng=generator)
    observations = simulator.start(seeds)
    envs = [gymnasium.wrappers.FlattenObservation(gymnasium.make(name)) for _ in seeds]
    for env, seed, observation in zip(envs, seeds, observations, strict=True):
        np.testing.assert_array_equal(env.reset(seed=int(seed))[0], observation)
    space = envs[0].action_space
    ended = False
    while not ended:
        actions = random_actions(simulator, 3, generator)
        step = simulator.step(actions)
        for i, env in enumerate(envs):
            action = actions[i]
            if simulator.action_kind == "continuous":
                action = np.clip(action, space.low, space.high).astype(space.dtype)
            wanted = env.step(action)
            for a, b in zip(wanted, step, strict=False):
                np.testing.assert_array_equal(a, b[i])
        ended = bool((step.terminated | step.truncated).any()) or simulator.elapsed >= 250
    assert simulator.horizon == envs[0].spec.max_episode_steps
    simulator.close()


def test_options_go_to_gymnasium_and_actions_may_start_anywhere():
    simulator = make_simulator("test/Planned-v0", start=-1, length=5, cut=2)
    simulator.reset(3, rng=rng())
    step = simulator.step([0, 1, 2])
    np.testing.assert_array_equal(step.observations[:, 0], [-1, 0, 1])
    step = simulator.step([0, 1, 2])
    assert step.truncated.all()
    assert not step.terminated.any()
    swimmer = make_simulator("Swimmer-v5", ctrl_cost_weight=0.0)
    assert isinstance(swimmer, GymnasiumSimulator)
    assert isinstance(make_simulator("Swimmer-v5"), Robot)


def test_no_time_limit_means_no_horizon():
    assert make_simulator("test/Endless-v0").horizon is None
    assert make_simulator("test/Planned-v0").horizon == 10


@pytest.mark.parametrize("fault", ["reward", "observation"])
def test_non_finite_numbers_are_named(fault):
    simulator = make_simulator("test/Planned-v0", fault=fault)
    simulator.reset(2, rng=rng())
    simulator.compact(np.array([False, True]))
    simulator.step([0])
    match = rf"test/Planned-v0: every {fault} must be finite: episode 1 gave .* at step 2"
    with pytest.raises(FloatingPointError, match=match):
        simulator.step([0])


# --- bad input ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "options", "error", "match"),
    [
        ("Ant-v2", {}, ValueError, r"Ant-v5 replaces it \(105.*111 of Ant-v2"),
        ("Ant-v3", {}, ValueError, "Ant-v5 replaces it"),
        ("HalfCheetah-v2", {}, ValueError, "HalfCheetah-v5 replaces it"),
        ("Swimmer-v3", {}, ValueError, "Swimmer-v5 replaces it"),
        ("Walker2d-v2", {}, ValueError, "Walker2d-v5 replaces it"),
        ("Humanoid-v2", {}, ValueError, "Humanoid-v5 replaces it"),
        ("CartPol-v0", {}, ValueError, r"CartPole-v0, .*Ant-v4; did you mean CartPole-v0"),
        ("", {}, ValueError, "must be a registered environment"),
        (3, {}, TypeError, "name must be a string"),
        ("Ant-v5", {"use_contact_forces": True}, ValueError, "an option of Ant-v4"),
        ("Ant-v4", {"use_contact_forces": 1}, TypeError, "must be True or False"),
        ("Ant-v5", {"threads": 0}, ValueError, "threads must be at least 1"),
        ("CartPole-v0", {"threads": 2.0}, TypeError, "threads must be an integer"),
        ("test/Odd-v0", {"actions": spaces.MultiDiscrete([2, 2])}, ValueError, "one integer"),
        ("test/Odd-v0", {"actions": spaces.Box(-1, 1, (2, 2))}, ValueError, "one vector"),
    ],
)
def test_bad_names_and_options_are_refused(name, options, error, match):
    with pytest.raises(error, match=match):
        make_simulator(name, **options)


BAD_ACTIONS = {
    "CartPole-v0": [[0], [0, 1, 0], [0.0, 1.0], [0, 2], [-1, 0], [True, False], [[0], [1]]],
    "Swimmer-v5": [np.zeros(2), np.zeros((2, 3)), [["a", "b"]] * 2, np.full((2, 2), np.nan)],
    "test/Planned-v0": [[0], [3, 0], [0.5, 0.5]],
}


@pytest.mark.parametrize(
    ("name", "actions"), [(name, bad) for name, many in BAD_ACTIONS.items() for bad in many]
)
def test_bad_actions_are_refused(name, actions):
    simulator = make_simulator(name)
    simulator.reset(2, rng=rng())
    with pytest.raises(ValueError, match=rf"actions of {name} must"):
        simulator.step(actions)


@pytest.mark.parametrize("name", ["CartPole-v0", "Swimmer-v5", "test/Planned-v0"])
@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ValueError, "n must be at least 1", lambda s: s.reset(0, rng=rng())),
        (TypeError, "n must be an integer", lambda s: s.reset(True, rng=rng())),
        (TypeError, "n must be an integer", lambda s: s.reset(2.0, rng=rng())),
        (TypeError, "rng must be a Generator", lambda s: s.reset(2, rng=0)),
        (TypeError, "rng must be a Generator", lambda s: s.initial(2, rng=np.random)),
        ((ValueError, TypeError), "initial must", lambda s: s.start(np.zeros((2, 3)))),
        ((ValueError, TypeError), "initial must", lambda s: s.start([["a"]])),
        ((ValueError, TypeError), "initial must", lambda s: s.start(np.full((2, 4), np.nan))),
        (RuntimeError, "no episode runs", lambda s: s.step([])),
        (ValueError, "keep must be a boolean mask", lambda s: s.compact([0, 1])),
        (ValueError, "keep must be a boolean mask", lambda s: s.compact([True])),
    ],
)
def test_bad_calls_are_refused(name, error, match, call):
    with pytest.raises(error, match=match):
        call(make_simulator(name))


def test_an_episode_that_is_over_is_not_stepped():
    simulator = make_simulator("test/Planned-v0", length=2)
    simulator.reset(3, rng=rng())
    simulator.step([0, 0, 0])
    simulator.step([0, 0, 0])
    with pytest.raises(
        RuntimeError, match=r"episodes \[0, 1, 2\] are over after 2 steps; .*compact"
    ):
        simulator.step([0, 0, 0])
    simulator.compact(np.zeros(3, dtype=bool))
    with pytest.raises(RuntimeError, match="no episode runs"):
        simulator.step(np.zeros(0, dtype=int))


def test_states_of_others_are_refused():
    simulator = make_simulator("CartPole-v0")
    simulator.reset(2, rng=rng())
    with pytest.raises(ValueError, match=r"one of CartPole-v0: got a simulator of Acrobot-v1"):
        make_simulator("Acrobot-v1").set_state(simulator.get_state())
    with pytest.raises(NotImplementedError, match="save between batches"):
        make_simulator("test/Planned-v0").get_state()
