"""Whole episodes: none dropped, none favoured, none made up, and the same however they are run."""

from __future__ import annotations

import threading
import time

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from amgd.reinforce import (
    GaussianPolicy,
    SoftmaxPolicy,
    collect_episodes,
    make_simulator,
    policy_for,
)
from amgd.reinforce.episodes import BLOCK, _parts


def rng(seed=0):
    return np.random.default_rng(seed)


class Seeded(gymnasium.Env):
    """An episode of 1 + seed % longest steps; observation (seed % longest, step), reward t + 1."""

    steps_taken = 0

    def __init__(self, longest=7, cut=None):
        self.observation_space = spaces.Box(0, np.inf, (2,), dtype=np.float64)
        self.action_space = spaces.Discrete(2)
        self.longest, self.cut = longest, cut

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.kind, self.t = seed % self.longest, 0
        return np.array([self.kind, 0.0]), {}

    def step(self, action):
        type(self).steps_taken += 1
        self.t += 1
        done = self.t == self.kind + 1
        assert self.t <= self.kind + 1
        return np.array([self.kind, self.t]), float(self.t), done, self.t == self.cut, {}


@pytest.fixture(autouse=True, scope="module")
def _registered():
    gymnasium.register("test/Seeded-v0", Seeded, max_episode_steps=100, disable_env_checker=True)
    gymnasium.register("test/Limitless-v0", Seeded, disable_env_checker=True)
    yield
    del gymnasium.registry["test/Seeded-v0"], gymnasium.registry["test/Limitless-v0"]


def one_by_one(policy, simulator, n, horizon, generator):
    """The same draws, one episode after the other: what the batch must give."""
    rows = simulator.initial(n, rng=generator)
    blocks = -(-horizon // BLOCK)
    noise = np.concatenate([policy.noise((BLOCK, n), rng=generator) for _ in range(blocks)])
    episodes = []
    for e in range(n):
        observation = simulator.start(rows[e : e + 1])
        path = {"observations": [], "actions": [], "rewards": []}
        for t in range(horizon):
            action = policy.act(observation, noise[t, e : e + 1])
            step = simulator.step(action)
            path["observations"].append(observation[0])
            path["actions"].append(action[0])
            path["rewards"].append(step.rewards[0])
            observation = step.observations
            if step.terminated[0] or step.truncated[0]:
                break
        path["terminated"], path["final"] = bool(step.terminated[0]), observation[0]
        episodes.append(path)
    return episodes


@pytest.mark.parametrize(
    ("name", "n", "horizon"),
    [
        ("CartPole-v0", 20, 200),
        ("CartPole-v0", 20, 12),
        ("Acrobot-v1", 3, 150),
        ("Walker2d-v5", 6, 100),
        ("Ant-v5", 3, 40),
        ("Swimmer-v5", 2, 20),
    ],
)
def test_a_batch_equals_its_episodes_run_one_by_one(name, n, horizon):
    simulator = make_simulator(name)
    policy = policy_for(simulator, (8,), rng=rng(1))
    batch = collect_episodes(policy, simulator, n, horizon=horizon, rng=rng(2))
    wanted = one_by_one(policy, simulator, n, horizon, rng(2))
    assert len(batch) == n
    for e, path in enumerate(wanted):
        steps = slice(*batch.offsets[e : e + 2])
        length = len(path["rewards"])
        assert batch.lengths[e] == length
        assert batch.terminated[e] == path["terminated"]
        assert batch.truncated[e] == (not path["terminated"])
        # Matrix products of other shapes may round otherwise: not bits, but close.
        for got, want in (
            (batch.observations[steps], path["observations"]),
            (batch.actions[steps], path["actions"]),
            (batch.rewards[steps], path["rewards"]),
            (batch.final_observations[e], path["final"]),
        ):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    if name == "CartPole-v0" and horizon == 12:
        assert 0 < batch.truncated.sum() < n


FIELDS = ("observations", "actions", "rewards", "lengths", "terminated", "final_observations")


def with_threads(threads, name, n, horizon, hidden=(8,), policy=None, **options):
    """Return a batch, the state of the generator after it, and the divisions that took place."""
    simulator = make_simulator(name, threads=threads, **options)
    policy = policy or policy_for(simulator, hidden, rng=rng(1))
    generator = rng(2)
    batch = collect_episodes(policy, simulator, n, horizon=horizon, rng=generator)
    assert simulator.n_running == 0
    return batch, generator.bit_generator.state, _parts(policy, simulator, n)[1]


def assert_equal_batches(one, other):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(other, field), getattr(one, field), field)


@pytest.mark.parametrize(
    ("name", "n", "horizon", "hidden", "cuts"),
    [
        ("Walker2d-v5", 5, 30, (8,), []),  # too few to be worth it
        ("Walker2d-v5", 16, 80, (8,), [8]),
        ("Walker2d-v5", 41, 80, (32, 32), [20]),
        ("Ant-v5", 20, 70, (128, 64, 32), [10]),
        ("HalfCheetah-v5", 25, 70, (32, 32), [12]),
        ("Swimmer-v5", 100, 20, (32, 32), [48]),
    ],
)
def test_threads_change_nothing(name, n, horizon, hidden, cuts):
    one, state, whole = with_threads(1, name, n, horizon, hidden)
    assert whole == []
    for threads in (2, 3):
        other, other_state, divided = with_threads(threads, name, n, horizon, hidden)
        assert divided == cuts
        assert_equal_batches(one, other)
        assert other_state == state


def test_the_last_episode_of_a_half_acts_as_one_of_several_or_alone():
    # One row times a matrix has other last bits than the same row among others.
    one, *_ = with_threads(1, "Walker2d-v5", 24, 80)
    halves = np.split(one.lengths, with_threads(2, "Walker2d-v5", 24, 80)[2])
    running = np.array([[(half > t).sum() for t in range(80)] for half in halves])
    assert ((running.min(axis=0) == 1) & (running.max(axis=0) > 1)).any()
    assert (running.sum(axis=0) == 1).any()
    for _ in range(5):  # whichever half comes first
        assert_equal_batches(one, with_threads(2, "Walker2d-v5", 24, 80)[0])


class Dividing(GaussianPolicy):
    """Adds to each action what a function of the observations says."""

    def __init__(self, added, size, actions):
        super().__init__((size, 4, actions), "free", rng=rng(1))
        self.added = added

    def act(self, observations, noise):
        return super().act(observations, noise) + self.added(observations)


def test_a_policy_that_gives_parts_other_bits_is_not_divided():
    policy = Dividing(lambda o: len(o) * 1e-15, 17, 6)
    one, *_ = with_threads(1, "Walker2d-v5", 20, 40, policy=policy)
    two, _, cuts = with_threads(2, "Walker2d-v5", 20, 40, policy=policy)
    assert cuts == []
    assert_equal_batches(one, two)


def test_the_first_failure_is_told_whatever_the_threads():
    def fail(observations):
        over = observations[:, 0] < 1.15  # a height
        if over.any() and observations[:, 0].min() > 0.8:
            raise FloatingPointError(f"row {np.flatnonzero(over)[0]} of {len(observations)}")
        return 0.0

    told = set()
    for threads in (1, 2, 3, 2, 2):
        simulator, policy = make_simulator("Walker2d-v5", threads=threads), Dividing(fail, 17, 6)
        assert bool(_parts(policy, simulator, 24)[1]) == (threads > 1)
        with pytest.raises(FloatingPointError) as caught:
            collect_episodes(policy, simulator, 24, rng=rng(2))
        told.add(str(caught.value))
    (message,) = told
    assert int(message.split()[-1]) > 16  # rows of the whole batch


def test_an_interrupt_stops_both_halves():
    steps, threads = [], set()

    def interrupt(observations):
        threads.add(threading.get_ident())
        steps.append(len(observations))
        if threading.current_thread() is threading.main_thread() and len(threads) == 2:
            raise KeyboardInterrupt
        return 0.0

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        with_threads(2, "HalfCheetah-v5", 16, 1000, policy=Dividing(interrupt, 17, 6))
    assert threading.active_count() == before
    assert len(steps) < 1000


def test_torch_threads_change_nothing():
    simulator = make_simulator("CartPole-v0")
    policy = policy_for(simulator, (128, 64), rng=rng(1))
    before = torch.get_num_threads()
    try:
        runs = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(collect_episodes(policy, simulator, 50, rng=rng(2)))
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(runs[0].observations, runs[1].observations)


# --- no bias, nothing made up ---------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 30),
    longest=st.integers(1, 9),
    horizon=st.integers(1, 12),
    cut=st.none() | st.integers(1, 9),
    seed=st.integers(0, 999),
)
def test_every_episode_counts_once_with_its_true_length(n, longest, horizon, cut, seed):
    simulator = make_simulator("test/Seeded-v0", longest=longest, cut=cut)
    policy = SoftmaxPolicy((2, 2), rng=rng(1))
    Seeded.steps_taken = 0
    batch = collect_episodes(policy, simulator, n, horizon=horizon, rng=rng(seed))
    kinds = simulator.initial(n, rng=rng(seed)) % longest
    limit = min(horizon, cut or horizon)
    np.testing.assert_array_equal(batch.lengths, np.minimum(kinds + 1, limit))
    assert batch.n_steps == batch.lengths.sum() == Seeded.steps_taken
    # an end of the task on the very step of the time limit is an end of the task
    np.testing.assert_array_equal(batch.terminated, kinds + 1 <= limit)
    np.testing.assert_array_equal(batch.truncated, ~batch.terminated)
    np.testing.assert_array_equal(batch.returns, batch.lengths * (batch.lengths + 1) / 2)
    np.testing.assert_array_equal(batch.observations[:, 0], kinds[batch.episode])
    np.testing.assert_array_equal(batch.observations[:, 1], batch.time)
    np.testing.assert_array_equal(batch.rewards, batch.time + 1)
    np.testing.assert_array_equal(
        batch.final_observations, np.stack((kinds, batch.lengths), axis=1)
    )
    padded = batch.padded(batch.rewards, fill=-1.0)
    assert padded.shape == (n, batch.lengths.max())
    np.testing.assert_array_equal((padded > 0).sum(axis=1), batch.lengths)
    np.testing.assert_array_equal(np.where(padded > 0, padded, 0).sum(axis=1), batch.returns)
    simulator.close()


def test_short_episodes_are_not_favoured():
    """Lengths 1 and 40 with equal chance: a quota filled by early finishers would see mostly 1."""
    simulator = make_simulator("test/Seeded-v0", longest=40)
    simulator.initial = lambda n, rng: 39 * rng.integers(2, size=n)
    policy = SoftmaxPolicy((2, 2), rng=rng())
    batch = collect_episodes(policy, simulator, 400, rng=rng(3))
    assert set(batch.lengths) == {1, 40}
    # binomial: 4.5 standard deviations around one half
    assert abs((batch.lengths == 40).mean() - 0.5) < 4.5 * 0.5 / np.sqrt(400)


def test_lengths_and_returns_are_those_of_gymnasiums_record():
    simulator = make_simulator("MountainCar-v0")
    policy = policy_for(simulator, (4,), rng=rng(1))
    batch = collect_episodes(policy, simulator, 2, rng=rng(2))
    for e, seed in enumerate(simulator.initial(2, rng=rng(2))):
        env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("MountainCar-v0"))
        env.reset(seed=int(seed))
        for action in batch.actions[slice(*batch.offsets[e : e + 2])]:
            *_, info = env.step(action)
        assert info["episode"]["l"] == batch.lengths[e]
        assert info["episode"]["r"] == batch.returns[e]


# --- actions --------------------------------------------------------------------------------------
def test_raw_actions_are_kept_and_clipped_ones_are_charged():
    simulator = make_simulator("HalfCheetah-v5")
    policy = GaussianPolicy((17, 6), "free", rng=rng(1))
    with torch.no_grad():
        policy.log_std.fill_(1.0)
    batch = collect_episodes(policy, simulator, 2, horizon=5, rng=rng(2))
    assert (np.abs(batch.actions) > 1).mean() > 0.5
    simulator.start(simulator.initial(2, rng=rng(2)))
    for t in range(5):
        raw = batch.padded(batch.actions)[:, t]
        step = simulator.step(np.clip(raw, -1, 1))
        np.testing.assert_array_equal(step.rewards, batch.padded(batch.rewards)[:, t])
    mean, std = (v.detach().numpy() for v in policy.mean_std(batch.observations))
    noise = (batch.actions - mean) / std
    wanted = -0.5 * (noise**2).sum(axis=1) - 6 * (1.0 + 0.5 * np.log(2 * np.pi))
    got = policy.log_prob(batch.observations, batch.actions).detach()
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_actions_follow_the_law():
    """The count of action 1 in a long batch against the sum of its probabilities."""
    simulator = make_simulator("CartPole-v0")
    policy = policy_for(simulator, (8,), rng=rng(1))
    batch = collect_episodes(policy, simulator, 200, rng=rng(2))
    p = (
        policy.log_prob(batch.observations, np.ones(batch.n_steps, dtype=int))
        .detach()
        .exp()
        .numpy()
    )
    z = (batch.actions - p).sum() / np.sqrt((p * (1 - p)).sum())  # a martingale: variance known
    assert abs(z) < 4.5


# --- replicates -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "hidden"), [("CartPole-v0", (8,)), ("Walker2d-v5", (8, 8))])
def test_replicates_are_the_policies_run_alone(name, hidden):
    simulator = make_simulator(name)
    stack = policy_for(simulator, hidden, rng=[rng(s) for s in range(3)])
    generators = [rng(10 + s) for s in range(3)]
    together = collect_episodes(stack, simulator, 6, horizon=100, rng=generators)
    assert len(together) == 18
    for s in range(3):
        alone = policy_for(simulator, hidden, rng=rng(s))
        generator = rng(10 + s)
        wanted = collect_episodes(alone, simulator, 6, horizon=100, rng=generator)
        got = together.replicate(s)
        assert got.replicates is None
        for field in ("lengths", "terminated", "truncated"):
            np.testing.assert_array_equal(getattr(got, field), getattr(wanted, field))
        for field in ("observations", "actions", "rewards", "final_observations"):
            np.testing.assert_allclose(
                getattr(got, field), getattr(wanted, field), rtol=1e-6, atol=1e-8
            )
        # and no more was drawn than alone
        assert generators[s].bit_generator.state == generator.bit_generator.state


def test_a_replicate_whose_episodes_are_over_draws_no_more():
    simulator = make_simulator("test/Seeded-v0", longest=100)
    stack = SoftmaxPolicy((2, 2), rng=rng().spawn(4))
    generators = [rng(s) for s in range(4)]
    batch = collect_episodes(stack, simulator, 1, rng=generators)
    assert batch.lengths.min() < BLOCK < batch.lengths.max()
    for s, generator in enumerate(generators):
        alone = rng(s)
        assert simulator.initial(1, rng=alone) % 100 + 1 == batch.lengths[s]
        alone.random(BLOCK * -(-int(batch.lengths[s]) // BLOCK))
        assert generator.bit_generator.state == alone.bit_generator.state


def test_a_replicate_does_not_depend_on_its_companions_to_the_last_bit():
    simulator = make_simulator("CartPole-v0")

    def run(seeds):
        stack = policy_for(simulator, (8,), rng=[rng(s) for s in seeds])
        return collect_episodes(stack, simulator, 5, rng=[rng(10 + s) for s in seeds])

    three, one = run([0, 1, 2]), run([1])
    np.testing.assert_array_equal(three.replicate(1).observations, one.observations)


def test_no_global_random_state():
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    simulator = make_simulator("Pendulum-v1")
    collect_episodes(policy_for(simulator, (4,), rng=rng()), simulator, 2, horizon=5, rng=rng())
    assert (np.random.get_state()[1] == before[0]).all()  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[1])


def test_time_is_counted_by_phase():
    simulator = make_simulator("Ant-v5")
    policy = policy_for(simulator, (8,), rng=rng())
    start = time.perf_counter()
    batch = collect_episodes(policy, simulator, 2, horizon=20, rng=rng())
    seconds = time.perf_counter() - start
    assert batch.seconds_physics > 0
    assert batch.seconds_policy > 0
    assert batch.seconds_physics + batch.seconds_policy <= seconds


# --- bad input ------------------------------------------------------------------------------------
def cart(**options):
    simulator = make_simulator("CartPole-v0")
    arguments = {"policy": SoftmaxPolicy((4, 8, 2), rng=rng()), "n": 3, "rng": rng(), **options}
    return collect_episodes(arguments.pop("policy"), simulator, arguments.pop("n"), **arguments)


def stack():
    return SoftmaxPolicy((4, 8, 2), rng=rng().spawn(3))


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n": 0}, ValueError, "n must be at least 1"),
        ({"n": -1}, ValueError, "n must be at least 1"),
        ({"n": True}, TypeError, "n must be an integer"),
        ({"n": 2.0}, TypeError, "n must be an integer"),
        ({"horizon": 0}, ValueError, "horizon must be at least 1"),
        ({"horizon": 201}, ValueError, "at most the registered limit 200 of CartPole-v0: got 201"),
        ({"horizon": 10.0}, TypeError, "horizon must be an integer"),
        ({"rng": 0}, TypeError, "rng must be a Generator"),
        ({"rng": np.random}, TypeError, "rng must be a Generator"),
        ({"rng": [rng()]}, TypeError, "rng must be a Generator"),
        ({"policy": stack()}, ValueError, "each of the 3 replicates: got Generator; rng.spawn"),
        ({"policy": stack(), "rng": [rng()]}, ValueError, "3 replicates: got 1 of them"),
        ({"policy": stack(), "rng": [1, 2, 3]}, TypeError, "rng must be a Generator"),
        ({"policy": None}, TypeError, "policy must be a SoftmaxPolicy"),
        (
            {"policy": SoftmaxPolicy((6, 8, 2), rng=rng())},
            ValueError,
            "CartPole-v0 has observations of size 4: got a policy with sizes .* made for 6",
        ),
        (
            {"policy": SoftmaxPolicy((4, 8, 3), rng=rng())},
            ValueError,
            "CartPole-v0 has actions of size 2: got a policy .* made for 3",
        ),
        (
            {"policy": GaussianPolicy((4, 8, 2), rng=rng())},
            ValueError,
            "CartPole-v0 has a discrete action space: got a GaussianPolicy.*policy_for",
        ),
    ],
)
def test_bad_arguments_are_refused(options, error, match):
    with pytest.raises(error, match=match):
        cart(**options)


def test_an_environment_without_a_time_limit_needs_a_horizon():
    simulator = make_simulator("test/Limitless-v0")
    policy = SoftmaxPolicy((2, 2), rng=rng())
    with pytest.raises(ValueError, match="horizon must be given: test/Limitless-v0 has no"):
        collect_episodes(policy, simulator, 2, rng=rng())
    assert len(collect_episodes(policy, simulator, 2, horizon=50, rng=rng())) == 2


def test_broken_parameters_stop_the_batch():
    policy = SoftmaxPolicy((4, 8, 2), rng=rng())
    with torch.no_grad():
        policy.network.bias0[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match="a logit must be finite"):
        cart(policy=policy)
    for threads in (1, 2):
        simulator = make_simulator("Walker2d-v5", threads=threads)
        policy = policy_for(simulator, (8,), rng=rng())
        with torch.no_grad():
            policy.network.bias0[0, 0] = np.nan
        with pytest.raises(FloatingPointError, match=r"a mean must be finite: entry \(0, 0\)"):
            collect_episodes(policy, simulator, 20, rng=rng())


def test_bad_questions_to_episodes_are_refused():
    batch = cart()
    with pytest.raises(ValueError, match="replicates is None"):
        batch.replicate(0)
    with pytest.raises(ValueError, match="one entry for each of the"):
        batch.padded(batch.lengths)
    several = cart(policy=stack(), rng=rng().spawn(3))
    with pytest.raises(ValueError, match=r"s must lie in 0\.\.2"):
        several.replicate(3)


def test_an_environment_in_the_place_of_a_simulator_gets_the_cure():
    environment = gymnasium.make("CartPole-v1")
    policy = policy_for(make_simulator("CartPole-v1"), (4,), rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match="must be a Simulator: got TimeLimit; make one with make_s"):
        collect_episodes(policy, environment, 2, rng=np.random.default_rng(0))
