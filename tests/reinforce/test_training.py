"""The training loop: against a loop by hand, its readings, its randomness, its failures."""

import dataclasses
import functools
import io
import itertools
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from small_mdp import (
    CHAIN,
    ENDLESS,
    NAME,
    REWARD,
    STATES,
    VARIED,
    SmallMDP,
    exact_gradient,
    exact_value,
    gradient_of,
)

from amgd.descent import steps as step_sizes
from amgd.descent.steps import SCHEDULES, Named, StepSizes
from amgd.optim import AMGD
from amgd.reinforce import collect_episodes, make_simulator
from amgd.reinforce.baselines import LinearBaseline
from amgd.reinforce.training import (
    EVALUATE,
    INITIAL,
    TORCH_OPTIMIZERS,
    TRAIN,
    Diverged,
    Trainer,
    TrainingSpec,
    join_states,
    split_state,
    train,
)

NAMED = (*SCHEDULES, "matched", *TORCH_OPTIMIZERS)
ADAM = functools.partial(torch.optim.Adam, betas=(0.8, 0.9))


def small(**changes):
    """Return a spec for the small decision process."""
    basis = {"environment": NAME, "hidden": (), "iterations": 4, "batch": 6, "lr": 0.5}
    return TrainingSpec(**{**basis, "evaluation_episodes": 5, **changes})


def run(spec, transition=VARIED, reward=REWARD):
    return train(spec, simulator=SmallMDP(transition, reward))


def cartpole(**changes):
    basis = {"environment": "CartPole-v0", "hidden": (8,), "iterations": 3, "batch": 5}
    return TrainingSpec(**{**basis, "evaluation_episodes": 4, "runs": 3, **changes})


def same_columns(one, other, names=None):
    """Assert that two logs agree to the last bit."""
    for name in names or one.columns:
        assert one[name].tobytes() == other[name].tobytes(), name


# --- the loop -------------------------------------------------------------------------------------
def weights_by_hand(episodes, spec, baseline):
    """Return the weights from loops: rllab's recipe with the spec's switches."""
    predicted = np.zeros(episodes.n_steps)
    if baseline.coefficients is not None:
        phi = baseline.features(episodes.observations, episodes.time)
        predicted = phi @ baseline.coefficients
    returns = np.zeros(episodes.n_steps)
    for e, (start, stop) in enumerate(itertools.pairwise(episodes.offsets)):
        g = 0.0
        if spec.time_limit == "bootstrap" and episodes.truncated[e]:
            g = baseline.predict(episodes.final_observations[[e]], [stop - start])[0]
        for i in reversed(range(start, stop)):
            returns[i] = g = episodes.rewards[i] + spec.discount * g
    if spec.baseline == "linear":
        baseline.fit(episodes.observations, episodes.time, returns)
    advantages = returns - predicted
    if spec.advantages != "raw":
        advantages = advantages - advantages.mean()
    if spec.advantages == "normalised":
        advantages = advantages / (advantages.std() + 1e-8)
    if spec.weigh_by_time:
        advantages = advantages * spec.discount**episodes.time
    lengths, n = episodes.lengths[episodes.episode], len(episodes)
    scale = {"step_mean": episodes.n_steps, "episode_mean": n * lengths, "episode_sum": n}
    return advantages / scale[spec.loss]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss": "step_mean"},
        {"loss": "episode_sum", "weigh_by_time": True},
        {"advantages": "centred"},
        {"advantages": "normalised"},
        {"baseline": "linear"},
        {"baseline": "linear", "time_limit": "bootstrap"},
        {"baseline": "linear", "advantages": "normalised", "loss": "step_mean"},
        {"discount": 1.0},
        {"discount": 0.0},
        {"horizon": 2, "baseline": "linear", "time_limit": "bootstrap"},
    ],
    ids=str,
)
def test_training_equals_a_loop_by_hand(changes):
    spec = small(optimizer="sgd", seed=4, runs=(2,), **changes)
    result = run(spec)
    trainer, simulator, baseline = Trainer(spec, simulator=SmallMDP()), SmallMDP(), LinearBaseline()
    policy = trainer.result().policies[0]  # the initial one
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.5)
    start = [p.detach().clone() for p in policy.parameters()]
    for k in range(5):
        stream = np.random.SeedSequence(4, spawn_key=(2, 1, k))
        episodes = collect_episodes(
            policy, simulator, 6, horizon=spec.horizon, rng=np.random.default_rng(stream)
        )
        weights = torch.as_tensor(weights_by_hand(episodes, spec, baseline))
        optimizer.zero_grad()
        log_probs = policy.log_prob(episodes.observations, episodes.actions)
        (-(weights * log_probs).sum()).backward()
        moved = torch.cat(
            [(p - q).flatten() for p, q in zip(policy.parameters(), start, strict=True)]
        )
        entropy = policy.entropy(episodes.observations).mean().item()
        for name, value in (
            ("return", episodes.rewards.sum() / 6),
            ("length", episodes.lengths.mean()),
            ("terminated", episodes.terminated.mean()),
            ("distance", moved.norm().item()),
            ("gradient_norm", np.linalg.norm(gradient_of(policy))),
            ("entropy", entropy),
        ):
            np.testing.assert_allclose(result.log[name][0, k], value, rtol=1e-9, atol=1e-12)
        if k < 4:
            optimizer.step()
    for p, q in zip(result.policies[0].parameters(), policy.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-9, atol=1e-12)
    assert result.log["distance"][0, 0] == 0
    assert (result.log["distance"][0, 1:] > 0).all()


@pytest.mark.parametrize("optimizer", NAMED)
def test_training_climbs(optimizer):
    policies = run(small(optimizer=optimizer, iterations=60, batch=20, runs=3, lr=0.2)).policies
    untrained = Trainer(small(runs=3), simulator=SmallMDP()).result().policies
    for before, after in zip(untrained, policies, strict=True):
        gain = exact_value(after, VARIED, 0.99) - exact_value(before, VARIED, 0.99)
        assert gain.item() > 0.3


def test_gradient_of_the_first_row_points_along_the_exact_one():
    spec = small(loss="episode_sum", weigh_by_time=True, batch=20_000, iterations=0)
    trainer = Trainer(spec, simulator=SmallMDP())
    policy = trainer.result().policies[0]
    trainer.advance()
    estimate = gradient_of(trainer.policies[0])
    exact = exact_gradient(policy, VARIED, 0.99)
    assert np.linalg.norm(estimate - exact) < 0.05 * np.linalg.norm(exact)


def test_zero_iterations_evaluate_the_initial_policy():
    result = run(small(iterations=0))
    assert len(result.log) == 1
    assert result.log["evaluation_return"].shape == (1, 1)


def test_result_policies_act_on_their_own():
    result = train(cartpole())
    assert [policy.replicates for policy in result.policies] == [None] * 3
    rng = np.random.default_rng(0)
    assert len(collect_episodes(result.policies[0], make_simulator("CartPole-v0"), 2, rng=rng)) == 2


def test_continuous_actions_through_gymnasium():
    spec = TrainingSpec(
        environment="Pendulum-v1", hidden=(4,), iterations=2, batch=2, horizon=20, runs=2,
        evaluation_episodes=2, baseline="linear", std="free", dtype="float32", lr=1e-3,
    )  # fmt: skip
    log = train(spec).log
    assert (log["std"][:, 0] == 1).all()  # log std starts at 0
    assert (log["std"][:, 1:] != 1).all()
    assert (log["length"] == 20).all()
    assert (log["terminated"] == 0).all()
    assert "std" not in train(cartpole()).log.columns


# --- optimizers -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("named", "factory"),
    [
        ({"optimizer": "sgd"}, torch.optim.SGD),
        (
            {"optimizer": "nesterov", "momentum": 0.9},
            functools.partial(torch.optim.SGD, momentum=0.9, nesterov=True),
        ),
        ({"optimizer": "theorem1"}, functools.partial(AMGD, schedule=step_sizes.theorem1(1.0))),
        (
            {"optimizer": "ghadimi_lan"},
            functools.partial(AMGD, schedule=lambda k: (2 / (k + 1), 1.0, k / 2)),
        ),
        ({"optimizer": "nesterov"}, functools.partial(AMGD, schedule="nesterov")),
        (
            {"optimizer": "matched", "matched_to": "nesterov"},
            functools.partial(AMGD, schedule=lambda k: (2 / (k + 1), (k + 3) / 4, (k + 3) / 4)),
        ),
        (
            {"optimizer": "matched"},
            functools.partial(AMGD, schedule=lambda k: (2 / (k + 1), *2 * ((3 * k + 5) / 12,))),
        ),
        ({"optimizer": "matched", "matched_to": "sgd"}, torch.optim.SGD),
        (
            {"optimizer": "matched", "matched_to": "nesterov", "momentum": 0.5},
            functools.partial(AMGD, schedule=lambda k: (2 / (k + 1), *2 * (2 - 0.5**k,))),
        ),
        (
            {"optimizer": "momentum"},
            functools.partial(torch.optim.SGD, momentum=0.9, nesterov=True),
        ),
        ({"optimizer": "momentum"}, functools.partial(AMGD, momentum=0.9)),
        ({"optimizer": "adam"}, functools.partial(torch.optim.Adam, betas=(0.9, 0.999))),
    ],
)
def test_named_optimizers_are_what_they_say(named, factory):
    one, other = run(small(**named)), run(small(optimizer=factory))
    np.testing.assert_allclose(one.log["distance"], other.log["distance"], rtol=1e-10)


def test_a_schedule_with_a_name_of_its_own_trains_and_has_a_matched_sgd(monkeypatch):
    def mine(beta):
        return StepSizes("mine", lambda k: 2 / (k + 1), lambda k: beta, lambda k: beta * k)

    with pytest.raises(ValueError, match=r"optimizer must be one of 'sgd', .*got 'mine'"):
        small(optimizer="mine")
    monkeypatch.setitem(SCHEDULES, "mine", Named(mine, "My method", "My method", 2))
    for named, factory in (
        ({"optimizer": "mine"}, functools.partial(AMGD, schedule=mine(1.0))),
        (
            {"optimizer": "matched", "matched_to": "mine"},
            functools.partial(AMGD, schedule=step_sizes.matched(mine(1.0))),
        ),
    ):
        same_columns(run(small(**named)).log, run(small(optimizer=factory)).log)
    with pytest.raises(ValueError, match="momentum belongs to 'nesterov': got 'mine'"):
        small(optimizer="mine", momentum=0.5)


FACTORIES = [
    torch.optim.SGD,
    ADAM,
    torch.optim.RMSprop,
    torch.optim.Adagrad,
    functools.partial(torch.optim.AdamW, foreach=True),
    functools.partial(torch.optim.SGD, momentum=0.5, foreach=True),
]


@pytest.mark.parametrize("factory", FACTORIES, ids=str)
def test_any_optimizer_trains_every_run_on_its_own(factory):
    log = train(cartpole(optimizer=factory, lr=0.01)).log
    assert (log["distance"][:, -1] > 0).all()
    for s in range(3):
        alone = train(cartpole(optimizer=factory, lr=0.01, runs=(s,))).log
        assert (alone["distance"][0] == log["distance"][s]).all()


@pytest.mark.parametrize("optimizer", ["nesterov", "ghadimi_lan", "theorem1"])
def test_iterates_are_evaluated_where_they_say(optimizer):
    logs = {
        iterate: train(
            cartpole(optimizer=optimizer, iterate=iterate, lr=2.0, evaluation_episodes=20)
        ).log
        for iterate in ("y", "x", "x_bar")
    }
    for one, other in itertools.combinations(logs.values(), 2):
        same_columns(one, other, ["return", "distance", "gradient_norm"])  # training is at y
        same_one, same_other = one["evaluation_return"], other["evaluation_return"]
        assert (same_one[:, 0] == same_other[:, 0]).all()  # all sequences start at x_0
        assert (same_one != same_other).any()


def test_an_evaluation_in_parts_counts_every_episode_once():
    spec = cartpole(runs=2, evaluation_episodes=15, iterations=0)
    trainer = Trainer(spec)
    trainer.advance()
    for s, policy in enumerate(trainer.policies):
        returns = []
        for part in range(3):
            stream = spec.stream(s, EVALUATE, 0, part)
            simulator = make_simulator("CartPole-v0")
            returns += collect_episodes(policy, simulator, 5, rng=[stream]).returns.tolist()
        assert trainer.log["evaluation_return"][s, 0] == np.mean(returns)


def test_evaluation_at_x_bar_is_that_of_x_bar():
    spec = cartpole(optimizer="nesterov", iterate="x_bar", lr=2.0, runs=1)
    trainer = Trainer(spec)
    for _ in range(2):
        trainer.advance()
    optimizer, policy = trainer._optimizers[0], trainer.policies[0]
    with optimizer.at("x_bar"):
        stream = spec.stream(0, EVALUATE, 2, 0)
        episodes = collect_episodes(policy, make_simulator("CartPole-v0"), 4, rng=[stream])
    trainer.advance()
    assert trainer.log["evaluation_return"][0, 2] == episodes.returns.mean()


def test_all_iterates_of_sgd_are_one():
    logs = [
        train(cartpole(optimizer="sgd", iterate=iterate)).log for iterate in ("y", "x", "x_bar")
    ]
    same_columns(logs[0], logs[1])
    same_columns(logs[0], logs[2])


# --- readings -------------------------------------------------------------------------------------
def test_first_row_has_no_baseline_to_subtract():
    plain, linear = (
        run(small(optimizer="sgd")).log,
        run(small(optimizer="sgd", baseline="linear")).log,
    )
    assert plain["gradient_norm"][0, 0] == linear["gradient_norm"][0, 0]
    assert plain["gradient_norm"][0, 1] != linear["gradient_norm"][0, 1]


@pytest.mark.parametrize(
    ("transition", "same"), [(CHAIN, True), (ENDLESS, False)], ids=["ends at the limit", "cut"]
)
def test_termination_wins_over_the_time_limit(transition, same):
    # In the chain every episode ends in the very step of the limit: there is nothing to bootstrap.
    logs = [
        run(small(baseline="linear", time_limit=how, optimizer="sgd"), transition).log
        for how in ("terminal", "bootstrap")
    ]
    assert (logs[0]["terminated"] == float(same)).all()
    equal = logs[0]["gradient_norm"] == logs[1]["gradient_norm"]
    assert equal[0, 0]  # before the first fit the prediction is 0
    assert equal.all() == same


def test_bootstrapped_returns_of_a_constant_reward_approach_the_endless_sum():
    # With reward 1 and no end the value is 1 / (1 - discount); cut after 3 steps it is at most 3.
    spec = small(
        baseline="linear", time_limit="bootstrap", discount=0.5, iterations=40, lr=1e-9, batch=40
    )
    trainer = Trainer(spec, simulator=SmallMDP(ENDLESS, np.ones((STATES, 2))))
    while not trainer.done:
        trainer.advance()
    predicted = trainer._baselines[0].predict(np.eye(STATES)[[0]], [0])
    assert predicted[0] == pytest.approx(2.0, abs=0.01)


def test_next_batch_is_the_batch_of_the_row():
    log = train(cartpole(evaluation="next_batch")).log
    assert (log["evaluation_return"] == log["return"]).all()
    assert (log["evaluation_length"] == log["length"]).all()


def test_separate_and_next_batch_estimate_the_same_mean():
    # 100 runs, paired: each policy is evaluated by its own batch and by fresh episodes.
    spec = small(runs=100, batch=20, evaluation_episodes=20, iterations=3, optimizer="nesterov")
    fresh, batch = run(spec).log, run(small(**{**vars(spec), "evaluation": "next_batch"})).log
    difference = (fresh["evaluation_return"] - batch["evaluation_return"]).ravel()
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    assert 0 < error < 0.03
    assert abs(difference.mean()) < 3.5 * error


@pytest.mark.parametrize("evaluation", ["separate", "next_batch", "none"])
def test_evaluation_leaves_the_training_as_it_is(evaluation):
    one, other = train(cartpole()).log, train(cartpole(evaluation=evaluation)).log
    columns = [name for name in one.columns if not name.startswith("evaluation")]
    same_columns(one, other, columns)
    assert ("evaluation_return" in other.columns) == (evaluation != "none")


# --- randomness -----------------------------------------------------------------------------------
def test_variants_are_paired():
    logs = [train(cartpole(optimizer=o, lr=lr)).log for o in NAMED for lr in (0.1, 0.7)]
    for log in logs[1:]:
        for name in ("return", "gradient_norm", "evaluation_return"):
            assert (log[name][:, 0] == logs[0][name][:, 0]).all()


def test_shared_and_own_initial_policies():
    shared = Trainer(cartpole(initial="shared")).policies
    own = Trainer(cartpole()).policies
    weights = [[next(iter(p.parameters())) for p in policies] for policies in (shared, own)]
    assert all(torch.equal(weights[0][0], w) for w in weights[0])
    for one, other in itertools.combinations(weights[1], 2):
        assert not torch.equal(one, other)
    log = train(cartpole(initial="shared", batch=40)).log
    assert len(set(log["return"][:, 0])) == 3  # but each run has its own noise


def test_streams_are_all_different():
    spec = cartpole()
    keys = [(INITIAL,)]
    keys += [(r, INITIAL) for r in range(10)]
    keys += [(r, TRAIN, k) for r in range(10) for k in range(50)]
    keys += [(r, EVALUATE, k, part) for r in range(10) for k in range(50) for part in range(3)]
    draws = {spec.stream(*key).integers(2**63) for key in keys}
    draws |= {cartpole(seed=1).stream(*key).integers(2**63) for key in keys}
    assert len(draws) == 2 * len(keys)


@pytest.mark.parametrize(
    "changes",
    [
        {"baseline": "linear"},
        {"dtype": "float32"},
        {"evaluation_episodes": 14, "iterate": "x_bar"},  # two parts, in one go with the batch
        {"evaluation": "none"},
        {"environment": "Acrobot-v1", "hidden": (16,), "horizon": 60},
    ],
    ids=str,
)
def test_a_run_gives_the_same_bits_alone_and_in_company(changes):
    changes = {"iterations": 6, "batch": 7, "lr": 1.0, **changes}
    together = train(cartpole(runs=(4, 0, 9), **changes)).log
    for s, number in enumerate((4, 0, 9)):
        alone = train(cartpole(runs=(number,), **changes)).log
        for name in together.columns:
            assert together[name][s].tobytes() == alone[name][0].tobytes(), name


class Together(SmallMDP):
    """Says of itself that runs had better advance together."""

    batches_runs = True
    starts = 0

    def _start(self, rows):
        self.starts += 1
        return super()._start(rows)


def test_a_simulator_says_whether_runs_advance_together():
    changes = {"runs": (4, 0, 9), "batch": 5}  # the evaluation has five episodes too
    simulator = Together()
    together = train(small(**changes), simulator=simulator).log
    assert simulator.starts == 5  # one for each row
    for s, number in enumerate((4, 0, 9)):
        alone = train(small(runs=(number,), batch=5), simulator=Together()).log
        for name in together.columns:
            assert together[name][s].tobytes() == alone[name][0].tobytes(), name
    single = run(small(**changes)).log  # one run after the other: the same numbers but for rounding
    for name in together.columns:
        np.testing.assert_allclose(together[name], single[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_of_torch_change_nothing_and_come_back(threads):
    expected = train(cartpole(baseline="linear")).log
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        same_columns(expected, train(cartpole(baseline="linear")).log)
        assert torch.get_num_threads() == threads
        with pytest.raises(Diverged):
            train(cartpole(optimizer="sgd", lr=1e308))
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_global_random_state_is_neither_read_nor_written():
    def states():
        legacy = np.random.get_state()  # noqa: NPY002
        return random.getstate(), legacy[1].tobytes(), torch.get_rng_state().numpy().tobytes()

    before = states()
    first = train(cartpole()).log
    assert states() == before
    random.seed(1)
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002
    same_columns(first, train(cartpole()).log)


SCRIPT = """
from amgd.reinforce.training import TrainingSpec, train
spec = TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=3, batch=5,
                    evaluation_episodes=4, runs=3)
log = train(spec).log
print({name: log[name].tobytes().hex() for name in log.columns})
"""


def test_another_process_gives_the_same_bits():
    environment = {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "2", "PATH": ""}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, env=environment, check=True, text=True)
    log = train(cartpole()).log
    assert done.stdout.strip() == str({name: log[name].tobytes().hex() for name in log.columns})


# --- saving ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [{"optimizer": name} for name in NAMED]
    + [
        {"optimizer": ADAM, "lr": 0.01},
        {"baseline": "linear", "time_limit": "bootstrap"},
        {"iterate": "x", "dtype": "float32"},
    ],
    ids=str,
)
@pytest.mark.parametrize("stop", [0, 2, 4])
def test_resumed_run_is_bit_equal(changes, stop):
    spec = cartpole(runs=2, **changes)
    straight, first, second = Trainer(spec), Trainer(spec), Trainer(spec)
    for _ in range(stop):
        first.advance()
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    while not straight.done:
        straight.advance()
    while not second.done:
        second.advance()
    same_columns(straight.log, second.log)
    for p, q in zip(straight.policies, second.policies, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(p.parameters(), q.parameters(), strict=True))


def trained(spec, rows):
    trainer = Trainer(spec, simulator=SmallMDP() if spec.environment == NAME else None)
    for _ in range(rows):
        trainer.advance()
    return trainer


def same_state(one, other):
    """Assert that two states agree to the last bit, their seconds aside."""
    for a, b in zip(*map(leaves, ({**one, "seconds": 0}, {**other, "seconds": 0})), strict=True):
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


def leaves(tree):
    if isinstance(tree, dict):
        tree = [*sorted(tree, key=str), *(tree[key] for key in sorted(tree, key=str))]
    if not isinstance(tree, list | tuple):
        return [tree]
    return [len(tree), *itertools.chain.from_iterable(map(leaves, tree))]


@pytest.mark.parametrize("made", [small, cartpole])
@pytest.mark.parametrize(
    "changes",
    [{}, {"optimizer": ADAM, "lr": 0.01}, {"baseline": "linear"}, {"evaluation": "none"}],
    ids=str,
)
def test_states_split_and_join_run_by_run(made, changes):
    runs = (4, 0, 9)
    company = trained(made(runs=runs, **changes), 2).state_dict()
    parts = split_state(company)
    for number, part in zip(runs, parts, strict=True):
        same_state(part, trained(made(runs=(number,), **changes), 2).state_dict())
    same_state(join_states(parts), company)
    # A run has an even share of the seconds.
    spent = trained(made(runs=runs, **changes), 0)
    spent.load_state_dict(join_states(parts))
    for part in (company, *parts):
        for shares in part["seconds"]:
            for phase, rows in shares.items():
                np.testing.assert_allclose(3 * np.array(rows), spent.log.seconds[phase])
    # Another company, in another order, goes on to the same bits.
    others = trained(made(runs=(9, 4), **changes), 0)
    others.load_state_dict(join_states([parts[2], parts[0]]))
    straight = trained(made(runs=(9, 4), **changes), 4)
    while others.k < 4:
        others.advance()
    same_state(others.state_dict(), straight.state_dict())


@pytest.mark.parametrize("rows", [(), (1, 2)])
def test_states_that_are_not_equally_far_do_not_join(rows):
    states = [trained(small(runs=(i,)), k).state_dict() for i, k in enumerate(rows)]
    with pytest.raises(ValueError, match="states must be equally far, at least one: got"):
        join_states(states)


def test_saved_state_does_not_follow_the_run():
    trainer = Trainer(cartpole())
    trainer.advance()
    state = trainer.state_dict()
    kept = pickle.dumps(state)
    trainer.advance()
    assert pickle.dumps(state) == kept


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": 2},
        {"runs": (0, 1, 3)},
        {"baseline": "linear"},
        {"hidden": (9,)},
        {"lr": 0.3},
        {"seed": 5},
        {"batch": 7},
        {"loss": "step_mean"},
        {"dtype": "float32"},
        {"optimizer": "adam"},
        {"optimizer": torch.optim.Adam},
        {"environment": "Acrobot-v1"},
        {"initial": "shared"},
    ],
    ids=str,
)
def test_foreign_state_is_refused(changes):
    state = Trainer(cartpole()).state_dict()
    trainer = Trainer(cartpole(**changes))
    before = repr(trainer.state_dict())
    (name,) = changes
    with pytest.raises(
        ValueError, match="one of runs" if name in ("runs", "baseline") else f"{name}="
    ):
        trainer.load_state_dict(state)
    assert repr(trainer.state_dict()) == before


def test_a_training_goes_on_longer_unless_it_is_done():
    short, long = Trainer(cartpole(iterations=2)), Trainer(cartpole(iterations=4))
    for _ in range(2):
        short.advance()
        long.advance()
    longer = Trainer(cartpole(iterations=4, threads=2))
    longer.load_state_dict(short.state_dict())
    longer.advance()
    long.advance()
    assert [p.tolist() for p in longer.policies[0].parameters()] == [
        p.tolist() for p in long.policies[0].parameters()
    ]
    short.advance()
    assert short.done
    with pytest.raises(ValueError, match=r"saved with iterations=2 \(here 4\)"):
        longer.load_state_dict(short.state_dict())


def test_a_state_from_before_a_field_was_there_loads_as_with_its_default():
    old = Trainer(cartpole()).state_dict()
    for told in old["specs"]:
        told.pop("normalise_observations", None)
    Trainer(cartpole()).load_state_dict(old)
    with pytest.raises(ValueError, match=r"normalise_observations=None \(here 5.0\)"):
        Trainer(cartpole(normalise_observations=5)).load_state_dict(old)


def test_a_state_from_before_it_told_its_spec_loads():
    trainer, old = Trainer(cartpole()), Trainer(cartpole()).state_dict()
    del old["specs"]
    trainer.load_state_dict(join_states([old]))
    state = trainer.state_dict()
    joined = join_states([{**old, "runs": [5]}, {**state, "runs": [6]}])
    assert "specs" not in joined


# --- failures -------------------------------------------------------------------------------------
def test_blown_up_parameters_are_named_and_the_log_kept():
    with pytest.raises(
        Diverged, match=r"iteration 1, seed 7, run 5: a parameter is not finite"
    ) as info:
        train(cartpole(optimizer="sgd", lr=1e308, seed=7, runs=(5, 6), batch=20, advantages="raw"))
    error = info.value
    assert (error.k, error.run, error.what) == (1, 5, "a parameter is not finite")
    assert len(error.recorded) == 1
    assert np.isfinite(error.recorded["return"]).all()
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.recorded["return"].tolist() == error.recorded["return"].tolist()


@pytest.mark.parametrize("culprit", [0, 1, 2])
def test_the_run_that_failed_is_found_in_the_stack(culprit):
    trainer = Trainer(cartpole(runs=(10, 11, 12)))
    trainer.advance()
    with torch.no_grad():
        next(trainer.policies[culprit].parameters()).fill_(torch.nan)
    with pytest.raises(
        Diverged, match=f"iteration 1, seed 0, run {10 + culprit}: an episode"
    ) as info:
        trainer.advance()
    assert isinstance(info.value.__cause__, FloatingPointError)
    assert len(info.value.recorded) == 1


class FailsLater(SmallMDP):
    """Gives a reward that is not finite in the batch number `fatal`."""

    batches, fatal = 0, 6

    def _start(self, rows):
        self.batches += 1
        if self.batches == self.fatal:
            self.reward = np.full_like(REWARD, np.nan)
        return super()._start(rows)


def test_reward_that_is_not_a_number_stops_the_run():
    with pytest.raises(Diverged, match="every reward must be finite") as info:
        train(small(iterations=9), simulator=FailsLater())  # two batches a row
    assert info.value.k == 2
    assert len(info.value.recorded) == 2


@pytest.mark.parametrize(
    ("size", "quantity"), [(1e308, "a return to go is not finite"), (1e307, "the baseline")]
)
def test_overflowing_returns_are_named(size, quantity):
    with pytest.raises(Diverged, match=quantity):
        run(small(discount=1.0, baseline="linear", batch=20), ENDLESS, np.full_like(REWARD, size))


def test_advance_after_the_end_is_refused():
    trainer = Trainer(small(iterations=0), simulator=SmallMDP())
    trainer.advance()
    with pytest.raises(RuntimeError, match="all 1 rows are there"):
        trainer.advance()


def test_unknown_column_is_named():
    log = run(small(iterations=0)).log
    with pytest.raises(KeyError, match="no column 'reward': the log has return, length"):
        log["reward"]


def test_times_are_kept_apart_and_add_up():
    log = train(cartpole()).log
    assert set(log.seconds) == {"physics", "policy", "weights", "update", "evaluation", "total"}
    assert not set(log.seconds) & set(log.columns)
    parts = sum(log.seconds[name] for name in log.seconds if name != "total")
    assert (parts <= log.seconds["total"]).all()
    assert all((seconds >= 0).all() for seconds in log.seconds.values())


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"environment": 3}, TypeError, "environment must be a str"),
        ({"hidden": 8}, TypeError, "hidden must be a tuple"),
        ({"hidden": (0,)}, ValueError, "an entry of hidden must be at least 1"),
        ({"iterations": -1}, ValueError, "iterations must be at least 0"),
        ({"iterations": 2.0}, TypeError, "iterations must be an integer"),
        ({"batch": 0}, ValueError, "batch must be at least 1"),
        ({"batch": True}, TypeError, "batch must be an integer"),
        ({"evaluation_episodes": 0}, ValueError, "evaluation_episodes must be at least 1"),
        ({"horizon": 0}, ValueError, "horizon must be at least 1"),
        ({"lr": 0.0}, ValueError, "lr must lie"),
        ({"lr": np.nan}, ValueError, "lr must lie"),
        ({"discount": 1.01}, ValueError, "discount must lie"),
        ({"floor": 0.0}, ValueError, "floor must lie"),
        ({"momentum": 1.0, "optimizer": "nesterov"}, ValueError, "momentum must lie"),
        ({"momentum": 0.9}, ValueError, "momentum belongs to 'nesterov': got 'theorem1'"),
        ({"momentum": 0.9, "optimizer": "matched"}, ValueError, "momentum belongs to"),
        ({"momentum": 0.9, "optimizer": "adam"}, ValueError, "momentum belongs to"),
        ({"momentum": 0.9, "optimizer": torch.optim.SGD}, ValueError, "momentum belongs to"),
        ({"optimizer": "adamw"}, ValueError, "one of 'sgd', .*'matched', 'momentum', 'adam': got"),
        ({"matched_to": "matched"}, ValueError, "matched_to must be one of 'sgd'"),
        ({"loss": "mean"}, ValueError, "loss must be one of"),
        ({"advantages": "none"}, ValueError, "advantages must be one of"),
        ({"weigh_by_time": 1}, TypeError, "weigh_by_time must be True or False"),
        ({"baseline": "value"}, ValueError, "baseline must be one of"),
        ({"time_limit": "bootstrap"}, ValueError, "needs a baseline"),
        ({"time_limit": "none"}, ValueError, "time_limit must be one of"),
        ({"iterate": "z"}, ValueError, "iterate must be one of"),
        ({"iterate": "x", "evaluation": "next_batch"}, ValueError, "sees the iterate y alone"),
        ({"evaluation": "greedy"}, ValueError, "evaluation must be one of"),
        ({"std": "fixed"}, ValueError, "std must be one of"),
        ({"initial": "same"}, ValueError, "initial must be one of"),
        ({"dtype": "float16"}, ValueError, "dtype must be one of"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"runs": 0}, ValueError, "runs must be at least 1"),
        ({"runs": ()}, ValueError, "runs must be different numbers"),
        ({"runs": (1, 1)}, ValueError, "runs must be different numbers"),
        ({"runs": (-1,)}, ValueError, "an entry of runs must be at least 0"),
        ({"runs": "3"}, TypeError, "runs must be an integer"),
        ({"options": [1]}, TypeError, "options must be a dict"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
    ],
    ids=str,
)
def test_bad_spec_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        cartpole(**changes)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"environment": "CartPole-v9"}, ValueError, "name must be a registered environment"),
        ({"environment": "Swimmer-v2"}, ValueError, "Swimmer-v5 replaces it"),
        ({"horizon": 201}, ValueError, "horizon must be at most the registered limit 200"),
        ({"optimizer": lambda p, lr: None}, TypeError, "optimizer must make a torch.optim.Opt"),
        ({"optimizer": torch.optim.LBFGS}, TypeError, "without a closure: got LBFGS"),
        ({"optimizer": ADAM, "iterate": "x"}, ValueError, "needs the optimizer AMGD, .* got Adam"),
    ],
)
def test_what_the_environment_cannot_do_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        Trainer(cartpole(**changes)).advance()


def test_simulator_must_be_the_one_of_the_spec():
    with pytest.raises(ValueError, match="simulator must be one of CartPole-v0"):
        train(cartpole(), simulator=SmallMDP())
    with pytest.raises(TypeError, match="simulator must be a Simulator"):
        train(cartpole(), simulator="CartPole-v0")
    with pytest.raises(TypeError, match="spec must be a TrainingSpec"):
        train({"environment": "CartPole-v0"})


def test_spec_is_frozen_equal_and_hashable():
    assert small() == small()
    assert hash(small()) == hash(small())
    assert small() != small(lr=0.1)
    assert cartpole(runs=3) == cartpole(runs=[0, 1, 2])
    with pytest.raises(AttributeError):
        small().lr = 1.0


# --- normalised observations ----------------------------------------------------------------------
ROBOT = {"environment": "Walker2d-v5", "baseline": "linear", "horizon": 60, "batch": 16, "runs": 1}


def seen_in(spec, trainer, run, k):
    """What the training batch of row k observes, drawn again by hand."""
    policy = trainer.policies[trainer.runs.index(run)]
    stream = spec.stream(run, TRAIN, k)
    rng = stream if policy.replicates is None else [stream]
    simulator = make_simulator(spec.environment)
    return collect_episodes(
        policy, simulator, spec.batch, horizon=spec.horizon, rng=rng
    ).observations


@pytest.mark.parametrize("more", [{}, {"evaluation": "next_batch"}, ROBOT], ids=str)
def test_mean_and_deviation_are_those_of_the_training_batches_before(more):
    spec = cartpole(normalise_observations=3.0, **more)
    trainer, seen = Trainer(spec), {run: [] for run in range(len(Trainer(spec).runs))}
    while not trainer.done:
        for run, batches in seen.items():
            batches.append(seen_in(spec, trainer, run, trainer.k))
        trainer.advance()
    for run, batches in seen.items():
        normaliser = trainer.policies[run].normaliser
        last = np.concatenate(batches[:-1]).astype(float)  # the last row has no update
        assert int(normaliser.count) == len(last)
        np.testing.assert_allclose(normaliser.mean.numpy().ravel(), last.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(
            normaliser.deviation.numpy().ravel(), np.sqrt(last.var(axis=0) + 1e-8), rtol=1e-9
        )
        single = trainer.result().policies[run]  # takes them along
        assert single.normaliser.mean.numpy().tolist() == normaliser.mean.numpy().ravel().tolist()


@pytest.mark.parametrize("more", [{}, {"dtype": "float32"}, {"iterate": "x_bar"}, ROBOT], ids=str)
def test_normalised_runs_go_on_bit_for_bit_alone_together_and_on_threads(more):
    spec = cartpole(normalise_observations=5.0, **more)
    whole = Trainer(spec)
    while not whole.done:
        whole.advance()
    assert not np.array_equal(whole.log["return"], train(cartpole(**more)).log["return"])
    for k in range(spec.iterations + 1):
        first, file = Trainer(spec), io.BytesIO()
        while first.k < k:
            first.advance()
        torch.save(first.state_dict(), file)
        file.seek(0)
        second = Trainer(dataclasses.replace(spec, threads=2))
        second.load_state_dict(torch.load(file, weights_only=True))
        while not second.done:
            second.advance()
        same_columns(whole.log, second.log)
        for one, other in zip(whole.policies, second.policies, strict=True):
            for p, q in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
                assert torch.equal(p, q)
    for i, run in enumerate(whole.runs):
        alone = train(dataclasses.replace(spec, runs=(run,))).log
        assert alone["return"][0].tolist() == whole.log["return"][i].tolist()
