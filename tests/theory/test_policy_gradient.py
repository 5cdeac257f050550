"""What the chapter on the policy gradient states, by enumeration of random decision processes.

Every process has at most 3 states, 3 actions and 3 steps, so all its paths can be listed. What they
are compared with does not use them: J is computed backwards in time, and differentiated by a
complex step, J(theta + ih) = J + ih J' + O(h^2), which has no cancellation.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
import torch

from amgd.descent import steps
from amgd.optim import AMGD
from amgd.reinforce import returns_to_go, step_weights

H = 1e-30  # complex step


def softmax(theta):
    exp = np.exp(theta)
    return exp / exp.sum(axis=-1, keepdims=True)


@dataclass
class Process:
    """transition[s, a] is a law on the states and the end (last entry); reward[s, a]."""

    initial: np.ndarray
    transition: np.ndarray
    reward: np.ndarray
    horizon: int
    discount: float

    @cached_property
    def paths(self):
        """(states, actions, probability of the moves) of every possible episode."""
        n_states, n_actions = self.reward.shape
        found = []

        def extend(states, actions, chance):
            for a in range(n_actions):
                taken = [*actions, a]
                law = self.transition[states[-1], a]
                if len(taken) == self.horizon:
                    found.append((states, taken, chance))
                    continue
                for after in np.flatnonzero(law):
                    if after == n_states:
                        found.append((states, taken, chance * law[after]))
                    else:
                        extend([*states, after], taken, chance * law[after])

        for s in np.flatnonzero(self.initial):
            extend([s], [], self.initial[s])
        return found

    @cached_property
    def lengths(self):
        return np.array([len(actions) for _, actions, _ in self.paths])

    def law(self, theta):
        """Probabilities of the paths; theta may be complex."""
        pi = softmax(theta)
        return np.array([m * np.prod(pi[s, a]) for s, a, m in self.paths])

    def scores(self, theta):
        """grad log pi(a_t | s_t) of each path, lists of arrays (L, states, actions)."""
        pi, result = softmax(theta), []
        for states, actions, _ in self.paths:
            rows = np.zeros((len(states), *theta.shape), dtype=pi.dtype)
            rows[np.arange(len(states)), states] = -pi[states]
            rows[np.arange(len(states)), states, actions] += 1
            result.append(rows)
        return result

    def discounted(self, i):
        """discount^t r_t along path i."""
        states, actions, _ = self.paths[i]
        return self.discount ** np.arange(len(states)) * self.reward[states, actions]

    @cached_property
    def returns(self):
        return np.array([self.discounted(i).sum() for i in range(len(self.paths))])

    def to_go(self, i):
        """discount^t G_t along path i."""
        return self.discounted(i)[::-1].cumsum()[::-1]

    def estimates(self, theta, weights=None):
        """The estimate g of each path, (paths, states, actions)."""
        rows = self.scores(theta)
        if weights is None:
            weights = [self.to_go(i) for i in range(len(rows))]
        return np.array([np.tensordot(w, r, 1) for w, r in zip(weights, rows, strict=True)])

    def value(self, theta):
        """J by backward induction."""
        pi, n = softmax(theta), len(self.reward)
        v = np.zeros(n)
        for _ in range(self.horizon):
            v = (pi * (self.reward + self.discount * self.transition[..., :n] @ v)).sum(axis=1)
        return self.initial @ v


def derivative(function, theta):
    """Gradient of a real function by a complex step."""
    result = np.zeros(theta.shape)
    for index in np.ndindex(theta.shape):
        moved = theta.astype(complex)
        moved[index] += 1j * H
        result[index] = function(moved).imag / H
    return result


def random_process(seed, n_states=None, n_actions=None, horizon=3):
    rng = np.random.default_rng([10, seed])
    n_states = n_states or int(rng.integers(1, 4))
    n_actions = n_actions or int(rng.integers(2, 4 if n_states < 3 else 3))
    alive = rng.random((n_states, n_actions, n_states + 1)) < 0.7  # some moves are impossible
    alive[..., -1] |= ~alive.any(axis=-1)
    transition = rng.exponential(size=alive.shape) * alive
    transition /= transition.sum(axis=-1, keepdims=True)
    initial = rng.dirichlet(np.ones(n_states))
    reward = rng.normal(size=(n_states, n_actions))
    process = Process(initial, transition, reward, horizon, float(rng.uniform(0.3, 1)))
    return process, rng.normal(size=(n_states, n_actions)), rng


SEEDS = range(60)


@pytest.mark.theorem("thm-10-policy-gradient")
def test_policy_gradient_is_the_gradient_of_the_value():
    worst, far = 0.0, []
    for seed in SEEDS:
        process, theta, _ = random_process(seed)
        law = process.law(theta)
        assert law.sum() == pytest.approx(1, abs=1e-13)
        assert law @ process.returns == pytest.approx(process.value(theta), abs=1e-13)
        exact = derivative(process.value, theta)
        mean = np.tensordot(law, process.estimates(theta), 1)
        worst = max(worst, np.abs(mean - exact).max())
        # the check is sharp: a reward stored one step late gives another mean
        late = [np.append(process.to_go(i)[1:], 0.0) for i in range(len(law))]
        far.append(np.abs(np.tensordot(law, process.estimates(theta, late), 1) - exact).max())
    assert worst < 1e-12
    assert np.median(far) > 1e-2


@pytest.mark.theorem("lem-10-baseline")
def test_functions_of_the_history_leave_the_mean():
    for seed in SEEDS:
        process, theta, rng = random_process(seed)
        law, rows = process.law(theta), process.scores(theta)
        known = {}  # one arbitrary number for each history
        weights = []
        for states, actions, _ in process.paths:
            histories = [(tuple(states[: t + 1]), tuple(actions[:t])) for t in range(len(states))]
            weights.append([known.setdefault(h, 10 * rng.normal()) for h in histories])
        for t in range(process.horizon):
            at_t = sum(
                p * w[t] * r[t] for p, w, r in zip(law, weights, rows, strict=True) if t < len(r)
            )
            assert np.abs(at_t).max() < 1e-12
        exact = derivative(process.value, theta)
        shifted = [process.to_go(i) - np.array(w) for i, w in enumerate(weights)]
        mean = np.tensordot(law, process.estimates(theta, shifted), 1)
        assert np.abs(mean - exact).max() < 1e-12


def batch_mean(process, theta, loss, n):
    """Mean of the package's weights times the scores over all batches of n episodes."""
    law, rows, total = process.law(theta), process.scores(theta), 0.0
    for chosen in itertools.product(range(len(law)), repeat=n):
        lengths = process.lengths[list(chosen)]
        rewards = [process.reward[process.paths[i][0], process.paths[i][1]] for i in chosen]
        returns = returns_to_go(np.concatenate(rewards), lengths, process.discount)
        weights = step_weights(returns, lengths, loss, process.discount)
        scores = np.concatenate([rows[i] for i in chosen])
        total = total + np.prod(law[list(chosen)]) * np.tensordot(weights, scores, 1)
    return total


def inverse_mean_length(process, theta, n):
    """psi_n for each path: the mean of n / (its length + the steps of n - 1 others)."""
    one, others = np.bincount(process.lengths, process.law(theta)), np.array([1.0])
    for _ in range(n - 1):
        others = np.convolve(others, one)
    steps_of_others = np.arange(len(others))
    return np.array([n * (others / (steps_of_others + m)).sum() for m in process.lengths])


def weighted(process, theta, factors):
    """Mean of factor times estimate over the paths."""
    return np.tensordot(process.law(theta) * factors, process.estimates(theta), 1)


@pytest.mark.theorem("prop-10-scalings")
def test_scalings_of_a_single_episode():
    for seed in SEEDS:
        process, theta, _ = random_process(seed)
        law, exact = process.law(theta), derivative(process.value, theta)
        assert np.abs(batch_mean(process, theta, "episode_sum", 1) - exact).max() < 1e-12
        per_step = process.returns / process.lengths
        slope = derivative(lambda z, p=process, r=per_step: p.law(z) @ r, theta)
        past = [
            (process.returns[i] - process.to_go(i)) / process.lengths[i] for i in range(len(law))
        ]
        expected = slope - np.tensordot(law, process.estimates(theta, past), 1)
        assert np.abs(batch_mean(process, theta, "episode_mean", 1) - expected).max() < 1e-12
        assert np.abs(batch_mean(process, theta, "step_mean", 1) - expected).max() < 1e-12


@pytest.mark.theorem("prop-10-scalings")
@pytest.mark.parametrize("seed", range(4))
def test_scalings_of_a_batch(seed):
    process, theta, _ = random_process(seed, n_states=1, n_actions=2)
    exact = derivative(process.value, theta)
    assert np.abs(batch_mean(process, theta, "episode_sum", 2) - exact).max() < 1e-12
    for n in (2, 3) if len(process.paths) < 15 else (2,):
        one = weighted(process, theta, 1 / process.lengths)
        assert np.abs(batch_mean(process, theta, "episode_mean", n) - one).max() < 1e-12
        many = weighted(process, theta, inverse_mean_length(process, theta, n))
        assert np.abs(batch_mean(process, theta, "step_mean", n) - many).max() < 1e-12


@pytest.mark.theorem("prop-10-scalings")
def test_step_mean_approaches_the_gradient_over_the_mean_length(record):
    worst, differ = 0.0, 0.0
    for seed in SEEDS:
        process, theta, _ = random_process(seed)
        law, exact = process.law(theta), derivative(process.value, theta)
        mean_length = law @ process.lengths
        variance = law @ (process.lengths - mean_length) ** 2
        M = np.linalg.norm(process.estimates(theta), axis=(1, 2)).max()
        for n in (1, 2, 5, 25):
            mean = weighted(process, theta, inverse_mean_length(process, theta, n))
            distance = np.linalg.norm(mean - exact / mean_length)
            bound = M / n / mean_length**2 * (np.sqrt(variance) + variance)
            assert distance <= bound + 1e-14
            worst = max(worst, distance / bound if bound > 1e-12 else 0.0)
            differ = max(differ, distance)
    assert differ > 0.1  # there is something to bound
    record("prop-10-scalings, step_mean to grad J / E L", worst)


@pytest.mark.theorem("prop-10-scalings")
def test_equal_lengths_make_the_scalings_multiples():
    for seed in range(10):
        process, theta, _ = random_process(seed)
        process.transition[..., 0] += process.transition[..., -1]
        process.transition[..., -1] = 0.0  # no end: all episodes last 3 steps
        exact = derivative(process.value, theta)
        for loss in ("episode_mean", "step_mean"):
            assert np.abs(batch_mean(process, theta, loss, 1) - exact / 3).max() < 1e-12


def constants(process):
    M = np.sqrt(2) * max(np.abs(process.to_go(i)).sum() for i in range(len(process.paths)))
    curvature = 2 * process.lengths**2 + process.lengths / 2
    return M, (np.abs(process.returns) * curvature).max()


def hessian_norm(process, theta):
    """Norm of the Hessian of J: a complex step through the policy gradient."""
    columns = []
    for index in np.ndindex(theta.shape):
        moved = theta.astype(complex)
        moved[index] += 1j * H
        gradient = np.tensordot(process.law(moved), process.estimates(moved), 1)
        columns.append(gradient.imag.ravel() / H)
    hessian = np.array(columns)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-11)
    return np.linalg.norm(hessian, 2)


@pytest.mark.theorem("lem-10-constants")
def test_constants_of_a_tabular_softmax_policy(record):
    worst = np.zeros(2)
    for seed in SEEDS:
        process, theta, _ = random_process(seed)
        M, smooth = constants(process)
        for factor in (0.0, 1.0, 8.0):  # a fair coin, a random and a nearly certain policy
            point = factor * theta
            norms = np.linalg.norm(process.estimates(point), axis=(1, 2))
            ratios = np.array([norms.max() / M, hessian_norm(process, point) / smooth])
            assert (ratios <= 1 + 1e-12).all()
            worst = np.maximum(worst, ratios)
    record("lem-10-constants, M", worst[0])
    record("lem-10-constants, Lipschitz", worst[1])


def exact_run(process, rule, theta0, n_steps):
    """E ||grad J(y_k)||^2 and E ||G_k||^2 for k = 1..n_steps, on the tree of all samples."""
    shape = theta0.shape
    probability = np.ones(1)
    y = torch.tensor(theta0[None].copy())
    optimizer = AMGD([y], lr=1.0, schedule=rule)
    squares, moments = [], []
    n = len(process.paths)
    for _ in range(n_steps):
        points = y.detach().numpy()
        laws = np.array([process.law(p) for p in points])
        each = np.array([process.estimates(p) for p in points])  # (nodes, paths, ...)
        means = np.einsum("bi,bi...->b...", laws, each)
        squares.append(probability @ (means**2).sum(axis=(1, 2)))
        moments.append(np.einsum("b,bi,bi->", probability, laws, (each**2).sum(axis=(2, 3))))
        # one node for each next episode: repeat the optimizer's state and take the step
        state = optimizer.state_dict()
        for values in state["state"].values():
            for key, tensor in values.items():
                if isinstance(tensor, torch.Tensor) and tensor.shape == y.shape:
                    values[key] = tensor.repeat_interleave(n, dim=0)
        y = y.detach().repeat_interleave(n, dim=0)
        optimizer = AMGD([y], lr=1.0, schedule=rule)
        optimizer.load_state_dict(state)
        y.grad = torch.from_numpy(-each.reshape(-1, *shape))
        optimizer.step()
        probability = (probability[:, None] * laws).ravel()
    return np.array(squares), np.array(moments)


def best_value(process):
    """An upper bound of J: dynamic programming over policies that also know the time."""
    n = len(process.reward)
    v = np.zeros(n)
    for _ in range(process.horizon):
        v = (process.reward + process.discount * process.transition[..., :n] @ v).max(axis=1)
    return process.initial @ v


@pytest.mark.theorem("prop-10-ascent")
@pytest.mark.parametrize(
    ("make", "factor"),
    [
        (steps.sgd, 0.5),
        (steps.theorem1, 1.5),
        (lambda b: steps.theorem1(b, lambda k: (1 + 1 / (k + 1)) * b), 1.5),
    ],
    ids=["sgd", "largest", "middle"],
)
def test_accelerated_reinforce_within_its_bound(make, factor, record):
    worst = 0.0
    for seed in range(50):
        process, theta, _ = random_process(seed, n_states=1, n_actions=2, horizon=2)
        K = 3
        _, smooth = constants(process)
        # The proposition holds for every Lipschitz constant; near 1 / smooth it is sharp.
        beta = (0.3 / smooth, 1.0 / smooth, 3.0)[seed % 3]
        rule = make(beta)
        squares, moments = exact_run(process, rule, theta, K)
        weights = rule.gamma(np.arange(1, K + 1))
        measured = weights @ squares / weights.sum()
        gap = best_value(process) - process.value(theta)
        bound = gap / (beta * K) + factor * smooth * moments.max() * beta
        assert measured <= bound
        worst = max(worst, measured / bound)
    record(f"prop-10-ascent, factor {factor}", worst)
