"""The policy-gradient estimator against enumeration, and the classic mistakes it must not make."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_mdp import (
    ENDLESS,
    STATES,
    VARIED,
    SmallMDP,
    as_episodes,
    exact_gradient,
    exact_value,
    gradient_of,
    make_policy,
    paths,
    score,
)

from amgd.reinforce import GaussianPolicy, SoftmaxPolicy, collect_episodes
from amgd.reinforce.gradient import (
    policy_gradient,
    policy_gradient_loss,
    returns_to_go,
    standardise,
    step_weights,
)

DISCOUNT = 0.9
LOSSES = ("step_mean", "episode_mean", "episode_sum")


def mean_estimate(policy, transition, loss, advantages="raw", *, by_time=True, batch=1, shift=None):
    """Return the exact mean of the estimate: batches of all trajectories, by their probability.

    The estimate is linear in the weights, so one pass over all batches together does it.
    """
    every, weights = [], []
    for chosen in itertools.product(paths(policy, transition), repeat=batch):
        episodes = as_episodes(chosen)
        returns = returns_to_go(episodes.rewards, episodes.lengths, DISCOUNT)
        if shift is not None:
            returns = returns - shift[episodes.time, episodes.observations.argmax(axis=1)]
        advantage = standardise(returns, advantages)
        discount = DISCOUNT if by_time else None
        w = step_weights(advantage, episodes.lengths, loss, discount)
        weights.append(np.prod([path.probability for path in chosen]) * w)
        every.extend(chosen)
    policy_gradient(policy, as_episodes(every), np.concatenate(weights))
    return gradient_of(policy)


def by_hand(policy, transition, loss, advantages, by_time, batch):
    """Return the same mean from loops and the closed form of the score."""
    total = 0.0
    for chosen in itertools.product(paths(policy, transition), repeat=batch):
        rows = []  # (episode, t, return to go)
        for e, path in enumerate(chosen):
            for t in range(len(path)):
                tail = path.rewards[t:]
                rows.append((e, t, sum(DISCOUNT**j * r for j, r in enumerate(tail))))
        returns = np.array([g for _, _, g in rows])
        if advantages != "raw":
            returns = returns - np.mean(returns)
        if advantages == "normalised":
            returns = returns / (np.sqrt(np.mean(returns**2)) + 1e-8)
        for (e, t, _), g in zip(rows, returns, strict=True):
            scale = {
                "step_mean": 1 / len(rows),
                "episode_mean": 1 / batch / len(chosen[e]),
                "episode_sum": 1 / batch,
            }[loss]
            weight = scale * g * (DISCOUNT**t if by_time else 1)
            p = np.prod([path.probability for path in chosen])
            total = total + p * weight * score(policy, chosen[e].states[t], chosen[e].actions[t])
    return total


def test_exact_gradient_is_that_of_the_value():
    policy = make_policy()
    exact_value(policy, VARIED, DISCOUNT).backward()
    expected = -gradient_of(policy)
    np.testing.assert_allclose(exact_gradient(policy, VARIED, DISCOUNT), expected, atol=1e-14)
    assert np.abs(expected).max() > 0.1


def test_probabilities_sum_to_one_and_lengths_vary():
    found = paths(make_policy(), VARIED)
    assert sum(path.probability for path in found) == pytest.approx(1, abs=1e-14)
    assert {len(path) for path in found} == {1, 2, 3}


@pytest.mark.parametrize("by_time", [True, False])
@pytest.mark.parametrize("transition", [VARIED, ENDLESS], ids=["varied", "endless"])
def test_sum_over_an_episode_has_the_exact_gradient_as_its_mean(transition, by_time):
    policy = make_policy()
    estimate = mean_estimate(policy, transition, "episode_sum", by_time=by_time)
    exact = exact_gradient(policy, transition, DISCOUNT, by_time=by_time)
    np.testing.assert_allclose(estimate, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "scale"), [("step_mean", 1 / 3), ("episode_mean", 1 / 3), ("episode_sum", 1)]
)
def test_every_scaling_is_a_multiple_of_the_gradient_when_lengths_are_equal(loss, scale):
    policy = make_policy()
    estimate = mean_estimate(policy, ENDLESS, loss)
    exact = scale * exact_gradient(policy, ENDLESS, DISCOUNT)
    np.testing.assert_allclose(estimate, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("by_time", [True, False])
@pytest.mark.parametrize("advantages", ["raw", "centred", "normalised"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_reading_equals_enumeration_by_hand(loss, advantages, by_time):
    policy = make_policy()
    estimate = mean_estimate(policy, VARIED, loss, advantages, by_time=by_time, batch=2)
    expected = by_hand(policy, VARIED, loss, advantages, by_time, batch=2)
    np.testing.assert_allclose(estimate, expected, rtol=0, atol=1e-12)


def test_scalings_differ_when_lengths_do():
    policy = make_policy()
    estimates = [mean_estimate(policy, VARIED, loss, batch=2) for loss in LOSSES]
    for one, other in itertools.combinations(estimates, 2):
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert cosine < 1 - 1e-5  # not even parallel; the means are exact to 1e-12


def test_a_baseline_of_state_and_time_leaves_the_mean_as_it_is():
    policy = make_policy()
    shift = np.random.default_rng(0).normal(size=(3, STATES)) * 10
    estimate = mean_estimate(policy, VARIED, "episode_sum", shift=shift)
    exact = exact_gradient(policy, VARIED, DISCOUNT)
    np.testing.assert_allclose(estimate, exact, rtol=0, atol=1e-12)


def sampled(policy, returns_of=None, batches=60, n=100):
    """Return estimates from sampled batches, (batches, parameters)."""
    rng, simulator, rows = np.random.default_rng(5), SmallMDP(), []
    for _ in range(batches):
        episodes = collect_episodes(policy, simulator, n, rng=rng)
        rewards = episodes.rewards if returns_of is None else returns_of(episodes)
        returns = returns_to_go(rewards, episodes.lengths, DISCOUNT)
        weights = step_weights(returns, episodes.lengths, "episode_sum", DISCOUNT)
        policy_gradient(policy, episodes, weights)
        rows.append(gradient_of(policy))
    return np.array(rows)


def deviations(estimates, exact):
    """Return the distances of the mean from `exact` in standard errors."""
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    seen = np.abs(exact) > 0.05
    assert seen.sum() >= 4
    assert (error[seen] < 0.15 * np.abs(exact[seen])).all()  # sharp enough to tell
    return (estimates.mean(axis=0) - exact)[seen] / error[seen]


def test_mean_over_samples_agrees_within_its_error_bar():
    policy = make_policy()
    exact = exact_gradient(policy, VARIED, DISCOUNT)
    assert np.abs(deviations(sampled(policy), exact)).max() < 3.5


def test_reward_stored_one_step_late_is_caught():
    policy = make_policy()
    exact = exact_gradient(policy, VARIED, DISCOUNT)

    def late(episodes):
        shifted = np.roll(episodes.rewards, 1)
        shifted[episodes.offsets[:-1]] = 0.0
        return shifted

    assert np.abs(deviations(sampled(policy, late), exact)).max() > 10


def two_step_batch():
    """All four ways to act in two steps where only the first action is paid (1 for a = 1)."""
    policy = SoftmaxPolicy((1, 2), rng=np.random.default_rng(0))
    with torch.no_grad():
        for p in policy.parameters():
            p.zero_()  # a fair coin
    rewards = np.array([0, 0, 0, 0, 1, 0, 1, 0], dtype=float)
    actions = np.array([0, 0, 0, 1, 1, 0, 1, 1])
    flags = np.ones(4, dtype=bool)
    some = as_episodes(paths(make_policy(), ENDLESS)[:1])
    batch = type(some)(
        np.ones((8, 1)), actions, rewards, np.full(4, 2), flags, ~flags, np.ones((4, 1))
    )
    return policy, batch


def test_known_gradient_of_two_steps():
    # J = p with p = sigmoid(l_1 - l_0) at p = 1/2: dJ/dl_1 = p (1 - p) = 1/4, for weight and bias.
    policy, batch = two_step_batch()
    returns = returns_to_go(batch.rewards, batch.lengths, 1.0)
    policy_gradient(policy, batch, step_weights(returns, batch.lengths, "episode_sum"))
    np.testing.assert_allclose(gradient_of(policy), [-0.25, 0.25, -0.25, 0.25], atol=1e-15)


def test_no_action_is_paid_for_a_reward_before_it():
    # The reward of the first step must not reach the second action, of this episode or of the next.
    _, batch = two_step_batch()
    returns = returns_to_go(batch.rewards, batch.lengths, 1.0)
    assert returns.tolist() == batch.rewards.tolist()


def test_product_of_sums_is_another_estimate():
    # mean(log p) times the sum of the returns to go: the same for all actions of an episode.
    policy, exact = make_policy(), exact_gradient(make_policy(), ENDLESS, 1.0)
    right, wrong = 0.0, 0.0
    for path in paths(policy, ENDLESS):
        scores = [score(policy, s, a) for s, a in zip(path.states, path.actions, strict=True)]
        returns = returns_to_go(path.rewards, [len(path)], 1.0)
        right = right + path.probability * (np.array(scores).T @ returns)
        wrong = wrong + path.probability * np.mean(scores, axis=0) * returns.sum()
    np.testing.assert_allclose(right, exact, atol=1e-12)
    assert np.abs(wrong - exact).max() > 0.1
    assert np.abs(mean_estimate(policy, ENDLESS, "episode_sum") - wrong).max() > 0.1


@pytest.mark.parametrize("how", ["centred", "normalised"])
def test_batch_of_one_step_gives_zero_and_not_nan(how):
    advantages = standardise([3.7], how)
    assert advantages.tolist() == [0.0]
    assert step_weights(advantages, [1], "step_mean").tolist() == [0.0]


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e4])
def test_normalised_advantages_have_mean_zero_and_deviation_one(scale):
    given_ = np.random.default_rng(0).normal(5.0, scale, size=1000)
    advantages = standardise(given_, "normalised")
    assert advantages.std() == pytest.approx(1, abs=2e-8 / scale)
    assert advantages.mean() == pytest.approx(0, abs=1e-10)


def test_equal_advantages_are_not_blown_up():
    assert np.abs(standardise(np.full(50, 0.1), "normalised")).max() < 1e-6


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_returns_to_go_equal_the_definition(lengths, discount, seed, bootstrap):
    rng = np.random.default_rng(seed)
    rewards = rng.normal(size=sum(lengths))
    final = rng.normal(size=len(lengths)) if bootstrap else None
    expected, start = [], 0
    for e, length in enumerate(lengths):
        r = rewards[start : start + length]
        for t in range(length):
            g = sum(discount**j * r[t + j] for j in range(length - t))
            expected.append(g + (discount ** (length - t) * final[e] if bootstrap else 0.0))
        start += length
    result = returns_to_go(rewards, lengths, discount, final)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_returns_of_an_episode_do_not_depend_on_its_company():
    rng = np.random.default_rng(1)
    lengths = [1, 7, 200, 3]
    rewards = rng.normal(size=sum(lengths))
    together = returns_to_go(rewards, lengths, 0.99)
    alone = [returns_to_go(r, [len(r)], 0.99) for r in np.split(rewards, np.cumsum(lengths)[:-1])]
    assert (together == np.concatenate(alone)).all()


def test_inputs_are_left_alone():
    rewards, final = np.ones(4), np.ones(2)
    returns_to_go(rewards, [3, 1], 0.5, final)
    standardise(rewards, "normalised")
    step_weights(rewards, [3, 1], "episode_sum", 0.5)
    assert (rewards == 1).all()
    assert (final == 1).all()


@pytest.mark.parametrize("stacked", [False, True])
def test_gradient_of_a_gaussian_policy_is_that_of_autograd(stacked):
    generator = np.random.default_rng(0)
    rng = [generator] if stacked else generator
    policy = GaussianPolicy((3, 5, 2), rng=rng)
    some = as_episodes(paths(make_policy(), VARIED))
    actions = np.random.default_rng(1).normal(size=(some.n_steps, 2))
    episodes = type(some)(**{**vars(some), "actions": actions})
    weights = np.random.default_rng(2).normal(size=some.n_steps)
    statistics = policy_gradient(policy, episodes, weights, rows=7)
    blocks = [p.grad.clone() for p in policy.parameters()]

    def lead(values):
        return torch.as_tensor(values)[None] if stacked else torch.as_tensor(values)

    policy.zero_grad()
    log_probs = policy.log_prob(lead(episodes.observations), lead(actions))
    (-(log_probs * torch.as_tensor(weights)).sum()).backward()
    for block, p in zip(blocks, policy.parameters(), strict=True):
        torch.testing.assert_close(block, p.grad, rtol=1e-12, atol=1e-13)
    law = policy.distribution(lead(episodes.observations))
    assert statistics.entropy == pytest.approx(law.entropy().mean().item(), rel=1e-12)
    assert statistics.std == pytest.approx(law.stddev.mean().item(), rel=1e-12)
    norm = np.linalg.norm(np.concatenate([p.grad.numpy().ravel() for p in policy.parameters()]))
    assert statistics.norm == pytest.approx(norm, rel=1e-12)


def test_gradients_do_not_pile_up():
    policy, batch = two_step_batch()
    for _ in range(2):
        policy_gradient(policy, batch, np.ones(8))
        once = gradient_of(policy)
    policy_gradient(policy, batch, np.ones(8))
    assert (gradient_of(policy) == once).all()


BATCH = as_episodes(paths(make_policy(), VARIED)[:2])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: returns_to_go([1.0, 2.0], [1], 0.9), ValueError, "lengths must be .* sum 2"),
        (lambda: returns_to_go([1.0, 2.0], [2, 0], 0.9), ValueError, "lengths must be at least 1"),
        (lambda: returns_to_go([1.0], [1.0], 0.9), TypeError, "lengths must be an integer"),
        (lambda: returns_to_go([np.nan], [1], 0.9), ValueError, "rewards must be finite"),
        (lambda: returns_to_go([1.0], [1], 1.1), ValueError, "discount must lie"),
        (lambda: returns_to_go([1.0], [1], True), TypeError, "discount must be a real"),
        (lambda: returns_to_go([1.0], [1], 0.9, [1.0, 2.0]), ValueError, "final_values must have"),
        (lambda: standardise([], "raw"), ValueError, "advantages must not be empty"),
        (lambda: standardise([1.0], "mean"), ValueError, "how must be one of"),
        (lambda: step_weights([1.0], [1], "mean"), ValueError, "loss must be one of"),
        (lambda: step_weights([1.0], [[1]], "step_mean"), ValueError, "lengths must be a vector"),
        (lambda: step_weights([1.0], [1], "step_mean", -0.1), ValueError, "discount must lie"),
        (lambda: policy_gradient_loss(torch.ones(2), torch.ones(3)), ValueError, "one weight a st"),
        (
            lambda: policy_gradient_loss(torch.ones(2), torch.ones(2, requires_grad=True)),
            ValueError,
            "weights must be numbers",
        ),
        (lambda: policy_gradient(make_policy(), BATCH, [1.0]), ValueError, "weights must have sha"),
        (
            lambda: policy_gradient(make_policy(), BATCH, np.ones(BATCH.n_steps), rows=0),
            ValueError,
            "rows must be at least 1",
        ),
        (
            lambda: policy_gradient(
                SoftmaxPolicy((3, 2), rng=[np.random.default_rng(0)] * 2),
                BATCH,
                np.ones(BATCH.n_steps),
            ),
            ValueError,
            "policy must be a single one: got 2 replicates",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
