r"""TD(0) and accelerated TD(0), all seeds together.

One transition moves TD(0) by :math:`\theta \leftarrow \theta + \eta\,\delta\,\phi(s)` with the
temporal difference :math:`\delta = r + \gamma\phi(s')^\top\theta - \phi(s)^\top\theta`.
Accelerated TD is the paper's Algorithm 2 with this update in the place of the gradient:

.. math:: y = (1-\beta)\bar x + \beta x, \qquad
  x \leftarrow x + \mu\eta\,(y - x) + \eta\,\delta(y)\,\phi, \qquad
  \bar x \leftarrow (1-\alpha)\bar x + \alpha x, \qquad \eta = \frac{\gamma}{1+\mu\gamma}.

With :math:`\alpha = \beta = 1` and :math:`\mu = 0` this is TD(0) with step :math:`\eta`. The step
that compares the two fairly is therefore the *matched* one,
:math:`\eta_k = \gamma_k/(1+\mu\gamma_k)`.

**Speed.** The steps of different episodes depend on each other, but only through an affine map:
an episode sends :math:`z = (x, \bar x)` to :math:`Mz + m`, and :math:`M, m` depend on its states
and rates alone.
So all episodes of all seeds run at the same time from the points :math:`0, e_1, e_2, \dots` (the
images give :math:`m` and the columns of :math:`M`), as arrays of thousands of entries; then the
maps are applied one after the other. This needs no compiled code. It does not apply with a
projection, which is not affine, and does not pay in high dimension or for a few long episodes;
there the transitions are taken one by one, all seeds together.

**No seeds at all.** The NEU is a quadratic function of the iterate, so that its expectation needs
second moments only, and those of :math:`z` given the state of the chain have a linear recursion:
`expected_run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.algorithms import recorded
from amgd.descent.problems import Ball
from amgd.descent.steps import Rule, Schedule, Step, StepSizes, sgd
from amgd.errors import Diverged
from amgd.td.evaluation import TDProblem

__all__ = ["ExpectedRun", "TDRun", "decaying", "expected_run", "neu_area", "td0", "td0_accelerated"]

LIMIT = 1e150  # beyond this size the square of an iterate overflows
BLOCK = 1000  # episodes whose maps are built at a time: the working arrays fit the cache
COMPOSE_UP_TO = 8  # dimension up to which maps are faster than single transitions,
COMPOSE_FROM = 8  # and number of episodes from which on they are


@dataclass(frozen=True)
class TDRun:
    """Recorded iterates of a run.

    Attributes
    ----------
    method : str
        "td0" or "td0_accelerated".
    episodes : ndarray of int64, shape (n_rec,)
        Number of episodes learned from; the first entry is 0.
    theta : ndarray, shape (n_rec, replicates, d)
        The iterate that is evaluated: theta of TD(0), x_bar of the accelerated method.
    x : ndarray, shape (n_rec, replicates, d)
        x of the accelerated method; for TD(0) the same as `theta`.
    """

    method: str
    episodes: IntArray
    theta: FloatArray
    x: FloatArray


@check.arguments
def decaying(scale: Annotated[float, check.positive, "it is the first step"]) -> Schedule:
    """Return the step scale / k.

    Examples
    --------
    >>> decaying(0.3)([1, 2])
    array([0.3 , 0.15])
    """
    return Schedule("step", lambda k: scale / k)


def td0(
    problem: TDProblem,
    states: ArrayLike,
    step: Step,
    *,
    update: str = "transition",
    count: str = "episode",
    theta0: ArrayLike | None = None,
    radius: float | None = None,
    record: ArrayLike | None = 10,
    compose: bool | None = None,
    limit: float = LIMIT,
) -> TDRun:
    r"""Run TD(0) on drawn episodes, all seeds together.

    Parameters
    ----------
    problem : TDProblem
    states : array_like of int, shape (episodes, replicates, length + 1)
        The paths of `problem.sample_episodes`. Runs that are given the same paths are paired.
    step : float, callable or StepSizes
        What :func:`amgd.descent.steps.sgd` takes: a constant, a function of k = 1, 2, ... such as
        `decaying` or ``eta`` of an accelerated method's steps, or a rule with gamma = beta.
    update : {"transition", "episode"}
        Move at each transition, or once per episode by the mean update of its transitions.
    count : {"episode", "transition"}
        What k counts. With ``"episode"`` the step is frozen within an episode, as in the paper.
    theta0 : array_like, shape (d,) or (replicates, d), optional
        Initial point, 0 if not given.
    radius : float, optional
        Project onto the ball of this radius about 0 after each update.
    record : int or array_like of int, optional
        The episodes to keep, as for :func:`amgd.descent.algorithms.sgd`: n for n, 2n, ... and the
        last, a list for those in it, None for about 100. The start, episode 0, is always kept.
    compose : bool, optional
        Build the affine maps of all episodes at once (see the head of this module), or take the
        transitions one by one. Default: compose if it is possible and pays. The results agree
        up to rounding.
    limit : float
        The run stops when an entry of an iterate reaches this size. The default is the largest
        size whose square is finite; a smaller one also stops runs that blow up and come back.

    Returns
    -------
    TDRun

    Raises
    ------
    Diverged
        If an iterate is not finite or reaches `limit`; names episode and seed, holds the records.
    ValueError, TypeError
        If an argument has the wrong shape, type or range.

    Examples
    --------
    >>> from amgd.td import GridWorld, fourier_features
    >>> grid = GridWorld(10, goal="absorbing")
    >>> problem = TDProblem.from_gridworld(grid, fourier_features(10), law="episode")
    >>> states = problem.sample_episodes(100, rng=np.random.default_rng(0), replicates=3)
    >>> run = td0(problem, states, 0.03)
    >>> run.theta.shape, bool((problem.neu(run.theta[-1]) < problem.neu(run.theta[0])).all())
    ((11, 3, 3), True)
    """
    sequences = _Sequences(sgd(step).beta)
    options = _Options(update, count, radius, record, compose, limit)
    return _run("td0", problem, states, sequences, theta0, options)


def td0_accelerated(
    problem: TDProblem,
    states: ArrayLike,
    steps: StepSizes,
    *,
    update: str = "transition",
    count: str = "episode",
    theta0: ArrayLike | None = None,
    radius: float | None = None,
    record: ArrayLike | None = 10,
    compose: bool | None = None,
    limit: float = LIMIT,
) -> TDRun:
    """Run TD(0)-Acc, the paper's Algorithm 2 with TD updates, all seeds together.

    Parameters
    ----------
    steps : StepSizes
        alpha, beta, gamma and mu of Algorithm 2; the paper's are
        ``theorem3_printed(mu, denominator="k+1", delta=0.1)``.
    problem, states, update, count, theta0, radius, record, compose, limit
        As for `td0`. Both x and x_bar start at `theta0`; it is x that is projected.

    Returns
    -------
    TDRun
        `theta` holds x_bar.

    Raises
    ------
    Diverged, ValueError, TypeError
        As for `td0`.

    Examples
    --------
    >>> from amgd.descent.steps import theorem3_printed
    >>> from amgd.td import GridWorld, fourier_features
    >>> problem = TDProblem.from_gridworld(GridWorld(10), fourier_features(10), law="episode")
    >>> states = problem.sample_episodes(50, rng=np.random.default_rng(0), replicates=2)
    >>> run = td0_accelerated(problem, states, theorem3_printed(1.0, "k+1", delta=0.1))
    >>> run.episodes, run.theta.shape
    (array([ 0, 10, 20, 30, 40, 50]), (6, 2, 3))
    """
    steps = _accelerated_steps(steps)
    sequences = _Sequences(steps.eta, steps)
    options = _Options(update, count, radius, record, compose, limit)
    return _run("td0_accelerated", problem, states, sequences, theta0, options)


@check.arguments
def neu_area(problem: TDProblem, run: TDRun) -> FloatArray:
    """Return the mean of the exact NEU over the records after the first, shape (replicates,).

    With equally spaced records this is the area under the curve, for each episode.
    """
    return np.asarray(problem.neu(run.theta[1:]).mean(axis=0))


@dataclass(frozen=True)
class ExpectedRun:
    """Exact expectations over all runs of a method.

    Attributes
    ----------
    method : str
        "td0" or "td0_accelerated".
    episodes : ndarray of int64, shape (n_rec,)
        Number of episodes learned from; the first entry is 0.
    neu : ndarray, shape (n_rec,)
        Expectation of the exact NEU of the iterate that is evaluated.
    theta : ndarray, shape (n_rec, d)
        Expectation of that iterate. Its NEU is the part of `neu` that is bias, the rest is
        variance.
    """

    method: str
    episodes: IntArray
    neu: FloatArray
    theta: FloatArray


@check.arguments
def expected_run(
    problem: TDProblem,
    episodes: Annotated[int, check.count, "learn from at least one episode"],
    step: Step,
    *,
    theta0: ArrayLike | None = None,
    record: ArrayLike | None = 10,
) -> ExpectedRun:
    r"""Return the exact expected NEU of TD(0) or TD(0)-Acc: no episode is drawn.

    A transition :math:`s \to s'` sends :math:`z = (\theta, 1)`, or :math:`(x, \bar x, 1)`, to
    :math:`W_{ss'}z`. The moments :math:`S_s = E[zz^\top 1\{s_t = s\}]` therefore obey

    .. math:: S_{s'} \leftarrow \sum_s P(s, s')\,W_{ss'}S_sW_{ss'}^\top ,

    and the NEU, a quadratic function of the iterate, has its expectation from them.
    For m entries of z a step of the recursion takes :math:`(m(m+1)/2)^2` products for each possible
    transition, and as many numbers are stored. Numbers are right to about 1e-12 of the largest
    moment that the run has passed.

    Parameters
    ----------
    problem : TDProblem
    episodes : int
        Number of episodes of `problem.length` steps.
    step : float, callable or StepSizes
        A rule for Algorithm 2 runs `td0_accelerated`, anything else `td0`. There is one update a
        transition, k counts episodes, and nothing is projected.
    theta0, record
        As for `td0`, with one initial point.

    Returns
    -------
    ExpectedRun

    Raises
    ------
    Diverged
        If a second moment overflows; holds the records so far.
    ValueError, TypeError
        If an argument has the wrong shape, type or range; if A is singular.

    Examples
    --------
    A coin decides between the rewards 0 and 2; one state, one feature, no discount:

    >>> problem = TDProblem(
    ...     [[0.5, 0.5], [0.5, 0.5]], [0, 0], [[1.0], [1.0]], 0.0, length=1, arrival_reward=[0, 2]
    ... )
    >>> run = expected_run(problem, 2, 0.5, record=1)
    >>> run.neu, run.theta[:, 0]  # theta = 0, then 0 or 1, then 0, 1/2, 1 or 3/2
    (array([1.    , 0.5   , 0.375]), array([0.  , 0.5 , 0.75]))
    """
    if isinstance(step, StepSizes) and step.algorithm == "convex":
        method, sequences = "td0_accelerated", _Sequences(step.eta, step)
    else:
        method, sequences = "td0", _Sequences(sgd(step).beta)
    start = check.array(
        "theta0",
        np.zeros(problem.dim) if theta0 is None else theta0,
        (problem.dim,),
        "give one point",
    )
    moments = _Moments(problem, sequences)
    z = np.append(np.tile(start - problem.theta_star, moments.parts), 1.0)
    first, now = moments.products(z), np.zeros((problem.n_states, moments.size))
    kept, wanted = [(0, *moments.read(first))], set(recorded(record, episodes).tolist())

    def records() -> ExpectedRun:
        k, neu, theta = map(np.array, zip(*kept, strict=True))
        return ExpectedRun(method, k, neu, theta)

    with np.errstate(over="ignore", invalid="ignore"):  # seen and reported below
        for k in range(1, episodes + 1):
            now[:] = 0.0
            now[problem.start] = first
            first = moments.after_episode(now, k)
            if not np.isfinite(first).all():
                what = "a second moment is not finite"
                raise Diverged(
                    f"the mean square of the run diverges: {what} after episode {k}; take smaller "
                    "steps; the records so far are in the attribute recorded",
                    k,
                    0,
                    what,
                    records(),
                )
            if k in wanted:
                kept.append((k, *moments.read(first)))
    return records()


# The run ------------------------------------------------------------------------------------------
Update = Annotated[str, check.choice, ("transition", "episode")]
Counted = Annotated[str, check.choice, ("episode", "transition")]


@check.arguments
def update_and_count(update: Update, count: Counted) -> tuple[str, str]:
    """Return the two options if they are known and fit each other."""
    if update == "episode" and count == "transition":
        raise ValueError(
            'count="transition" does not fit update="episode": one step is taken per episode '
            '(expected count="episode"); change one of the two'
        )
    return update, count


class _Options:
    """The options that both methods share, checked."""

    @check.arguments
    def __init__(
        self,
        update: str,
        count: str,
        radius: Annotated[float | None, check.positive, "it is the radius of a ball about 0"],
        record: ArrayLike | None,
        compose: bool | None,
        limit: Annotated[float, check.positive, "it is the largest entry of an iterate"],
    ) -> None:
        self.update, self.count = update_and_count(update, count)
        self.ball = None if radius is None else Ball(radius)
        self.record = record
        if compose and (self.ball is not None or self.update == "episode"):
            raise ValueError(
                "compose=True fits neither a projection, which is not affine, nor one update per "
                'episode (expected radius=None, update="transition"); drop one of them'
            )
        self.compose = compose
        self.limit = limit


def _run(
    method: str,
    problem: TDProblem,
    states: ArrayLike,
    sequences: _Sequences,
    theta0: ArrayLike | None,
    options: _Options,
) -> TDRun:
    """Apply the episodes one after the other, record and watch."""
    check.instance("problem", problem, TDProblem, "make one with TDProblem.from_gridworld")
    paths = problem.check_paths(states)
    if paths.ndim != 3 or 0 in paths.shape:
        raise ValueError(
            f"states has the wrong shape: got {paths.shape} (expected (episodes, replicates, "
            "length + 1), none of them 0); pass what sample_episodes returns"
        )
    replicates = paths.shape[1]
    x = _initial(theta0, replicates, problem.dim, options.ball)
    if replicates == 1:  # NumPy sums a single column in another order: it gets company
        paths, x = np.repeat(paths, 2, axis=1), np.repeat(x, 2, axis=1)
    x_bar = None if sequences.steps is None else x.copy()
    wanted = set(recorded(options.record, len(paths)).tolist())

    kept, thetas, xs = [0], [x.T[:replicates].copy()], [x.T[:replicates].copy()]

    def records() -> TDRun:
        return TDRun(method, np.array(kept, dtype=np.int64), np.stack(thetas), np.stack(xs))

    with np.errstate(over="ignore", invalid="ignore"):  # seen and reported below
        points = _episodes(problem, paths, sequences, x, x_bar, options)
        for episode, (x, x_bar) in enumerate(points, 1):
            theta = x if x_bar is None else x_bar
            size = np.maximum(np.abs(x), np.abs(theta)).max(axis=0)
            if not (size < options.limit).all():  # NaN is not below it either
                seed = int(np.argmin(size < options.limit))
                what = f"the largest entry of seed {seed} is {size[seed]:.3g}"
                raise Diverged(
                    f"{method} diverges: after episode {episode} {what} (expected below "
                    f"{options.limit:g}); take smaller steps or pass radius to project; the "
                    "records so far are in the attribute recorded",
                    episode,
                    seed,
                    what,
                    records(),
                )
            if episode in wanted:
                kept.append(episode)
                thetas.append(theta.T[:replicates].copy())
                xs.append(x.T[:replicates].copy())
    return records()


def _episodes(
    problem: TDProblem,
    paths: IntArray,
    sequences: _Sequences,
    x: FloatArray,
    x_bar: FloatArray | None,
    options: _Options,
) -> Iterator[_Point]:
    """Yield x and x_bar after each episode."""
    ball = options.ball
    if options.update == "episode":
        return _mean_updates(problem, paths, sequences, x, x_bar, ball)
    k = _step_numbers(problem, paths, options.count)
    pays = ball is None and problem.dim <= COMPOSE_UP_TO and len(paths) >= COMPOSE_FROM
    if pays if options.compose is None else options.compose:
        return _composed(problem, paths, sequences, k, x, x_bar)
    return _single_transitions(problem, paths, sequences, k, x, x_bar, ball)


def _step_numbers(problem: TDProblem, paths: IntArray, count: str) -> IntArray:
    """Return k of each transition, shape (episodes, length, replicates).

    If k counts episodes the middle axis has length 1.
    """
    n_episodes, replicates, points = paths.shape
    if count == "episode":
        k = np.arange(1, n_episodes + 1)[:, None, None]
        return np.broadcast_to(k, (n_episodes, 1, replicates))
    live = ~problem.is_terminal[paths[:, :, :-1]]
    done = live.swapaxes(0, 1).reshape(replicates, -1).cumsum(axis=1)
    k = done.reshape(replicates, n_episodes, points - 1).transpose(1, 2, 0)
    return np.asarray(np.maximum(k, 1))  # 0 before the first transition that counts; not used there


def _initial(theta0: ArrayLike | None, replicates: int, dim: int, ball: Ball | None) -> FloatArray:
    """Return the initial point of each seed, shape (dim, replicates)."""
    if theta0 is None:
        return np.zeros((dim, replicates))
    shapes: list[check.Shape] = [(dim,), (replicates, dim)]
    point = check.array("theta0", theta0, shapes, "give one point, or one for each replicate")
    if ball is not None and not ball.contains(point):
        raise ValueError(
            f"theta0 is outside the ball: its norm is {np.linalg.norm(point, axis=-1).max():.6g} "
            f"(expected at most the radius {ball.radius:g}); enlarge the radius"
        )
    return np.array(np.broadcast_to(point, (replicates, dim)).T)


def _accelerated_steps(steps: StepSizes) -> StepSizes:
    """Return `steps` if it is a rule for Algorithm 2."""
    cure = "the paper's is theorem3_printed(mu, 'k+1', delta=0.1)"
    check.instance("steps", steps, StepSizes, cure)
    if steps.algorithm != "convex":
        raise ValueError(
            f"steps is a rule for Algorithm 1: got {steps.name} (expected one for Algorithm 2, in "
            "which beta is a weight); take theorem2, theorem3 or their printed forms"
        )
    return steps


# One episode --------------------------------------------------------------------------------------
#
# Inside, the seeds are the last axis: x has shape (d, replicates), so that one operation on
# contiguous memory serves all seeds. x_bar is None for TD(0).

_Point = tuple[FloatArray, FloatArray | None]


@dataclass(frozen=True)
class _Rates:
    """The numbers eta, and for the accelerated method alpha, beta and mu eta, of some steps."""

    eta: FloatArray
    acceleration: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def map(self, function: Callable[[FloatArray], FloatArray]) -> _Rates:
        """Apply a function to each array."""
        if self.acceleration is None:
            return _Rates(function(self.eta))
        alpha, beta, pull = self.acceleration
        return _Rates(function(self.eta), (function(alpha), function(beta), function(pull)))

    def where(self, live: NDArray[np.bool_]) -> _Rates:
        """Return rates with which only the `live` iterates move."""
        if self.acceleration is None:
            return _Rates(self.eta * live)
        alpha, beta, pull = self.acceleration
        return _Rates(self.eta * live, (alpha * live, beta, pull * live))


@dataclass(frozen=True)
class _Sequences:
    """Step eta of TD(0), or the three sequences of the accelerated method."""

    eta: Rule
    steps: StepSizes | None = None

    def at(self, k: IntArray) -> _Rates:
        """Evaluate the sequences."""
        eta = self.eta(k)
        if not np.isfinite(eta).all() or (eta < 0.0).any():
            raise ValueError(
                f"a step size is out of range: got {eta.min()} to {eta.max()} (expected finite "
                "numbers >= 0); check the steps"
            )
        if self.steps is None:
            return _Rates(eta)
        return _Rates(eta, (self.steps.alpha(k), self.steps.beta(k), self.steps.mu * eta))


def _look_ahead(x: FloatArray, x_bar: FloatArray | None, rates: _Rates) -> FloatArray:
    """Return y, the point at which the temporal difference is taken."""
    if x_bar is None or rates.acceleration is None:
        return x
    _, beta, _ = rates.acceleration
    return (1.0 - beta) * x_bar + beta * x


def _move(
    x: FloatArray,
    x_bar: FloatArray | None,
    y: FloatArray,
    increment: FloatArray,
    rates: _Rates,
    ball: Ball | None,
) -> _Point:
    """Move x and x_bar, in place, by `increment` (eta times the TD update at y); return them."""
    if x_bar is not None and rates.acceleration is not None:
        alpha, _, pull = rates.acceleration
        x += pull * (y - x)
    x += increment
    if ball is not None:
        x = ball.project(x.T).T
    if x_bar is not None and rates.acceleration is not None:
        x_bar *= 1.0 - alpha
        x_bar += alpha * x
    return x, x_bar


def _mean_updates(
    problem: TDProblem,
    paths: IntArray,
    sequences: _Sequences,
    x: FloatArray,
    x_bar: FloatArray | None,
    ball: Ball | None,
) -> Iterator[_Point]:
    """One step per episode, along the mean update of its transitions."""
    A_sum, b_sum, count = problem.sampled_sums(paths)
    taken = np.maximum(count, 1)  # an episode that starts in a terminal state takes no step
    A = A_sum / taken[..., None, None]
    b = b_sum / taken[..., None]
    for e in range(len(paths)):
        rates = sequences.at(np.array([e + 1])).where(count[e] > 0)
        y = _look_ahead(x, x_bar, rates)
        update = b[e].T - np.einsum("rij,jr->ir", A[e], y)
        x, x_bar = _move(x, x_bar, y, rates.eta * update, rates, ball)
        yield x, x_bar


@dataclass(frozen=True)
class _Transitions:
    """The data of the t-th transitions of N paths, for all t."""

    phi: FloatArray  # (d, length, N)
    difference: FloatArray  # (d, length, N): phi(s) - discount phi(s')
    reward: FloatArray  # (length, N)
    live: NDArray[np.bool_] | None  # (length, N): not from a terminal state; None: all are live

    @classmethod
    def of(cls, problem: TDProblem, paths: IntArray) -> _Transitions:
        """Look the transitions of paths of shape (N, length + 1) up."""
        visited = np.ascontiguousarray(paths.T)
        phi = np.take(np.ascontiguousarray(problem.features.T), visited, axis=1)
        reward = problem.reward[visited[:-1]]
        reward += problem.arrival_reward[visited[1:]]
        live = ~problem.is_terminal[visited]
        none_ends = bool(live.all())
        after = (problem.discount if none_ends else problem.discount * live[1:]) * phi[:, 1:]
        difference = np.subtract(phi[:, :-1], after, out=after)  # these arrays are large
        return cls(phi[:, :-1], difference, reward, None if none_ends else live[:-1])


def _single_transitions(
    problem: TDProblem,
    paths: IntArray,
    sequences: _Sequences,
    k: IntArray,
    x: FloatArray,
    x_bar: FloatArray | None,
    ball: Ball | None,
) -> Iterator[_Point]:
    """The transitions one by one."""
    for e, episode in enumerate(paths):
        data = _Transitions.of(problem, episode)
        for t, rates in enumerate(_by_time(sequences.at(k[[e]]), data)):
            y = _look_ahead(x, x_bar, rates)
            delta = data.reward[t] - np.add.reduce(data.difference[:, t] * y, axis=0)
            x, x_bar = _move(x, x_bar, y, rates.eta * delta * data.phi[:, t], rates, ball)
        yield x, x_bar


def _by_time(rates: _Rates, data: _Transitions) -> Iterator[_Rates]:
    """Yield the rates of the N paths for each t, from rates of shape (episodes, 1 or length, R)."""
    _, length, n_paths = data.phi.shape
    constant = rates.eta.shape[1] == 1
    flat = rates.map(lambda rate: np.moveaxis(rate, 1, 0).reshape(-1, n_paths))
    now = flat.map(lambda rate: rate[0])
    for t in range(length):
        if not constant:
            now = flat.map(lambda rate, t=t: rate[t])  # type: ignore[misc]
        yield now if data.live is None else now.where(data.live[t])


def _composed(
    problem: TDProblem,
    paths: IntArray,
    sequences: _Sequences,
    k: IntArray,
    x: FloatArray,
    x_bar: FloatArray | None,
) -> Iterator[_Point]:
    """The affine maps of whole episodes, built for many episodes at the same time."""
    d, z = problem.dim, x if x_bar is None else np.concatenate([x, x_bar])
    block = max(1, BLOCK // paths.shape[1])
    for low in range(0, len(paths), block):
        chunk = slice(low, low + block)
        part, counts = paths[chunk], k[chunk]
        images = _images(problem, part, sequences.at(counts), len(z) // d)
        if not np.isfinite(images).all():  # a map can overflow where its point is 0 and stays 0
            x, x_bar = z[:d], None if x_bar is None else z[d:]  # views: moved in place
            yield from _single_transitions(problem, part, sequences, counts, x, x_bar, None)
            continue
        for image in images:
            z = np.einsum("ijr,jr->ir", image[:, :-1], z) + image[:, -1]
            yield z[:d], None if x_bar is None else z[d:]


def _images(problem: TDProblem, paths: IntArray, rates: _Rates, parts: int) -> FloatArray:
    """Return [M, m] of each episode, shape (episodes, parts d, parts d + 1, replicates).

    Column j < parts d is the image of the j-th unit vector when all rewards are 0, the last column
    is the image of 0 with the rewards.
    """
    n_episodes, replicates, points = paths.shape
    d, n_paths = problem.dim, n_episodes * replicates
    data = _Transitions.of(problem, paths.reshape(n_paths, points))
    unit = np.eye(parts * d, parts * d + 1)[:, :, None] * np.ones(n_paths)
    x, x_bar = unit[:d], unit[d:] if parts == 2 else None
    with_reward = np.zeros((parts * d + 1, 1))
    with_reward[-1] = 1.0
    for t, now in enumerate(_by_time(rates, data)):
        y = _look_ahead(x, x_bar, now)
        delta = with_reward * data.reward[t]
        delta -= np.einsum("in,ijn->jn", data.difference[:, t], y)
        x, x_bar = _move(x, x_bar, y, now.eta * delta * data.phi[:, None, t], now, None)
    image = x if x_bar is None else np.concatenate([x, x_bar])
    return np.moveaxis(image.reshape(parts * d, -1, n_episodes, replicates), 2, 0)


# All runs at once ---------------------------------------------------------------------------------
class _Moments:
    """The linear map of the second moments of z = (x - theta*, x_bar - theta*, 1).

    The chain is in state s, and of the symmetric matrix z z^T the upper triangle is kept: `size`
    products z_i z_j with i <= j for each state. Around theta* small
    errors are small numbers, not differences of large ones.
    """

    def __init__(self, problem: TDProblem, sequences: _Sequences) -> None:
        self.problem, self.sequences, self.length = problem, sequences, problem.check_length(None)
        self.parts = 1 if sequences.steps is None else 2
        self.entries = self.parts * problem.dim + 1
        self.upper = np.triu_indices(self.entries)
        self.size = len(self.upper[0])
        self.side = self.size * problem.n_states
        self.transitions = np.stack(problem.pairs, axis=1)
        self.probability = problem.transition.data[:, None]
        # (Wz)_i (Wz)_j is a sum over z_a z_b with a <= b. The last row of W only picks the last
        # entry of z, the 1, so that few of these products are there where j is the last.
        i, j = self.upper
        is_last, both = j == self.entries - 1, i == self.entries - 1
        row, column = np.nonzero(~is_last[:, None] | (is_last & (~both[:, None] | both)))
        i, j, a, b = i[row], j[row], i[column], j[column]
        self.factors = [self.entries * u + v for u, v in ((i, a), (j, b), (i, b), (j, a))]
        self.mixed = a != b
        left, arrived = (self.size * states[:, None] for states in problem.pairs)
        places = (arrived + row).ravel(), (left + column).ravel()
        order = sp.csr_array((np.arange(places[0].size), places), shape=(self.side, self.side))
        self.order, self.map = order.data, order.astype(np.float64)

    def products(self, z: FloatArray) -> FloatArray:
        """Return z_i z_j."""
        i, j = self.upper
        return np.asarray(z[i] * z[j])

    def after_episode(self, moments: FloatArray, k: int) -> FloatArray:
        """Return the moments after the k-th episode, summed over its last state."""
        step = self._step(k)
        flat = moments.ravel()
        for _ in range(self.length):
            flat = step @ flat
        return np.asarray(flat.reshape(moments.shape).sum(axis=0))

    def read(self, moments: FloatArray) -> tuple[float, FloatArray]:
        """Return the expected NEU and the expected iterate."""
        full = np.empty((self.entries, self.entries))
        full[self.upper] = full.T[self.upper] = moments
        last = slice(-1 - self.problem.dim, -1)
        A = self.problem.A
        neu = float(np.einsum("ij,jk,ik->", A, full[last, last], A))
        return neu, self.problem.theta_star + full[last, -1]

    def _step(self, k: int) -> sp.csr_array:
        """Return the map of one transition, P(s, s') times the products of rows of W."""
        W = self._affine(k).reshape(len(self.transitions), -1)
        ia, jb, ib, ja = (np.take(W, factor, axis=1) for factor in self.factors)
        products = self.probability * (ia * jb + self.mixed * (ib * ja))
        self.map.data = products.ravel()[self.order]
        return self.map

    def _affine(self, k: int) -> FloatArray:
        """Return W of each transition, shape (n_transitions, entries, entries)."""
        paths = self.transitions[None]  # one episode of one step, a replicate for each transition
        rates = self.sequences.at(np.full((1, 1, len(self.transitions)), k))
        image = np.moveaxis(_images(self.problem, paths, rates, self.parts)[0], -1, 0)
        centre = np.tile(self.problem.theta_star, self.parts)
        W = np.zeros((len(image), self.entries, self.entries))
        W[:, :-1] = image
        W[:, :-1, -1] += image[:, :, :-1] @ centre - centre
        W[:, -1, -1] = 1.0
        return W
