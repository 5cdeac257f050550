r"""TD(lambda) and its accelerated form on one long path, all seeds together.

The eligibility trace :math:`z_t=\sum_{j\le t}(\gamma\lambda)^{t-j}\phi(s_j)` (:math:`\gamma` is the
discount) takes the place of :math:`\phi(s_t)` in TD(0): the parameter moves along
:math:`z_t\delta_t`, whose stationary mean is :math:`b_\lambda-A_\lambda\theta` with

.. math:: A_\lambda=\Phi^\top D(I-\gamma\lambda P)^{-1}(I-\gamma P)\Phi,\qquad
          b_\lambda=\Phi^\top D(I-\gamma\lambda P)^{-1}r .

Chapter 14 tells what a trace does to the condition number of this field.
The functions are for problems that go on for ever: without terminal states, under the stationary
law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.algorithms import recorded
from amgd.descent.steps import Step, StepSizes, sgd
from amgd.errors import Diverged
from amgd.td.evaluation import TDProblem

__all__ = ["TraceRun", "kappa_trace", "lstd", "td_trace", "trace_system"]

_TRACE = "0 is TD(0); 1 is Monte Carlo"


@dataclass(frozen=True)
class TraceRun:
    """Recorded iterates of a run along one path.

    Attributes
    ----------
    k : ndarray of int64, shape (r,)
        Number of transitions learned from.
    theta : ndarray, shape (r, replicates, d)
        The iterate that is evaluated: the average if one is asked for, x_bar of Algorithm 2.
    x : ndarray, shape (r, replicates, d)
        The iterate that is not averaged.
    """

    k: IntArray
    theta: FloatArray
    x: FloatArray


def kappa_trace(trace: float, *, discount: float, low: float = 0.0, high: float = 1.0) -> float:
    r"""Return the condition number of TD(lambda) (Proposition ``prop-14-trace``).

    For a reversible chain and eigenfeatures whose eigenvalues have the extremes `low` and `high`,

    .. math::

        \kappa_\lambda=\frac{(1-\gamma a)(1-\gamma\lambda b)}{(1-\gamma b)(1-\gamma\lambda a)}.

    Parameters
    ----------
    trace : float in [0, 1]
        :math:`\lambda`.
    discount : float in [0, 1)
    low, high : float in [-1, 1]
        a <= b.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> [round(kappa_trace(trace, discount=0.99), 1) for trace in (0.0, 0.9, 0.99, 1.0)]
    [100.0, 10.9, 2.0, 1.0]
    """
    trace = check.real("trace", trace, _TRACE, "[0, 1]")
    gamma = check.discount_factor(discount)
    a = check.real("low", low, "an eigenvalue of a reversible chain", "[-1, 1]")
    b = check.real("high", high, "an eigenvalue of a reversible chain", "[-1, 1]")
    if a > b:
        raise ValueError(f"low must not exceed high: got low={a}, high={b}; swap them")
    r = gamma * trace
    return (1 - gamma * a) * (1 - r * b) / ((1 - gamma * b) * (1 - r * a))


@check.arguments
def trace_system(problem: TDProblem, trace: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean field of TD(lambda), exactly (Proposition ``prop-14-trace``).

    Parameters
    ----------
    problem : TDProblem
        Without terminal states, under the stationary law.
    trace : float in [0, 1]

    Returns
    -------
    A : ndarray, shape (d, d)
    b : ndarray, shape (d,)

    Raises
    ------
    TypeError, ValueError
        If the problem ends, has another law, or an argument is out of its range.

    Examples
    --------
    >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
    >>> A, b = trace_system(problem, 1.0)
    >>> A, np.linalg.solve(A, b)
    (array([[0.5, 0. ],
           [0. , 0.5]]), array([1.5, 0.5]))
    """
    r = problem.discount * check.real("trace", trace, _TRACE, "[0, 1]")
    _continues(problem)
    P = problem.transition.toarray()
    left = np.linalg.solve(  # (I - r P)^-T D Phi
        np.eye(problem.n_states) - r * P.T, problem.law[:, None] * problem.features
    )
    expected = problem.reward + P @ problem.arrival_reward
    return left.T @ (problem.features - problem.discount * P @ problem.features), left.T @ expected


@check.arguments
@np.errstate(over="ignore", invalid="ignore")  # seen and reported
def td_trace(
    problem: TDProblem,
    states: ArrayLike,
    step: Step,
    *,
    trace: float = 0.0,
    average: Literal["none", "uniform", "linear"] = "none",
    theta0: ArrayLike | None = None,
    record: ArrayLike | None = None,
) -> TraceRun:
    r"""Run TD(lambda), or Algorithm 2 with its updates, along one path for each seed.

    Parameters
    ----------
    problem : TDProblem
        Without terminal states.
    states : array_like of int, shape (replicates, length + 1)
        Such as ``problem.chain.sample(length + 1, rng=rng, replicates=20)``. The trace begins
        at 0.
    step : float, callable or StepSizes
        One step (a number, a function of k, or a rule with gamma = beta) for TD(lambda);
        a rule for Algorithm 2 for the accelerated form.
    trace : float in [0, 1]
        :math:`\lambda`; 0 is TD(0).
    average : {"none", "uniform", "linear"}
        As in :func:`amgd.descent.sgd`; Algorithm 2 has its own.
    theta0 : array_like, shape (d,), optional
        Default: 0.
    record : array_like of int, optional
        As in :func:`amgd.descent.sgd`.

    Returns
    -------
    TraceRun

    Raises
    ------
    Diverged
        If an iterate is not finite.
    TypeError, ValueError
        If an argument has the wrong shape, type or range.

    Examples
    --------
    >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
    >>> path = problem.chain.sample(4001, rng=np.random.default_rng(0), replicates=2)
    >>> run = td_trace(problem, path, lambda k: 4 / (k + 8), trace=0.5, record=[4000])
    >>> bool(np.abs(run.theta - problem.theta_star).max() < 0.2)
    True
    """
    r = problem.discount * check.real("trace", trace, _TRACE, "[0, 1]")
    check.choice("average", average, ("none", "uniform", "linear"))
    _continues(problem)
    paths = _paths(problem, states)
    replicates, last = paths.shape[0], paths.shape[1] - 1
    accelerated = isinstance(step, StepSizes) and step.algorithm == "convex"
    if accelerated and average != "none":
        raise ValueError(
            f"average must be 'none' for the steps of Algorithm 2: got {average!r}; "
            "its x_bar is an average already"
        )
    steps = step if isinstance(step, StepSizes) and accelerated else sgd(step)
    k = np.arange(1, last + 1)
    rates = (steps.eta if accelerated else steps.beta)(k)
    alpha, beta = steps.alpha(k), steps.beta(k)
    start = np.zeros(problem.dim)
    if theta0 is not None:
        start = check.array("theta0", theta0, (problem.dim,), "give one point")
    x = np.tile(start, (replicates, 1))
    x_bar, z = x.copy(), np.zeros_like(x)
    wanted = recorded(record, last)
    places = {int(w): place for place, w in enumerate(wanted)}
    thetas, xs = np.empty((2, len(wanted), *x.shape))
    phi = problem.features
    for t in range(last):
        s, after = paths[:, t], paths[:, t + 1]
        z = r * z + phi[s]
        y = (1 - beta[t]) * x_bar + beta[t] * x if accelerated else x
        reward = problem.reward[s] + problem.arrival_reward[after]
        delta = reward - ((phi[s] - problem.discount * phi[after]) * y).sum(axis=1)
        move = rates[t] * (delta[:, None] * z)
        x = x + steps.mu * rates[t] * (y - x) + move if accelerated else x + move
        if accelerated:
            weight = alpha[t]
        else:
            weight = {"none": 1.0, "uniform": 1 / (t + 1), "linear": 2 / (t + 2)}[average]
        x_bar = (1 - weight) * x_bar + weight * x
        if not np.isfinite(np.vdot(x, x)):
            seed = int(np.argmin(np.isfinite((x * x).sum(axis=1))))
            raise Diverged(
                f"td_trace diverges: the iterate of seed {seed} is not finite after transition "
                f"{t + 1}; take smaller steps",
                t + 1,
                seed,
                "an iterate is not finite",
            )
        if t + 1 in places:
            thetas[places[t + 1]], xs[places[t + 1]] = x_bar, x
    return TraceRun(wanted, thetas, xs)


@check.arguments
def lstd(
    problem: TDProblem, states: ArrayLike, *, trace: float = 0.0, ridge: float = 1e-6
) -> FloatArray:
    r"""Solve the sampled system of TD(lambda) for each path: LSTD(lambda).

    :math:`\big(\epsilon I+\sum_tz_t(\phi(s_t)-\gamma\phi(s_{t+1}))^\top\big)\theta=\sum_tz_tr_t`;
    it takes d² numbers of memory where the other methods take d, and has no step.

    Parameters
    ----------
    problem, states, trace
        As for :func:`td_trace`.
    ridge : float
        :math:`\epsilon`, positive.

    Returns
    -------
    ndarray, shape (replicates, d)

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong shape, type or range.

    Examples
    --------
    >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
    >>> path = problem.chain.sample(2001, rng=np.random.default_rng(0), replicates=3)
    >>> bool(np.abs(lstd(problem, path) - problem.theta_star).max() < 0.05)
    True
    """
    r = problem.discount * check.real("trace", trace, _TRACE, "[0, 1]")
    epsilon = check.positive("ridge", ridge, "it makes the system regular")
    _continues(problem)
    paths = _paths(problem, states)
    phi = problem.features
    A = np.tile(epsilon * np.eye(problem.dim), (len(paths), 1, 1))
    b, z = np.zeros((2, len(paths), problem.dim))
    for s, after in zip(paths.T[:-1], paths.T[1:], strict=True):
        z = r * z + phi[s]
        A += z[:, :, None] * (phi[s] - problem.discount * phi[after])[:, None, :]
        b += z * (problem.reward[s] + problem.arrival_reward[after])[:, None]
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0])


def _continues(problem: TDProblem) -> None:
    check.instance("problem", problem, TDProblem, "make one with TDProblem(transition, ...)")
    if problem.is_terminal.any():
        raise ValueError(
            f"problem must have no terminal states: got {int(problem.is_terminal.sum())}; a trace "
            "would have to end there, so use a goal that resets"
        )
    if not np.allclose(problem.law, problem.chain.stationary, rtol=0, atol=1e-9):
        raise ValueError(
            "problem must have the stationary law, which a long path has: got another one; "
            'pass law="stationary"'
        )


def _paths(problem: TDProblem, states: ArrayLike) -> IntArray:
    paths = problem.check_paths(states)
    if paths.ndim != 2 or paths.shape[1] < 2:
        raise ValueError(
            f"states must have shape (replicates, length + 1): got {paths.shape}; pass "
            "problem.chain.sample(length + 1, rng=rng, replicates=n)"
        )
    return paths
