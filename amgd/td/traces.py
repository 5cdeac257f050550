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
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.algorithms import check_average, recorded
from amgd.descent.steps import Step, StepSizes, sgd
from amgd.errors import Diverged
from amgd.td.evaluation import TDProblem

__all__ = [
    "ExpectedTrace",
    "TraceRun",
    "expected_trace",
    "kappa_trace",
    "lstd",
    "td_trace",
    "trace_system",
]

Eigenvalue = Annotated[float, check.real, "an eigenvalue of a reversible chain", "[-1, 1]"]
Trace = Annotated[float, check.real, "0 is TD(0); 1 is Monte Carlo", "[0, 1]"]


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


@check.arguments
def kappa_trace(
    trace: Trace, *, discount: check.Discount, low: Eigenvalue = 0.0, high: Eigenvalue = 1.0
) -> float:
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
    gamma, a, b = discount, low, high
    if a > b:
        raise ValueError(f"low must not exceed high: got low={a}, high={b}; swap them")
    r = gamma * trace
    return (1 - gamma * a) * (1 - r * b) / ((1 - gamma * b) * (1 - r * a))


@check.arguments
def trace_system(problem: TDProblem, trace: Trace) -> tuple[FloatArray, FloatArray]:
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
    r = problem.discount * trace
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
    trace: Trace = 0.0,
    average: check.Average = "none",
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
        If an iterate is not finite; holds the records so far.
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
    r = problem.discount * trace
    _continues(problem)
    paths = _paths(problem, states)
    replicates, last = paths.shape[0], paths.shape[1] - 1
    rates = _rates(step, average, last)
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
        eta, alpha, beta, pull = (rate[t] for rate in rates)
        y = (1 - beta) * x_bar + beta * x
        reward = problem.reward[s] + problem.arrival_reward[after]
        delta = reward - ((phi[s] - problem.discount * phi[after]) * y).sum(axis=1)
        x = x + pull * (y - x) + eta * (delta[:, None] * z)
        x_bar = (1 - alpha) * x_bar + alpha * x
        if not np.isfinite(np.vdot(x, x)):
            past = wanted <= t
            seed = int(np.argmin(np.isfinite((x * x).sum(axis=1))))
            raise Diverged(
                f"td_trace diverges: the iterate of seed {seed} is not finite after transition "
                f"{t + 1}; take smaller steps",
                t + 1,
                seed,
                "an iterate is not finite",
                TraceRun(wanted[past], thetas[past], xs[past]),
            )
        if t + 1 in places:
            thetas[places[t + 1]], xs[places[t + 1]] = x_bar, x
    return TraceRun(wanted, thetas, xs)


@dataclass(frozen=True)
class ExpectedTrace:
    r"""Exact expectations over all paths of a run.

    Attributes
    ----------
    k : ndarray of int64, shape (r,)
        Number of transitions learned from.
    theta : ndarray, shape (r, d)
        Expectation of the iterate that is evaluated.
    error : ndarray, shape (r, d, d)
        :math:`E(\theta-\theta^*)(\theta-\theta^*)^\top` for that iterate, where
        :math:`\theta^*` solves the system of TD(lambda).
    """

    k: IntArray
    theta: FloatArray
    error: FloatArray


@check.arguments
@np.errstate(over="ignore", invalid="ignore")  # seen and reported
def expected_trace(
    problem: TDProblem,
    n_steps: Annotated[int, check.count, "learn from at least one transition"],
    step: Step,
    *,
    trace: Trace = 0.0,
    cut: Annotated[int, check.count, "the trace keeps at least the present feature"] = 1,
    average: check.Average = "none",
    theta0: ArrayLike | None = None,
    record: ArrayLike | None = None,
) -> ExpectedTrace:
    r"""Return the exact expected error of :func:`td_trace`, with the trace cut (``prop-14-cut``).

    The trace keeps its last `cut` features,
    :math:`z_t=\sum_{j>t-\text{cut}}^t(\gamma\lambda)^{t-j}\phi(s_j)`, so that it is a
    function of as many states, and the second moments for each such piece of path have a linear
    recursion. Nothing is cut for ``trace=0``, or if `cut` is at least `n_steps`.
    There are about as many pieces as paths of `cut` states, which are many for a long trace.

    Parameters
    ----------
    problem, step, trace, average, theta0, record
        As for :func:`td_trace`. The first state has the stationary law.
    n_steps : int
        Number of transitions.
    cut : int
        At least 1.

    Returns
    -------
    ExpectedTrace

    Raises
    ------
    Diverged
        If a second moment is not finite; holds the records so far.
    TypeError, ValueError
        If an argument has the wrong type or range, or there are too many pieces of path.

    Examples
    --------
    >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
    >>> run = expected_trace(problem, 2, 0.5, trace=0.5, cut=2, record=[1, 2])
    >>> run.theta.tolist()
    [[0.25, 0.0], [0.4765625, 0.046875]]
    """
    check.room("n_steps", 8, n_steps, cure="take fewer steps")
    theta_star = np.linalg.lstsq(*trace_system(problem, trace), rcond=None)[0]
    r, d = problem.discount * float(trace), problem.dim
    paths, left, child, chance = _pieces(problem, min(cut, n_steps))
    phi = np.vstack([problem.features, np.zeros(d)])  # the state n stands before the first
    fade = r ** np.arange(paths.shape[1])[::-1]
    z = np.einsum("pjd,j->pd", phi[paths], fade)
    s, after = paths[left, -1], paths[child, -1]
    difference = phi[s] - problem.discount * phi[after]
    delta = problem.reward[s] + problem.arrival_reward[after] - difference @ theta_star
    gather = sp.csr_array((chance, (child, np.arange(len(child)))), (len(paths), len(child)))
    rates = _rates(step, average, n_steps)
    start = np.zeros(d) if theta0 is None else theta0
    first = check.array("theta0", start, (d,), "give one point") - theta_star
    # w = (x - theta*, x_bar - theta*, 1), and E w w' for each piece
    w = np.concatenate([first, first, [1.0]])
    moments = np.zeros((len(paths), len(w), len(w)))
    moments[: problem.n_states] = problem.law[:, None, None] * np.outer(w, w)
    unit = np.eye(len(w))
    x_row, bar_row, one = unit[:d], unit[d:-1], unit[-1:]
    wanted = recorded(record, n_steps)
    kept, places = np.empty((len(wanted), *unit.shape)), {int(k): i for i, k in enumerate(wanted)}

    def records(last: int) -> ExpectedTrace:
        k, rows = wanted[wanted <= last], kept[wanted <= last]
        return ExpectedTrace(k, theta_star + rows[:, d:-1, -1], rows[:, d:-1, d:-1])

    for t in range(n_steps):
        eta, alpha, beta, pull = (rate[t] for rate in rates)
        y = (1 - beta) * bar_row + beta * x_row
        moved = x_row + pull * (y - x_row)
        fixed = np.concatenate([moved, (1 - alpha) * bar_row + alpha * moved, one])
        push = np.concatenate([eta * z, alpha * eta * z, 0 * z[:, :1]], axis=1)[left]
        view = delta[:, None] * one - difference @ y  # the temporal difference, a form in w
        # (F + u v') S (F + u v')' = F S F' + u (F S v)' + (F S v) u' + (v' S v) u u'
        seen = np.einsum("eij,ej->ei", moments[left], view)
        half = seen @ fixed.T + 0.5 * (seen * view).sum(axis=1)[:, None] * push
        cross = push[:, :, None] * half[:, None]
        new = (fixed @ moments @ fixed.T)[left] + cross + cross.swapaxes(1, 2)
        moments = (gather @ new.reshape(len(left), -1)).reshape(moments.shape)
        if not np.isfinite(moments).all():
            raise Diverged(
                f"expected_trace diverges: a second moment is not finite after transition {t + 1}; "
                "take smaller steps",
                t + 1,
                0,
                "a second moment is not finite",
                records(t),
            )
        if t + 1 in places:
            kept[places[t + 1]] = moments.sum(axis=0)
    return records(n_steps)


def _pieces(problem: TDProblem, cut: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """The last `cut` states of all paths, and the steps between them.

    Returns
    -------
    pieces : ndarray of int, shape (p, cut)
        The state n stands for what lies before the first; the first n pieces are starts.
    left, child : ndarray of int, shape (e,)
        Pieces before and after each possible step.
    chance : ndarray, shape (e,)
    """
    P = problem.transition
    degree = np.diff(P.indptr)
    now = np.full((problem.n_states, cut), problem.n_states)
    now[:, -1] = np.arange(problem.n_states)
    pieces, left, child, chance = [now], [], [], []
    begin = 0
    while True:
        s = now[:, -1]
        parent = np.repeat(np.arange(len(now)), degree[s])
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(degree[s]) - degree[s], degree[s])
        edge = P.indptr[s][parent] + offset
        grown = np.column_stack([now[parent, 1:], P.indices[edge]])
        left.append(begin + parent)
        chance.append(P.data[edge])
        full = len(pieces) == cut
        if full:  # the pieces after the step are among those before it
            _, place = np.unique(np.vstack([now, grown]), axis=0, return_inverse=True)
            place = place.ravel()  # NumPy 2.0 gives it a second axis
            order = np.empty(place.max() + 1, dtype=np.int64)
            order[place[: len(now)]] = np.arange(len(now))  # all steps lead to one of `now`
            child.append(begin + order[place[len(now) :]])
            break
        begin += len(now)
        child.append(begin + np.arange(len(grown)))
        check.room("cut", len(grown), (2 * problem.dim + 1) ** 2, cure="cut the trace shorter")
        pieces.append(grown)
        now = grown
    return tuple(np.concatenate(part) for part in (pieces, left, child, chance))  # type: ignore[return-value]


@check.arguments
def lstd(
    problem: TDProblem,
    states: ArrayLike,
    *,
    trace: Trace = 0.0,
    ridge: Annotated[float, check.positive, "it makes the system regular"] = 1e-6,
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
    r = problem.discount * trace
    _continues(problem)
    paths = _paths(problem, states)
    phi = problem.features
    A = np.tile(ridge * np.eye(problem.dim), (len(paths), 1, 1))
    b, z = np.zeros((2, len(paths), problem.dim))
    for s, after in zip(paths.T[:-1], paths.T[1:], strict=True):
        z = r * z + phi[s]
        A += z[:, :, None] * (phi[s] - problem.discount * phi[after])[:, None, :]
        b += z * (problem.reward[s] + problem.arrival_reward[after])[:, None]
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0])


def _rates(step: Step, average: str, last: int) -> tuple[FloatArray, ...]:
    """Return eta, alpha, beta and mu eta of each step; plain TD is Algorithm 2 with y = x."""
    k = np.arange(1, last + 1)
    if isinstance(step, StepSizes) and step.algorithm == "convex":
        check_average(average, step)
        eta = step.eta(k)
        return eta, step.alpha(k), step.beta(k), step.mu * eta
    weight = {"none": np.ones(last), "uniform": 1 / k, "linear": 2 / (k + 1)}[average]
    return sgd(step).beta(k), weight, np.ones(last), np.zeros(last)


def _continues(problem: TDProblem) -> None:
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
