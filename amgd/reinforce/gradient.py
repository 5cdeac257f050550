r"""The policy-gradient estimator of REINFORCE, in the steps of its derivation.

A batch of E episodes with lengths :math:`L_e` and :math:`N=\sum_e L_e` steps gives the estimate

.. math:: \hat g=\sum_{e}\sum_{t<L_e} w_{e,t}\,\nabla\log\pi_\theta(a_{e,t}\mid o_{e,t})

and everything that readings of REINFORCE differ in is a matter of the weights w, which are numbers
and carry no gradient:

1. *returns to go* :math:`G_t=\sum_{s\ge t}\gamma^{s-t}r_s` (`returns_to_go`). A reward enters the
   weights of the actions up to its own step, and of no later one;
2. *advantages*: a baseline is subtracted, the batch centred or normalised (`standardise`);
3. *scaling*: a mean over all steps, over episodes of means over steps, or over episodes of sums,
   with or without the factor :math:`\gamma^t` (`step_weights`).

With ``"episode_sum"``, the factor :math:`\gamma^t` and raw returns the mean of the estimate is the
gradient of the expected discounted return (Williams 1992; Sutton et al. 2000). The other choices
estimate something else, as `step_weights` says.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.signal import lfilter
from torch import Tensor
from torch.distributions import Independent

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.reinforce.episodes import Episodes
from amgd.reinforce.policies import Policy

__all__ = [
    "GradientStatistics",
    "policy_gradient",
    "policy_gradient_loss",
    "returns_to_go",
    "standardise",
    "step_weights",
]

Loss = Literal["step_mean", "episode_mean", "episode_sum"]
Advantages = Literal["raw", "centred", "normalised"]
Numbers = Annotated[ArrayLike, check.array, ("N",), "pass one number a step"]
Discount = Annotated[float | None, check.real, "0.99 is usual", "[0, 1]"]

ROWS = 8192  # steps that go through the network at once: bounds the memory of the activations


@check.arguments
def returns_to_go(
    rewards: Numbers,
    lengths: ArrayLike,
    discount: Annotated[float, check.real, "0.99 is usual", "[0, 1]"],
    final_values: ArrayLike | None = None,
) -> FloatArray:
    """Return G_t = r_t + discount r_{t+1} + ... + discount^(L-t) v for every step of a batch.

    Parameters
    ----------
    rewards : array (N,)
        Rewards of E episodes, one after the other.
    lengths : int array (E,)
        Their lengths, with sum N.
    discount : float
        In [0, 1].
    final_values : array (E,), optional
        The value v of what comes after the last step: 0 where the task ended the episode, a
        predicted return where only the time limit did. Default: 0 everywhere, as in rllab.

    Raises
    ------
    TypeError, ValueError
        For lengths that do not sum to N, a length below 1, or a number that is not finite.

    Examples
    --------
    >>> returns_to_go([1.0, 1.0, 1.0, 5.0], [3, 1], 0.5)
    array([1.75, 1.5 , 1.  , 5.  ])
    >>> returns_to_go([1.0, 1.0, 1.0, 5.0], [3, 1], 0.5, final_values=[8.0, 0.0])
    array([2.75, 3.5 , 5.  , 5.  ])
    """
    given = np.asarray(rewards)
    steps = _checked_lengths(lengths, len(given))
    ends = np.cumsum(steps)
    if final_values is not None:
        final = check.array("final_values", final_values, steps.shape, "pass one an episode")
        given[ends - 1] += discount * final
    # Each episode is a row written from its end: the recursion G_t = r_t + discount G_{t+1} then
    # runs along the rows, and what stands after the first step of a short one does not matter.
    row = np.repeat(np.arange(len(steps)), steps)
    column = np.repeat(ends, steps) - 1 - np.arange(len(given))
    reversed_rewards = np.zeros((len(steps), int(steps.max())))
    reversed_rewards[row, column] = given
    sums = lfilter([1.0], [1.0, -discount], reversed_rewards, axis=1)
    return np.asarray(sums[row, column])


@check.arguments
def standardise(advantages: Numbers, how: Advantages) -> FloatArray:
    """Return advantages as they are, centred, or centred and divided by their deviation.

    Parameters
    ----------
    advantages : array (N,)
        Of all steps of the batch.
    how : "raw", "centred" or "normalised"
        The mean and the deviation (with N, not N - 1) are over the whole batch. As in rllab 1e-8
        is added to the deviation, so one step, or equal advantages, give 0 and not NaN.

    Notes
    -----
    Both subtract a number that depends on the actions of the batch, so the estimate has a bias
    of order 1 over the number of episodes. Dividing also rescales it: returns 10 times as large
    give the same step.

    Examples
    --------
    >>> standardise([1.0, 3.0], "centred"), standardise([7.0], "normalised")
    (array([-1.,  1.]), array([0.]))
    >>> standardise([1.0, 3.0, 5.0], "normalised").std().round(6)
    np.float64(1.0)
    """
    given = np.asarray(advantages)
    if how == "raw":
        return given
    centred = given - given.mean()
    return np.asarray(centred if how == "centred" else centred / (centred.std() + 1e-8))


@check.arguments
def step_weights(
    advantages: Numbers, lengths: ArrayLike, loss: Loss, discount: Discount = None
) -> FloatArray:
    r"""Return the weight of each step's :math:`\nabla\log\pi` in the estimate.

    Parameters
    ----------
    advantages : array (N,)
        Returns to go, or what was made of them.
    lengths : int array (E,)
        Lengths of the episodes, with sum N.
    loss : "step_mean", "episode_mean" or "episode_sum"
        Divide by N (rllab), by E and the length of the step's own episode (the loop of Pham et
        al. 2020), or by E.
    discount : float, optional
        Multiply by ``discount**t`` with t the step within its episode. Without it late steps
        count as much as early ones, as in nearly all code; the estimate is then not the gradient
        of any function (Nota and Thomas 2020).

    Notes
    -----
    Where all episodes have one length T, the three are the same up to the factor T. Otherwise a
    learning rate means different things: ``"episode_mean"`` weighs a step of a short episode more.

    Examples
    --------
    >>> step_weights([1.0, 1.0, 1.0, 1.0], [3, 1], "step_mean")
    array([0.25, 0.25, 0.25, 0.25])
    >>> step_weights([1.0, 1.0, 1.0, 1.0], [3, 1], "episode_mean").round(3)
    array([0.167, 0.167, 0.167, 0.5  ])
    >>> step_weights([1.0, 1.0, 1.0, 1.0], [3, 1], "episode_sum", discount=0.5)
    array([0.5  , 0.25 , 0.125, 0.5  ])
    """
    given = np.asarray(advantages)
    steps = _checked_lengths(lengths, len(given))
    if discount is not None:
        time = np.arange(len(given)) - np.repeat(np.cumsum(steps) - steps, steps)
        given *= discount**time
    if loss == "step_mean":
        return given / len(given)
    if loss == "episode_mean":
        return given / (len(steps) * np.repeat(steps, steps))
    return given / len(steps)


@check.arguments
def policy_gradient_loss(log_probs: Tensor, weights: Tensor) -> Tensor:
    """Return the number whose gradient is minus the estimate: - sum_i w_i log pi(a_i | o_i).

    Each log-probability meets the weight of its own step. The product of the two sums over an
    episode is another thing: there every action pays for every reward, past ones too.

    Examples
    --------
    >>> log_probs = torch.tensor([-1.0, -2.0], requires_grad=True)
    >>> policy_gradient_loss(log_probs, torch.tensor([3.0, 4.0])).backward()
    >>> log_probs.grad
    tensor([-3., -4.])
    """
    if log_probs.shape != weights.shape:
        raise ValueError(
            f"weights must have the shape {tuple(log_probs.shape)} of log_probs: got "
            f"{tuple(weights.shape)}; pass one weight a step"
        )
    if weights.requires_grad:
        raise ValueError("weights must be numbers: got a tensor with a gradient; use .detach()")
    return -(weights * log_probs).sum()


class GradientStatistics(NamedTuple):
    """What a pass over a batch shows besides the gradient.

    Attributes
    ----------
    loss : float
        Value of `policy_gradient_loss`; its size means nothing, only whether it is finite.
    norm : float
        Euclidean norm of the gradient.
    entropy : float
        Mean over the steps of the policy's entropy (nats).
    std : float
        Mean standard deviation of a Gaussian policy over steps and coordinates; NaN for others.
    """

    loss: float
    norm: float
    entropy: float
    std: float


@check.arguments
def policy_gradient(
    policy: Policy,
    episodes: Episodes,
    weights: ArrayLike,
    *,
    rows: Annotated[int, check.integer, 1, "8192 is the default"] = ROWS,
) -> GradientStatistics:
    """Set the ``grad`` of every parameter to minus the estimate, for an optimizer that descends.

    Parameters
    ----------
    policy : Policy
        A single one, or a stack of one.
    episodes : Episodes
        A batch that the policy has made with its present parameters.
    weights : array (N,)
        From `step_weights`.
    rows : int
        Steps that go through the network at once. The memory needed grows with it, and the
        result changes by rounding only.

    Returns
    -------
    GradientStatistics

    Examples
    --------
    >>> from amgd.reinforce import collect_episodes, make_simulator, policy_for
    >>> rng = np.random.default_rng(0)
    >>> simulator = make_simulator("CartPole-v0")
    >>> policy = policy_for(simulator, (8,), rng=rng)
    >>> batch = collect_episodes(policy, simulator, 5, rng=rng)
    >>> returns = returns_to_go(batch.rewards, batch.lengths, 0.99)
    >>> weights = step_weights(returns, batch.lengths, "episode_sum")
    >>> statistics = policy_gradient(policy, batch, weights)
    >>> round(statistics.entropy, 2)  # a fair coin has log 2 = 0.69
    0.69
    """
    if policy.replicates not in (None, 1):
        raise ValueError(
            f"policy must be a single one: got {policy.replicates} replicates; give each of them "
            "its own episodes, as Episodes.replicate does"
        )
    given = check.array("weights", weights, (episodes.n_steps,), "pass one for each step")
    factors = torch.as_tensor(given, dtype=policy.dtype)
    observations = torch.as_tensor(episodes.observations, dtype=policy.dtype)
    actions = torch.as_tensor(episodes.actions)
    policy.zero_grad()
    loss = entropy = std = 0.0
    for start in range(0, episodes.n_steps, rows):
        part = slice(start, start + rows)
        law = policy.distribution(_stacked(observations[part], policy))
        log_probs = law.log_prob(_stacked(actions[part], policy))
        value = policy_gradient_loss(log_probs, _stacked(factors[part], policy))
        value.backward()  # type: ignore[no-untyped-call]
        loss += value.item()
        with torch.no_grad():
            entropy += law.entropy().sum().item()
            if isinstance(law, Independent):
                std += law.stddev.mean(dim=-1).sum().item()
    gradients = [p.grad for p in policy.parameters() if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in gradients])).item()
    n = episodes.n_steps
    gaussian = policy.action_kind == "continuous"
    return GradientStatistics(loss, norm, entropy / n, std / n if gaussian else np.nan)


def _stacked(values: Tensor, policy: Policy) -> Tensor:
    return values if policy.replicates is None else values.unsqueeze(0)


def _checked_lengths(lengths: ArrayLike, n: int) -> IntArray:
    steps = check.integers("lengths", lengths, 1, "an episode has at least one step")
    if steps.ndim != 1 or not steps.size or steps.sum() != n:
        raise ValueError(
            f"lengths must be a vector with sum {n}, as there are so many rewards or advantages: "
            f"got shape {steps.shape} with sum {steps.sum()}; pass Episodes.lengths"
        )
    return steps
