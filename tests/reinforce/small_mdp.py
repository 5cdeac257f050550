"""A decision process so small that everything can be enumerated: 3 states, 2 actions, horizon 3.

The policy is a softmax with one logit for each pair of state and action (and a bias), so its score
has a closed form, written here in NumPy and independent of torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from amgd.reinforce import Episodes, SoftmaxPolicy
from amgd.reinforce.simulators import Simulator, Step

STATES, ACTIONS, HORIZON, END = 3, 2, 3, 3
NAME = "small"

# transition[s, a] is a law on the states 0, 1, 2 and the end.
VARIED = np.array(
    [
        [[0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 1.0, 0.0]],
        [[0.3, 0.0, 0.7, 0.0], [0.0, 1.0, 0.0, 0.0]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]],
    ]
)
# The same without an end: every episode is cut after 3 steps.
ENDLESS = VARIED.copy()
ENDLESS[..., 0] += ENDLESS[..., END]
ENDLESS[..., END] = 0.0
# Every episode goes 0, 1, 2 and ends in the very step of the time limit.
CHAIN = np.zeros((STATES, ACTIONS, 4))
CHAIN[0, :, 1] = CHAIN[1, :, 2] = CHAIN[2, :, END] = 1.0

REWARD = np.array([[1.0, -0.5], [2.0, 0.3], [-1.0, 0.7]])  # of (state, action)


class SmallMDP(Simulator):
    """Runs `transition`; a row of `initial` holds the uniform numbers of the three transitions."""

    observation_size, action_kind, action_size = STATES, "discrete", ACTIONS

    def __init__(self, transition=VARIED, reward=REWARD, name=NAME):
        super().__init__()
        self.name, self.horizon = name, HORIZON
        self.transition, self.reward = transition, reward

    def initial(self, n, *, rng):
        return rng.random((n, HORIZON))

    def _check_rows(self, rows):
        assert rows.shape[1:] == (HORIZON,)

    def _start(self, rows):
        self.rows, self.state = rows, np.zeros(len(rows), dtype=int)
        return np.eye(STATES)[self.state]

    def _step(self, actions):
        rewards = self.reward[self.state, actions]
        law = self.transition[self.state, actions].cumsum(axis=1)
        self.state = (self.rows[:, self.elapsed, None] >= law[:, :-1]).sum(axis=1)
        terminated = self.state == END
        observations = np.eye(STATES)[np.minimum(self.state, STATES - 1)]
        return Step(observations, rewards, terminated, np.zeros_like(terminated))

    def _compact(self, keep):
        self.rows, self.state = self.rows[keep], self.state[keep]

    def _get_state(self):
        raise NotImplementedError

    _set_state = _get_state


@dataclass
class Path:
    """One trajectory with its probability under a policy."""

    probability: float
    states: list[int]
    actions: list[int]
    terminated: bool

    @property
    def rewards(self):
        return REWARD[self.states, self.actions]

    def __len__(self):
        return len(self.states)


def make_policy(seed=3):
    """Return a policy with random logits, biases too."""
    rng = np.random.default_rng(seed)
    policy = SoftmaxPolicy((STATES, ACTIONS), rng=rng)
    with torch.no_grad():
        for p in policy.parameters():
            p.copy_(torch.as_tensor(rng.normal(size=tuple(p.shape))))
    return policy


def action_laws(policy):
    """Return pi(a | s), by a softmax of its own."""
    weight, bias = (p.detach().numpy() for p in policy.parameters())
    exp = np.exp(weight + bias)
    return exp / exp.sum(axis=1, keepdims=True)


def paths(policy, transition):
    """Return every trajectory from state 0."""
    law, found = action_laws(policy), []

    def extend(path):
        for a in range(ACTIONS):
            s = path.states[-1]
            for after in range(4):
                p = path.probability * law[s, a] * transition[s, a, after]
                actions = [*path.actions, a]
                if p == 0:
                    continue
                if after == END or len(actions) == HORIZON:
                    found.append(Path(p, path.states, actions, after == END))
                else:
                    extend(Path(p, [*path.states, after], actions, False))

    extend(Path(1.0, [0], [], False))
    return found


def score(policy, state, action):
    """Return the gradient of log pi(action | state), flat, in the order of the parameters."""
    d = np.eye(ACTIONS)[action] - action_laws(policy)[state]
    weight = np.zeros((STATES, ACTIONS))
    weight[state] = d
    return np.concatenate([weight.ravel(), d])


def as_episodes(some):
    """Return a batch of these trajectories."""
    states = np.concatenate([path.states for path in some])
    terminated = np.array([path.terminated for path in some])
    return Episodes(
        observations=np.eye(STATES)[states],
        actions=np.concatenate([path.actions for path in some]),
        rewards=np.concatenate([path.rewards for path in some]),
        lengths=np.array([len(path) for path in some]),
        terminated=terminated,
        truncated=~terminated,
        final_observations=np.zeros((len(some), STATES)),
    )


def gradient_of(policy):
    """Return what is in ``grad``, with the sign of ascent, flat."""
    return -np.concatenate([p.grad.numpy().ravel() for p in policy.parameters()])


def exact_gradient(policy, transition, discount, *, by_time=True):
    """Return sum_t w_t sum_s d_t(s) sum_a grad pi(a | s) Q_t(s, a) by dynamic programming.

    With w_t = discount^t this is the gradient of the expected discounted return.
    """
    law = action_laws(policy)
    step = transition[..., :STATES]  # the end has value 0
    q, value = [], np.zeros(STATES)
    for _ in range(HORIZON):
        q.insert(0, REWARD + discount * step @ value)
        value = (law * q[0]).sum(axis=1)
    occupied, total = np.eye(STATES)[0], 0.0
    for t in range(HORIZON):
        for s in range(STATES):
            for a in range(ACTIONS):
                share = occupied[s] * law[s, a] * q[t][s, a]
                total = total + (discount**t if by_time else 1) * share * score(policy, s, a)
        occupied = np.einsum("s,sa,sat->t", occupied, law, step)
    return total


def exact_value(policy, transition, discount):
    """Return the expected discounted return as a tensor that autograd can differentiate."""
    law = policy.distribution(np.eye(STATES)).probs
    value = torch.zeros(STATES, dtype=torch.float64)
    step, reward = torch.as_tensor(transition[..., :STATES]), torch.as_tensor(REWARD)
    for _ in range(HORIZON):
        value = (law * (reward + discount * step @ value)).sum(dim=1)
    return value[0]
