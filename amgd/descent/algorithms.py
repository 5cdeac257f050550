r"""Algorithm 1, Algorithm 2 and SGD, driven by samples of a Markov chain.

All three are written as generators that yield k and the live arrays y, x, x_bar after step k,
each of shape (replicates, d).
A consumer copies what it wants to keep: :func:`_record` keeps chosen k, :func:`random_output`
keeps one k for each replicate.
So all replicates advance together, and memory does not depend on the number of steps.

The samples come in blocks that continue one path: the chain draws its uniforms in time order, so
the size of a block changes nothing.
The state :math:`\xi_0` is the initial one; step k uses :math:`\xi_k`, the first is
:math:`\xi_1\sim P(\xi_0,\cdot)`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.steps import Step, StepSizes, check_block, check_modulus, check_steps
from amgd.descent.steps import sgd as one_step
from amgd.errors import Diverged

__all__ = [
    "Trajectory",
    "amgd_convex",
    "amgd_nonconvex",
    "random_output",
    "sgd",
]

_BLOCK_STATES = 1 << 17  # states drawn at a time: 1 MB
_SCHEDULE_BLOCK = 65536  # step sizes computed at a time where no samples are drawn
_DEFAULT_RECORDS = 100
_STATIONARY_TOLERANCE = 1e-8


class Chain(Protocol):
    """What is needed of a chain; :class:`amgd.markov.MarkovChain` offers it."""

    @property
    def n_states(self) -> int:
        """Number of states."""

    @property
    def stationary(self) -> FloatArray:
        """Stationary law."""

    def sample(
        self,
        length: int,
        *,
        rng: np.random.Generator,
        replicates: int = 1,
        initial: int | ArrayLike | None = None,
    ) -> IntArray:
        """Paths of shape (replicates, length), the first column being the initial states."""


class SampledProblem(Protocol):
    """What is needed of a problem; :class:`amgd.descent.problems.Problem` offers it."""

    n_states: int
    dim: int
    stationary: FloatArray
    diameter: float
    L: float
    L_sample: float

    def sample_gradient(self, x: Any, xi: Any) -> FloatArray:
        """G(x; xi)."""

    def project(self, x: FloatArray) -> FloatArray:
        """Nearest feasible point."""


@dataclass(frozen=True)
class Trajectory:
    r"""The recorded part of a run.

    Attributes
    ----------
    k : ndarray of int, shape (n_rec,)
        The recorded steps, increasing.
    y, x, x_bar : ndarray, shape (n_rec, replicates, d)
        :math:`y_k, x_k, \bar x_k`.
    """

    k: IntArray
    y: FloatArray
    x: FloatArray
    x_bar: FloatArray


_SAMPLE_L = "it is a Lipschitz constant of every sample gradient"

# Public functions -----------------------------------------------------------------------------


def amgd_nonconvex(
    problem: SampledProblem,
    chain: Chain,
    steps: StepSizes,
    n_steps: int,
    *,
    x0: ArrayLike,
    replicates: int = 1,
    rng: np.random.Generator,
    record: ArrayLike | None = None,
    initial: int | ArrayLike | None = None,
) -> Trajectory:
    r"""Algorithm 1: accelerated Markov gradient descent without constraint.

    With :math:`\bar x_0=x_0` and :math:`\alpha_1=1`, for k = 1, 2, ...

    .. math::

       y_k=(1-\alpha_k)\bar x_{k-1}+\alpha_kx_{k-1},\qquad
       x_k=x_{k-1}-\gamma_kG(y_k;\xi_k),\qquad
       \bar x_k=y_k-\beta_kG(y_k;\xi_k).

    Parameters
    ----------
    problem : Problem
        Unconstrained.
    chain : MarkovChain
        On the states of the problem.
    steps : StepSizes
        A rule made for Algorithm 1; its conditions are checked as the run proceeds.
    n_steps : int
        Number of steps, >= 1.
    x0 : float or array_like, shape (d,) or (replicates, d)
        Start; one number only when d = 1.
    replicates : int
        Number of independent runs.
    rng : numpy.random.Generator
        Used by the chain only.
    record : int or array_like of int, optional
        The k to keep: n for n, 2n, ... and the last; a list for those in it, from 1 to n_steps.
        Default: about 100, equally spaced in log k, with the last.
    initial : None, int, int array (replicates,) or probability vector
        State :math:`\xi_0`, as :meth:`amgd.markov.MarkovChain.sample` takes it.

    Returns
    -------
    Trajectory

    Raises
    ------
    TypeError, ValueError
        Bad input, or a step size that breaks a condition; the message names the first such k.
    Diverged
        An iterate is infinite or NaN; the records so far are in its ``recorded``.

    Examples
    --------
    >>> from amgd.markov import iid
    >>> from amgd.descent.problems import Quadratic
    >>> from amgd.descent.steps import nesterov
    >>> run = amgd_nonconvex(Quadratic([1.0, 0.1]), iid([1.0]), nesterov(0.5), 100, x0=[1.0, 1.0],
    ...                      rng=np.random.default_rng(0), record=[1, 100])
    >>> run.x_bar[0, 0], bool(np.abs(run.x_bar[1]).max() < 1e-2)
    (array([0.5 , 0.95]), True)
    """
    run = _Run("amgd_nonconvex", problem, chain, steps, n_steps, x0, replicates, rng, initial)
    run.require("nonconvex")
    return _record(_nonconvex(run), run, record)


def amgd_convex(
    problem: SampledProblem,
    chain: Chain,
    steps: StepSizes,
    n_steps: int,
    *,
    x0: ArrayLike,
    replicates: int = 1,
    rng: np.random.Generator,
    record: ArrayLike | None = None,
    initial: int | ArrayLike | None = None,
) -> Trajectory:
    r"""Algorithm 2: accelerated Markov gradient descent for convex functions, with projection.

    With :math:`\bar x_0=x_0`, :math:`\alpha_1=1` and
    :math:`\eta_k=\gamma_k/(1+\mu\gamma_k)`, for k = 1, 2, ...

    .. math::

       y_k=(1-\beta_k)\bar x_{k-1}+\beta_kx_{k-1},\qquad
       x_k=\Pi_{\mathcal X}\Big(\frac{x_{k-1}+\mu\gamma_ky_k}{1+\mu\gamma_k}
       -\eta_kG(y_k;\xi_k)\Big),\qquad
       \bar x_k=(1-\alpha_k)\bar x_{k-1}+\alpha_kx_k.

    The output is :math:`\bar x_k`. The :math:`\mu` is the one of the step sizes (0 for the merely
    convex rules).

    Parameters
    ----------
    problem, chain, n_steps, replicates, rng, record, initial
        As in :func:`amgd_nonconvex`; the problem may be constrained.
    steps : StepSizes
        A rule made for Algorithm 2. One that claims the condition ``"mu"``, as `theorem3` does, is
        refused if its mu is larger than the problem's; to try such a rule on purpose drop the
        condition, ``dataclasses.replace(rule, conditions=())``.
    x0 : float or array_like, shape (d,) or (replicates, d)
        Feasible start.

    Returns
    -------
    Trajectory

    Raises
    ------
    TypeError, ValueError, Diverged
        As in :func:`amgd_nonconvex`.

    Examples
    --------
    >>> from amgd.markov import iid
    >>> from amgd.descent.problems import Box, Linear
    >>> from amgd.descent.steps import theorem2
    >>> run = amgd_convex(Linear([[1.0]], domain=Box(-1.0, 1.0)), iid([1.0]), theorem2(1.0, 0.0),
    ...                   3, x0=1.0, rng=np.random.default_rng(0), record=1)
    >>> run.x.ravel()
    array([ 0.75,  0.25, -0.5 ])
    """
    run = _Run("amgd_convex", problem, chain, steps, n_steps, x0, replicates, rng, initial)
    run.require("convex")
    return _record(_convex(run), run, record)


@check.arguments
def sgd(
    problem: SampledProblem,
    chain: Chain,
    step: Step,
    n_steps: check.Steps,
    *,
    x0: ArrayLike,
    replicates: check.Replicates = 1,
    rng: check.Generator,
    record: ArrayLike | None = None,
    initial: int | ArrayLike | None = None,
    average: check.Average = "none",
) -> Trajectory:
    r"""Markov SGD, projected when the problem is constrained, with an average if wished.

    :math:`y_k=x_{k-1}` and :math:`x_k=\Pi_{\mathcal X}(x_{k-1}-\beta_kG(x_{k-1};\xi_k))`.

    Parameters
    ----------
    problem, chain, n_steps, x0, replicates, rng, record, initial
        As in :func:`amgd_convex`.
    step : float, callable or StepSizes
        What :func:`amgd.descent.steps.sgd` takes: a number, a function of k, or a rule with
        gamma = beta.
    average : {"none", "uniform", "linear"}
        What is recorded as :math:`\bar x_k`: :math:`x_k` itself,
        :math:`\frac1k\sum_{t\le k}x_t`, or :math:`\frac2{k(k+1)}\sum_{t\le k}t\,x_t`.

    Returns
    -------
    Trajectory

    Raises
    ------
    TypeError, ValueError, Diverged
        As in :func:`amgd_nonconvex`.

    Examples
    --------
    >>> from amgd.markov import iid
    >>> from amgd.descent.problems import Quadratic
    >>> run = sgd(Quadratic([1.0]), iid([1.0]), 0.5, 2, x0=1.0, average="linear",
    ...           rng=np.random.default_rng(0), record=1)
    >>> run.x.ravel(), run.x_bar.ravel()
    (array([0.5 , 0.25]), array([0.5       , 0.33333333]))
    """
    run = _Run("sgd", problem, chain, one_step(step), n_steps, x0, replicates, rng, initial)
    run.require("nonconvex")
    return _record(_sgd(run, average), run, record)


@check.arguments
def random_output(
    problem: SampledProblem,
    chain: Chain,
    steps: StepSizes,
    n_steps: check.Steps,
    *,
    x0: ArrayLike,
    replicates: check.Replicates = 1,
    rng: check.Generator,
    initial: int | ArrayLike | None = None,
    weights: Literal["gamma", "paper", "uniform"] = "gamma",
    L: Annotated[float | None, check.real, _SAMPLE_L, "[0, inf)"] = None,
) -> FloatArray:
    r"""Draw the output :math:`y_R` of Algorithm 1, R independent of the samples.

    R is drawn first, from a child stream of `rng`, so the path is the one that
    :func:`amgd_nonconvex` would take with the same generator.
    One point is kept for each replicate: memory does not grow with n_steps.

    Parameters
    ----------
    problem, chain, steps, n_steps, x0, replicates, rng, initial
        As in :func:`amgd_nonconvex`.
    weights : {"gamma", "paper", "uniform"}
        :math:`p_k` proportional to :math:`\gamma_k`, to the paper's
        :math:`\gamma_k(1-L\gamma_k)` (needs :math:`L\gamma_k<1`), or to 1.
    L : float, optional
        The L of the paper's weights. Default: ``problem.L_sample``.

    Returns
    -------
    ndarray, shape (replicates, d)

    Raises
    ------
    TypeError, ValueError, Diverged
        As in :func:`amgd_nonconvex`.

    Examples
    --------
    >>> from amgd.markov import iid
    >>> from amgd.descent import steps
    >>> from amgd.descent.problems import Quadratic
    >>> y = random_output(Quadratic([1.0]), iid([1.0]), steps.sgd(0.5), 4, x0=1.0, replicates=3,
    ...                   rng=np.random.default_rng(0))
    >>> set(y.ravel()) <= {1.0, 0.5, 0.25, 0.125}
    True
    """
    run = _Run("random_output", problem, chain, steps, n_steps, x0, replicates, rng, initial)
    run.require("nonconvex")
    if weights == "paper":
        constant = problem.L_sample if L is None else L
        check_steps(steps, run.n_steps, conditions=("paper_weights",), L=constant)
    else:
        constant = 0.0
    chosen = _draw_indices(steps, run.n_steps, run.replicates, weights, constant, rng.spawn(1)[0])

    # The replicates in the order of their R: step k serves the next few of them.
    order = np.argsort(chosen, kind="stable")
    due = chosen[order]
    output = np.empty_like(run.x0)
    served = 0
    with np.errstate(over="ignore", invalid="ignore"):  # the guard speaks, with k and replicate
        for k, y, _, _ in _nonconvex(run):
            until = int(np.searchsorted(due, k, side="right"))
            output[order[served:until]] = y[order[served:until]]
            served = until
            if served == run.replicates:
                break
    return output


# One run --------------------------------------------------------------------------------------

State = tuple[int, FloatArray, FloatArray, FloatArray]


_STEPS = "use a rule of amgd.descent.steps, such as steps.theorem1(0.1)"


class _Run:
    """The checked input of one run, and its samples and step sizes one step at a time."""

    @check.arguments
    def __init__(
        self,
        method: str,
        problem: SampledProblem,
        chain: Chain,
        steps: Annotated[StepSizes, check.instance, StepSizes, _STEPS],
        n_steps: check.Steps,
        x0: ArrayLike,
        replicates: check.Replicates,
        rng: check.Generator,
        initial: int | ArrayLike | None,
    ) -> None:
        for name, thing, needed, cure in (
            ("problem", problem, "sample_gradient", "pass an object of amgd.descent.problems"),
            ("chain", chain, "sample", "pass a MarkovChain"),
        ):
            if not hasattr(thing, needed):
                raise TypeError(
                    f"{name} must have a method {needed}: got {type(thing).__name__}; {cure}"
                )
        self.method, self.problem, self.chain, self.steps = method, problem, chain, steps
        self.n_steps, self.replicates, self.rng, self.initial = n_steps, replicates, rng, initial
        check.room("replicates and dim", replicates, problem.dim, cure="run fewer at a time")
        self.x0 = _start(x0, replicates, problem.dim)
        self.constrained = bool(np.isfinite(problem.diameter))

    def require(self, kind: Literal["nonconvex", "convex"]) -> None:
        """Check that problem, chain, steps and start fit each other and the method."""
        problem, chain, steps = self.problem, self.chain, self.steps
        if steps.algorithm != kind:
            cure = "Algorithm 2 (amgd_convex)" if kind == "nonconvex" else "Algorithm 1 or SGD"
            raise ValueError(
                f"{self.method} cannot use the steps '{steps.name}': they are made for {cure}, "
                "where beta has another meaning"
            )
        if self.constrained and kind == "nonconvex" and self.method != "sgd":
            raise ValueError(
                f"{self.method} has no projection, but the problem is constrained (diameter "
                f"{problem.diameter:g}); use amgd_convex or an unconstrained problem"
            )
        check_modulus(steps, getattr(problem, "mu", None))
        check_states(chain, problem)
        if self.constrained:
            off = np.abs(problem.project(self.x0) - self.x0).max(axis=1)
            if off.max() > 1e-12 * max(1.0, float(np.abs(self.x0).max())):
                raise ValueError(
                    f"x0 must be feasible: replicate {int(off.argmax())} is {off.max():.3g} "
                    "outside; pass problem.project(x0)"
                )

    def draws(self) -> Iterator[tuple[int, float, float, float, IntArray]]:
        """Yield k, alpha_k, beta_k, gamma_k and the states xi_k, shape (replicates,)."""
        length = max(1, _BLOCK_STATES // self.replicates)
        last = self.initial
        for start in range(1, self.n_steps + 1, length):
            k = np.arange(start, min(start + length, self.n_steps + 1))
            check_block(self.steps, k, self.steps.algorithm, self.steps.conditions, self.problem.L)
            # The first column is where the path stands: xi_0, or where the block before ended.
            path = self.chain.sample(
                k.size + 1, rng=self.rng, replicates=self.replicates, initial=last
            )
            last = path[:, -1]
            states = np.ascontiguousarray(path[:, 1:].T)
            rules = (
                rule(k).tolist() for rule in (self.steps.alpha, self.steps.beta, self.steps.gamma)
            )
            yield from zip(k.tolist(), *rules, states, strict=True)

    def guard(self, k: int, x: FloatArray, x_bar: FloatArray) -> None:
        """Stop at the first iterate that is not finite."""
        # An infinity or NaN in either array spoils their inner product, which costs far less than
        # a test of every entry. The product of huge finite numbers is a false alarm, not a miss.
        if np.isfinite(np.vdot(x, x_bar)):
            return
        bad = np.flatnonzero(~(np.isfinite(x) & np.isfinite(x_bar)).all(axis=1))
        if bad.size:
            raise Diverged(
                f"{self.method}: the iterate of replicate {bad[0]} is not finite at k = {k} "
                f"({bad.size} of {self.replicates} replicates are concerned); smaller steps "
                f"than those of '{self.steps.name}' are needed",
                k,
                int(bad[0]),
                "an iterate is not finite",
            )


def _nonconvex(run: _Run) -> Iterator[State]:
    x = run.x0.copy()
    x_bar = x.copy()
    y, move = np.empty_like(x), np.empty_like(x)
    for k, alpha, beta, gamma, xi in run.draws():
        # y = x_bar + alpha (x - x_bar): when gamma = beta, x and x_bar stay equal to the last bit.
        np.subtract(x, x_bar, out=y)
        y *= alpha
        y += x_bar
        gradient = run.problem.sample_gradient(y, xi)
        np.multiply(gradient, gamma, out=move)
        x -= move
        np.multiply(gradient, beta, out=move)
        np.subtract(y, move, out=x_bar)
        run.guard(k, x, x_bar)
        yield k, y, x, x_bar


def _convex(run: _Run) -> Iterator[State]:
    mu = run.steps.mu
    x = run.x0.copy()
    x_bar = x.copy()
    y, move = np.empty_like(x), np.empty_like(x)
    for k, alpha, beta, gamma, xi in run.draws():
        _mix(x_bar, x, beta, move, out=y)
        gradient = run.problem.sample_gradient(y, xi)
        # x = (x + mu gamma y - gamma G) / (1 + mu gamma), projected.
        if mu > 0:
            np.multiply(y, mu * gamma, out=move)
            x += move
        np.multiply(gradient, gamma, out=move)
        x -= move
        if mu > 0:
            x /= 1.0 + mu * gamma
        run.guard(k, x, x)  # before the projection, which may hide an infinity
        if run.constrained:
            x = run.problem.project(x)
        _mix(x_bar, x, alpha, move, out=x_bar)
        yield k, y, x, x_bar


def _sgd(run: _Run, average: str) -> Iterator[State]:
    x = run.x0.copy()
    x_bar = x.copy()
    y, move = np.empty_like(x), np.empty_like(x)
    for k, _, beta, _, xi in run.draws():
        y[...] = x
        gradient = run.problem.sample_gradient(y, xi)
        np.multiply(gradient, beta, out=move)
        x -= move
        run.guard(k, x, x)
        if run.constrained:
            x = run.problem.project(x)
        if average == "none":
            x_bar[...] = x
        else:  # the running forms of the two weighted means
            _mix(x_bar, x, 1.0 / k if average == "uniform" else 2.0 / (k + 1), move, out=x_bar)
        yield k, y, x, x_bar


def _mix(a: FloatArray, b: FloatArray, weight: float, work: FloatArray, out: FloatArray) -> None:
    """Write (1 - weight) a + weight b into `out`, which may be a: exactly b when weight = 1."""
    np.multiply(b, weight, out=work)
    np.multiply(a, 1.0 - weight, out=out)
    out += work


# Input and records ----------------------------------------------------------------------------


def _start(x0: ArrayLike, replicates: int, dim: int) -> FloatArray:
    """Start as an array (replicates, d)."""
    shapes: list[check.Shape] = [(dim,), (replicates, dim)]
    if dim == 1:
        shapes.append(())
    start = check.array("x0", x0, shapes, "give one start, or one for each replicate")
    return np.broadcast_to(start, (replicates, dim)).copy()


def check_states(chain: Chain, problem: SampledProblem) -> None:
    """Refuse a chain with other states than the problem's, or another law of them."""
    if chain.n_states != problem.n_states:
        raise ValueError(
            f"chain and problem must have the same states: got {chain.n_states} and "
            f"{problem.n_states}; make both for the same state space"
        )
    gap = float(np.abs(chain.stationary - problem.stationary).max())
    if gap > _STATIONARY_TOLERANCE:
        raise ValueError(
            "the stationary law of the chain must be the law of the problem: they differ "
            f"by {gap:.3g}; make the problem with stationary=chain.stationary"
        )


def check_average(average: str, steps: StepSizes) -> None:
    """Refuse an average of the iterates of Algorithm 2."""
    if average != "none" and steps.algorithm != "nonconvex":
        raise ValueError(
            f"average must be 'none' for the steps '{steps.name}' of Algorithm 2: got {average!r}; "
            "its x_bar is an average already"
        )


def recorded(record: ArrayLike | None, n_steps: int) -> IntArray:
    """Return the k to keep, increasing: what `record` means in every method."""
    if record is None:
        return np.unique(np.geomspace(1, n_steps, _DEFAULT_RECORDS).round().astype(np.int64))
    cure = "pass n for every n-th k, list the k to keep, or leave it out for about 100 of them"
    listed = check.as_array("record", record, cure)
    wanted = check.integers("record", listed, 1, cure, n_steps if listed.ndim else None)
    if wanted.ndim == 0:
        every = int(wanted)
        check.room("record", n_steps // every, cure="record fewer k")
        return np.append(np.arange(every, n_steps, every), n_steps)
    if wanted.ndim != 1 or not wanted.size:
        raise ValueError(f"record must list one k or more: got shape {wanted.shape}; {cure}")
    return np.unique(wanted)


def _record(states: Iterator[State], run: _Run, record: Any) -> Trajectory:
    """Run to the end and keep the wanted k."""
    wanted = recorded(record, run.n_steps)
    shape = (wanted.size, *run.x0.shape)
    check.room(
        "record", 3, *shape, cure="record fewer k, or leave record out for about 100 of them"
    )
    kept = np.empty((3, *shape))
    n_kept = 0
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the guard speaks, with k and replicate
            for k, y, x, x_bar in states:
                if n_kept < wanted.size and k == wanted[n_kept]:
                    kept[0, n_kept], kept[1, n_kept], kept[2, n_kept] = y, x, x_bar
                    n_kept += 1
    except Diverged as error:
        error.recorded = Trajectory(wanted[:n_kept], *kept[:, :n_kept])
        raise
    return Trajectory(wanted, *kept)


def _draw_indices(
    steps: StepSizes, n_steps: int, size: int, weights: str, L: float, rng: np.random.Generator
) -> IntArray:
    """Draw `size` independent R with the given weights: two passes over the step sizes."""

    def blocks() -> Iterator[tuple[IntArray, FloatArray]]:
        passed = 0.0
        for start in range(1, n_steps + 1, _SCHEDULE_BLOCK):
            k = np.arange(start, min(start + _SCHEDULE_BLOCK, n_steps + 1))
            gamma = steps.gamma(k)
            p = {"gamma": gamma, "paper": gamma * (1 - L * gamma), "uniform": np.ones(k.size)}
            cumulative = passed + np.cumsum(p[weights])
            passed = float(cumulative[-1])
            yield k, cumulative

    total = 0.0
    for _, cumulative in blocks():
        total = float(cumulative[-1])
    if not 0 < total < np.inf:
        raise ValueError(
            f"the weights of '{steps.name}' must have a positive sum: got {total:g}; "
            "use steps with gamma_k > 0, or weights='uniform'"
        )
    points = np.minimum(rng.random(size) * total, np.nextafter(total, 0.0))
    chosen = np.zeros(size, dtype=np.int64)
    for k, cumulative in blocks():
        here = (chosen == 0) & (points < cumulative[-1])
        chosen[here] = k[np.searchsorted(cumulative, points[here], side="right")]
    return chosen
