r"""Figure 1: TD(0) and TD(0)-Acc on the grid world, in every reading of what the paper leaves open.

**Streams.** Seed i of the reported runs draws its training episodes from the spawn key
(TRAINING, i) and its test episodes from (TEST, i); the grids are tried on (TUNING, i).
So a seed's numbers do not depend on how many seeds there are, no method sees an episode of
another seed, and no grid is tried on an episode that is reported.
All methods see the same training and test episodes: their differences are paired.

**Divergence.** A seed that diverges is named with its episode and has no curve. It is left out of
means, and out of both sides of a paired comparison; a comparison says so by a word.

Plan of the module: the specification and its readings, all methods on shared episodes, random
streams, comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.steps import StepSizes, theorem3_printed
from amgd.errors import Diverged
from amgd.experiments.checkpoints import Checkpoints
from amgd.experiments.experiment import (
    Experiment,
    Outcome,
    Quantity,
    Tuning,
    check_rates,
    check_variants,
    plain_fields,
)
from amgd.experiments.verdicts import Comparison, Runs, compare_runs
from amgd.td import (
    GridWorld,
    TDProblem,
    TDRun,
    decaying,
    fourier_features,
    neu_area,
    td0,
    td0_accelerated,
)
from amgd.td.gridworld import GOALS, REWARDS
from amgd.td.learning import update_and_count

__all__ = [
    "FIGURE1",
    "METHODS",
    "Curve",
    "GridWorldResult",
    "GridWorldSpec",
    "ReadingRow",
    "compare",
    "figure1_readings",
    "readings_table",
    "run",
]

TRAINING, TEST, TUNING = range(3)  # first number of the spawn keys

# --- the specification ----------------------------------------------------------------------------
WORDS = {
    "plain": "TD(0)",
    "accelerated": "TD(0)-Acc",
    "matched": "TD(0) with matched steps",
    "tuned": "tuned TD(0)",
    "tuned_accelerated": "tuned TD(0)-Acc",
}
METHODS = tuple(WORDS)
FEATURES = ("three", "order", "product")
LAWS = ("episode", "uniform")
Method = Annotated[str, check.choice, METHODS]
Many = Annotated[int, check.integer, 1, "it counts runs or episodes"]
Size = Annotated[float, check.positive, "steps and sizes are above 0"]
Grid = Annotated[tuple[float, ...], check_rates]


@dataclass(frozen=True, kw_only=True)
class GridWorldSpec(Experiment):
    r"""One panel of Figure 1: TD(0) and TD(0)-Acc on the grid.

    Parameters
    ----------
    n : int
        Cells on a side. An episode has 10 n steps.
    episodes : int
        Training episodes of a run.
    goal, reward
        As for `amgd.td.GridWorld`. The paper does not say; the default ends the episode at the
        goal and gives -1 for each step.
    features : {"three", "order", "product"}
        Fourier features: :math:`1, \cos\pi x, \cos\pi y`; all of order 3,
        :math:`\cos\pi(ix+jy)`; or their product form :math:`\cos(\pi ix)\cos(\pi jy)`.
    coordinates : {"midpoint", "unit"}
        As for `amgd.td.fourier_features`.
    discount : float in [0, 1)
    law : {"episode", "uniform"}
        Law of the states under which the NEU is measured: the one of the truncated episodes, or
        equal weights for all cells. What is learned does not depend on it.
    mu : float or {"episode", "uniform"}
        Modulus in the steps of TD(0)-Acc. A name stands for the smallest eigenvalue of the
        symmetric part of A under that law.
    delta : float
        Scale of the steps of TD(0)-Acc.
    denominator : {"k", "k+1"}
        What their gamma is divided by, see `amgd.descent.steps.theorem3_printed`.
    update, count
        As for `amgd.td.td0`.
    rate : float
        Step of plain TD(0).
    rates, scales : tuple of float
        The grid of tuned TD(0): constant steps, and steps scale / k.
    deltas : tuple of float
        The grid of tuned TD(0)-Acc, of the same size.
    variants : tuple of str
        Which of `METHODS` to run, in this order.
    record : int
        Episodes between two records.
    test_episodes : int
        Episodes from which the paper estimates the NEU at each record.
    seeds, tuning_seeds : int
        Independent runs that are reported, and other ones on which the grids are tried.
    seed : int
        Entropy of all random streams.
    limit : float
        A run whose iterate reaches this size has diverged.

    Raises
    ------
    ValueError, TypeError
        If a field has the wrong type or range, or if the two grids differ in size although both
        tuned methods are asked for: the one with more tries would win by its tries.

    Examples
    --------
    >>> spec = GridWorldSpec(n=10, episodes=1000)
    >>> spec.length, spec.steps().gamma(1)
    (100, 0.1)
    >>> round(GridWorldSpec(n=10, episodes=1000, mu="episode").modulus, 6)
    0.035933
    """

    kind: ClassVar[str] = "gridworld"
    column: ClassVar[str] = "neu"
    counter: ClassVar[str] = "episode"
    quantities: ClassVar[Mapping[str, Quantity]] = {
        "neu": Quantity("exact NEU", "smaller", log=True, least=0.0),
        "neu_estimate": Quantity("estimated NEU", "smaller", log=True, least=0.0),
    }

    n: Annotated[int, check.integer, 2, "a grid needs a start and a goal"]
    episodes: Many
    goal: Annotated[str, check.choice, GOALS] = "absorbing"
    reward: Annotated[str, check.choice, REWARDS] = "step"
    features: Annotated[str, check.choice, FEATURES] = "three"
    coordinates: Annotated[str, check.choice, ("midpoint", "unit")] = "midpoint"
    discount: check.Discount = 0.9
    law: Annotated[str, check.choice, LAWS] = "episode"
    mu: float | str = 1.0
    delta: Size = 0.1
    denominator: Annotated[str, check.choice, ("k", "k+1")] = "k+1"
    update: str = "transition"
    count: str = "episode"
    rate: Size = 0.001
    rates: Grid = (0.001, 0.003, 0.01, 0.03, 0.1)
    scales: Grid = (0.1, 0.3, 1.0, 3.0, 10.0)
    deltas: Grid = (0.003, 0.01, 0.03, 0.06, 0.1, 0.15, 0.3, 0.6, 1.0, 3.0)
    variants: Annotated[tuple[str, ...], check_variants, METHODS] = METHODS[:4]
    record: Many = 10
    test_episodes: Many = 10
    seeds: Annotated[int, check.integer, 2, "it counts runs or episodes"] = 10
    tuning_seeds: Many = 10
    seed: Annotated[int, check.integer, 0, "it is the entropy of the random streams"] = 0
    limit: Size = 1e6

    def __post_init__(self) -> None:
        """Check every field; keep sequences as tuples."""
        check.fields(self)  # 1.0 for 1: equal specifications hash alike
        update_and_count(self.update, self.count)
        if isinstance(self.mu, str):
            check.choice("mu", self.mu, LAWS)
        else:
            mu = check.positive("mu", self.mu, "it divides the steps of TD(0)-Acc")
            object.__setattr__(self, "mu", mu)
        tries = len(self.rates) + len(self.scales)
        if "tuned" in self.variants and tries == 0:
            raise ValueError(
                "nothing to tune: rates and scales are both empty (expected a grid); "
                'list some or drop "tuned" from variants'
            )
        if {"tuned", "tuned_accelerated"} <= set(self.variants) and tries != len(self.deltas):
            raise ValueError(
                f"the grids differ in size: got {tries} steps for TD(0) and {len(self.deltas)} "
                "deltas for TD(0)-Acc (expected as many); a fair comparison tries as often for both"
            )

    @property
    def task(self) -> str:
        """The grid in words."""
        return f"grid world, {self.n} × {self.n}"

    @property
    def rows(self) -> int:
        """Records of a run, the start among them."""
        return 1 + -(-self.episodes // self.record)

    @property
    def size(self) -> str:
        """How much it is, in words."""
        return f"TD on a {self.n} x {self.n} grid, {self.episodes} episodes"

    @property
    def length(self) -> int:
        """Steps of an episode, the paper's 10 n."""
        return 10 * self.n

    @property
    def modulus(self) -> float:
        """The number that `mu` stands for."""
        return self.problem(self.mu).mu if isinstance(self.mu, str) else self.mu

    @check.arguments
    def problem(self, law: str | None = None) -> TDProblem:
        """Return the exact system of this reading, under `law` if one is given."""
        law = self.law if law is None else law
        basis: dict[str, Any] = {"coordinates": self.coordinates}
        if self.features != "three":
            basis.update(kind="order", product=self.features == "product")
        return TDProblem.from_gridworld(
            GridWorld(self.n, goal=self.goal, reward=self.reward),
            fourier_features(self.n, **basis),
            self.discount,
            law="episode" if law == "episode" else np.full(self.n**2, 1.0 / self.n**2),
            length=self.length,
        )

    @check.arguments
    def steps(self, delta: float | None = None) -> StepSizes:
        """Return the steps of TD(0)-Acc, with another delta if one is given."""
        scale = self.delta if delta is None else delta
        return theorem3_printed(self.modulus, self.denominator, scale)  # type: ignore[arg-type]

    @check.arguments
    def words(self, variant: Method, *, tex: bool = True) -> str:
        """Return the name of a method."""
        return WORDS[variant]

    @check.arguments
    def tunes(self, variant: str) -> bool:
        """Whether a method tries a grid, inside its run."""
        return variant.startswith("tuned")

    @check.arguments
    def identity(self, variant: Method, rate: float | None = None) -> dict[str, Any]:
        """Return all that decides the bits of a run of a method besides its seed."""
        others = {name for names in _OWN_FIELDS.values() for name in names}
        without = ("variants", "seeds", *(others - set(_OWN_FIELDS[variant])))
        return {"kind": self.kind, "method": variant} | plain_fields(self, without)

    @check.arguments
    def groups(
        self, seeds: Sequence[int], done: Mapping[int, int], workers: int
    ) -> list[tuple[int, ...]]:
        """Run all seeds of a method together: it takes a second or two."""
        return [tuple(seeds)] if seeds else []

    @check.arguments
    def run(
        self,
        variant: str,
        seeds: Sequence[check.Natural],
        rate: float | None,
        checkpoints: Checkpoints,
    ) -> Iterator[Outcome]:
        """Run some seeds of a method on their episodes."""
        begin = time.perf_counter()
        curve = run(replace(self, variants=(variant,)), seeds=seeds)[variant]
        seconds = (time.perf_counter() - begin) / len(seeds)
        for seed in seeds:
            lost = f"in episode {curve.diverged[seed]}" if seed in curve.diverged else None
            yield Outcome(seed, curve.columns(seed), seconds, lost, curve.tuning)


# What decides the bits of some methods and not of the others.
_OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "plain": ("rate",),
    "accelerated": ("mu", "delta", "denominator"),
    "matched": ("mu", "delta", "denominator"),
    "tuned": ("rates", "scales", "tuning_seeds"),
    "tuned_accelerated": ("mu", "denominator", "deltas", "tuning_seeds"),
}


FIGURE1 = (GridWorldSpec(n=10, episodes=1000), GridWorldSpec(n=50, episodes=500))
"""The two panels of the paper's Figure 1 in the book's reading."""


@check.arguments
def figure1_readings(spec: GridWorldSpec) -> dict[str, GridWorldSpec]:
    """Return `spec` and the other readings of what the paper leaves open, one change each.

    Parameters
    ----------
    spec : GridWorldSpec
        The reading from which the others depart. A change that it already contains is left out.

    Returns
    -------
    dict of str to GridWorldSpec
        The first entry is "as above".

    Examples
    --------
    >>> list(figure1_readings(FIGURE1[0]))[:3]
    ['as above', 'reward 0, +1 at the goal', 'the goal is an ordinary cell']
    """
    changes: dict[str, dict[str, Any]] = {
        "reward 0, +1 at the goal": {"reward": "goal"},
        "the goal is an ordinary cell": {"goal": "ordinary"},
        "the goal leads back to the start": {"goal": "reset"},
        "16 features, order 3": {"features": "order"},
        "16 features, product basis": {"features": "product"},
        "coordinates from 0 to 1": {"coordinates": "unit"},
        "mu of the uniform law": {"mu": "uniform"},
        "mu of the episodes": {"mu": "episode"},
        "delta 1": {"delta": 1.0},
        "gamma over k": {"denominator": "k"},
        "one update an episode": {"update": "episode"},
        "k counts transitions": {"count": "transition"},
        "NEU under the uniform law": {"law": "uniform"},
    }
    readings = {"as above": spec}
    for name, change in changes.items():
        if all(getattr(spec, field) == value for field, value in change.items()):
            continue
        if change.get("count") == "transition" and spec.update == "episode":
            continue
        readings[name] = replace(spec, **change)
    return readings


# --- all methods on shared episodes ---------------------------------------------------------------
@dataclass(frozen=True)
class Curve:
    """The learning curves of one method.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    step : str
        The step that was used, in words.
    episodes : ndarray of int64, shape (n_rec,)
        Episodes learned from at each record; the first is 0.
    seeds : tuple of int
        The seeds that did not diverge: the rows of the arrays below.
    theta : ndarray, shape (n, n_rec, d)
    neu : ndarray, shape (n, n_rec)
        Exact NEU under the law of the specification.
    neu_estimate : ndarray, shape (n, n_rec)
        NEU estimated from the test episodes of that seed and record, as the paper does it.
    diverged : mapping of int to int
        The seeds that diverged, each with the episode in which it was seen.
    tuning : Tuning or None
        The grid, for the tuned methods.
    """

    method: str
    step: str
    episodes: IntArray
    seeds: tuple[int, ...]
    theta: FloatArray
    neu: FloatArray
    neu_estimate: FloatArray
    diverged: Mapping[int, int]
    tuning: Tuning | None = None

    @check.arguments
    def columns(self, seed: int) -> dict[str, NDArray[Any]]:
        """Return what is recorded of a seed: no rows if it diverged."""
        names = ("episode", "neu", "neu_estimate", *_thetas(self.theta))
        if seed in self.diverged:
            return {name: np.zeros(0) for name in names}
        i = self.seeds.index(check.among("seed", seed, self.seeds))
        values = (self.episodes, self.neu[i], self.neu_estimate[i], *self.theta[i].T)
        return dict(zip(names, values, strict=True))

    @property
    def area(self) -> FloatArray:
        """Mean of the exact NEU over the records after the first, shape (n,)."""
        return np.asarray(self.neu[:, 1:].mean(axis=1))

    @property
    def area_estimate(self) -> FloatArray:
        """The same of the estimated NEU."""
        return np.asarray(self.neu_estimate[:, 1:].mean(axis=1))


def _thetas(theta: FloatArray) -> list[str]:
    return [f"theta{i}" for i in range(theta.shape[-1])]


@dataclass(frozen=True)
class GridWorldResult:
    """What `run` returns: the specification, its exact system, and a curve for each method."""

    spec: GridWorldSpec
    problem: TDProblem
    curves: Mapping[str, Curve]

    def __getitem__(self, method: str) -> Curve:
        """Return the curve of a method."""
        if method not in self.curves:
            raise KeyError(
                f"{method!r} was not run: this result has {list(self.curves)}; "
                "add it to variants of the specification"
            )
        return self.curves[method]


@check.arguments
def run(spec: GridWorldSpec, seeds: Sequence[check.Natural] | None = None) -> GridWorldResult:
    """Run all methods of a specification on shared episodes.

    Parameters
    ----------
    spec : GridWorldSpec
    seeds : sequence of int, optional
        Default is 0, ..., spec.seeds - 1.

    Returns
    -------
    GridWorldResult

    Raises
    ------
    TypeError
        If `spec` is not a specification.
    ValueError
        If every value of a grid diverges on the tuning seeds.

    Examples
    --------
    >>> result = run(GridWorldSpec(n=5, episodes=50, seeds=3, tuning_seeds=3))
    >>> list(result.curves), result["plain"].neu.shape
    (['plain', 'accelerated', 'matched', 'tuned'], (3, 6))
    >>> result["tuned"].tuning.best in result["tuned"].tuning.tried
    True
    """
    problem = spec.problem()
    numbers = range(spec.seeds) if seeds is None else seeds
    if not len(numbers):
        raise ValueError("seeds must hold at least one number: got none; leave it out for all")
    paths = _training_paths(spec, problem, TRAINING, numbers)
    test_systems = {seed: _test_system(spec, problem, seed) for seed in numbers}
    tuning_paths = None
    if any(spec.tunes(method) for method in spec.variants):
        tuning_paths = _training_paths(spec, problem, TUNING, range(spec.tuning_seeds))
    curves = {}
    for method in spec.variants:
        candidates = _candidates(spec, problem, method)
        tuning = None
        (step,) = candidates if len(candidates) == 1 else ("",)
        if tuning_paths is not None and spec.tunes(method):
            tuning = _tune(problem, candidates, tuning_paths)
            step = tuning.best
        finished, diverged = _run_seeds(candidates[step], paths, numbers)
        curves[method] = _curve(problem, method, step, finished, diverged, test_systems, tuning)
    return GridWorldResult(spec, problem, curves)


# One method ---------------------------------------------------------------------------------------
Learner = Callable[[IntArray], TDRun]


def _candidates(spec: GridWorldSpec, problem: TDProblem, method: str) -> dict[str, Learner]:
    """Return the learners of a method by the name of their step: one, or a grid."""
    options = {
        "update": spec.update,
        "count": spec.count,
        "record": spec.record,
        "limit": spec.limit,
    }

    def plain(rate: float | Callable[[IntArray], FloatArray]) -> Learner:
        return lambda paths: td0(problem, paths, rate, **options)  # type: ignore[arg-type]

    def accelerated(delta: float) -> Learner:
        steps = spec.steps(delta)
        return lambda paths: td0_accelerated(problem, paths, steps, **options)  # type: ignore[arg-type]

    if method == "plain":
        return {f"{spec.rate:g}": plain(spec.rate)}
    if method == "accelerated":
        return {f"delta {spec.delta:g}": accelerated(spec.delta)}
    if method == "matched":
        return {f"matched to delta {spec.delta:g}": plain(spec.steps().eta)}
    if method == "tuned":
        constant = {f"{rate:g}": plain(rate) for rate in spec.rates}
        return constant | {f"{scale:g}/k": plain(decaying(scale)) for scale in spec.scales}
    return {f"delta {delta:g}": accelerated(delta) for delta in spec.deltas}


def _run_seeds(
    learn: Learner, paths: IntArray, seeds: Sequence[int]
) -> tuple[dict[int, TDRun], dict[int, int]]:
    """Run all seeds together, or one by one if some diverge.

    Returns the runs of the seeds that finished, and the episode of divergence of the others.
    """
    try:
        together = learn(paths)
    except Diverged:
        pass
    else:
        return {seed: _row(together, i) for i, seed in enumerate(seeds)}, {}
    finished, diverged = {}, {}
    for i, seed in enumerate(seeds):
        try:
            finished[seed] = _row(learn(paths[:, [i]]), 0)
        except Diverged as error:
            diverged[seed] = error.k
    return finished, diverged


def _row(run: TDRun, i: int) -> TDRun:
    """Return the run of the i-th seed alone, its arrays of shape (n_rec, d)."""
    return TDRun(run.method, run.episodes, run.theta[:, i], run.x[:, i])


def _curve(
    problem: TDProblem,
    method: str,
    step: str,
    finished: dict[int, TDRun],
    diverged: dict[int, int],
    test_systems: Mapping[int, tuple[FloatArray, FloatArray]],
    tuning: Tuning | None,
) -> Curve:
    """Evaluate the runs of a method."""
    n_rec = len(next(iter(test_systems.values()))[1])
    theta = np.empty((len(finished), n_rec, problem.dim))
    estimate = np.empty((len(finished), n_rec))
    episodes = np.zeros(n_rec, dtype=np.int64)
    for i, (seed, seed_run) in enumerate(finished.items()):
        A, b = test_systems[seed]
        theta[i], episodes = seed_run.theta, seed_run.episodes
        update = b - (A @ theta[i][:, :, None])[:, :, 0]
        estimate[i] = (update**2).sum(axis=-1)
    # One by one: how a matrix product sums may depend on how many points there are.
    neu = np.array([problem.neu(one) for one in theta]).reshape(len(finished), n_rec)
    return Curve(method, step, episodes, tuple(finished), theta, neu, estimate, diverged, tuning)


def _tune(problem: TDProblem, candidates: dict[str, Learner], paths: IntArray) -> Tuning:
    """Try a grid; a value with which a seed diverges is out."""
    areas = []
    for learn in candidates.values():
        try:
            areas.append(float(neu_area(problem, learn(paths)).mean()))
        except Diverged:
            areas.append(np.inf)
    if np.isinf(areas).all():
        raise ValueError(
            f"no step is stable: all of {list(candidates)} diverge (expected one that does not); "
            "add smaller ones to the grid"
        )
    return Tuning(tuple(candidates), tuple(areas))


# Random streams -----------------------------------------------------------------------------------
def _rng(spec: GridWorldSpec, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(spec.seed, spawn_key=key))


def _training_paths(
    spec: GridWorldSpec, problem: TDProblem, purpose: int, seeds: Iterable[int]
) -> IntArray:
    """Draw the episodes of each seed, shape (episodes, seeds, length + 1)."""
    drawn = [problem.sample_episodes(spec.episodes, rng=_rng(spec, purpose, i)) for i in seeds]
    return np.concatenate(drawn, axis=1)


def _test_system(
    spec: GridWorldSpec, problem: TDProblem, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Estimate A and b at each record (first axis) from fresh test episodes of a seed."""
    rng = _rng(spec, TEST, seed)
    drawn = problem.sample_episodes(spec.rows, rng=rng, replicates=spec.test_episodes)
    return problem.pooled_system(drawn)


# --- comparisons ----------------------------------------------------------------------------------
@check.arguments
def compare(
    result: GridWorldResult,
    first: str,
    second: str,
    *,
    measure: Annotated[str, check.choice, ("exact", "estimate")] = "exact",
    alpha: float = 0.05,
) -> Comparison:
    """Compare the areas under the NEU of two methods by a paired test over seeds.

    Parameters
    ----------
    result : GridWorldResult
    first, second : str
        Methods that were run.
    measure : {"exact", "estimate"}
        The exact NEU or the paper's estimate.
    alpha : float in (0, 1)
        Largest p-value that counts as a difference.

    Examples
    --------
    >>> result = run(GridWorldSpec(n=5, episodes=100, seeds=8, variants=("plain", "matched")))
    >>> found = compare(result, "matched", "plain")
    >>> found.word, found.n, found.p_value  # the smallest p-value of 8 pairs
    ('better', 8, 0.0078125)
    """
    for name, method in (("first", first), ("second", second)):
        check.choice(name, method, tuple(result.curves))
    pair = _runs(result[first], measure), _runs(result[second], measure)
    return compare_runs({"": pair}, better="smaller", alpha=alpha)[""]


def _runs(curve: Curve, measure: str = "exact") -> Runs:
    areas = curve.area if measure == "exact" else curve.area_estimate
    return Runs(dict(zip(curve.seeds, areas.tolist(), strict=True)), len(curve.diverged))


@dataclass(frozen=True)
class ReadingRow:
    """A reading of the paper with what it says about the paper's claim.

    Attributes
    ----------
    reading : str
    areas : mapping of str to float
        Mean area under the exact NEU for each method, over the seeds that did not diverge (NaN if
        none is left).
    against : mapping of str to Comparison
        TD(0)-Acc against plain, matched and tuned TD(0); all comparisons of the table are one
        family.
    verdict : str
        On "TD(0)-Acc outperforms TD(0)": "holds" (better), "does not hold" (worse, or it diverges
        and TD(0) does not), "cannot be decided" (neither, or both diverge).
    share : float or None
        How much of the gain the step alone gives, on a logarithmic scale: log(plain / matched)
        over log(plain / accelerated) of the areas. 1: all of it; above 1: the matched step does
        better without acceleration. None where the claim fails.
    winner : str
        The step that tuning chose.
    """

    reading: str
    areas: Mapping[str, float]
    against: Mapping[str, Comparison]
    verdict: str
    share: float | None
    winner: str


@check.arguments
def readings_table(
    readings: Mapping[str, GridWorldSpec], *, alpha: check.Share = 0.05
) -> list[ReadingRow]:
    """Run every reading and say what it means for the claim of the paper.

    Parameters
    ----------
    readings : mapping of str to GridWorldSpec
        Such as `figure1_readings` returns; each needs the methods plain, accelerated, matched and
        tuned.
    alpha : float in (0, 1)
        Largest corrected p-value that counts as a difference.

    Examples
    --------
    >>> spec = GridWorldSpec(n=5, episodes=100, seeds=8, tuning_seeds=4)
    >>> [row] = readings_table({"default": spec})
    >>> row.verdict, row.against["plain"].word
    ('holds', 'better')
    """
    if not readings:
        raise ValueError("readings must not be empty: got {}; pass what figure1_readings returns")
    return _table({name: run(spec) for name, spec in readings.items()}, alpha)


def _table(results: Mapping[str, GridWorldResult], alpha: float = 0.05) -> list[ReadingRow]:
    others = ("plain", "matched", "tuned")
    family = {
        f"{name} {other}": (_runs(result["accelerated"]), _runs(result[other]))
        for name, result in results.items()
        for other in others
    }
    found = compare_runs(family, better="smaller", alpha=alpha)
    return [
        _reading_row(name, result, {other: found[f"{name} {other}"] for other in others})
        for name, result in results.items()
    ]


def _reading_row(
    name: str, result: GridWorldResult, against: Mapping[str, Comparison]
) -> ReadingRow:
    claim = against["plain"]
    verdict = {"better": "holds", "worse": "does not hold"}.get(claim.word, "cannot be decided")
    if claim.diverged:  # of what is better where it does not diverge nobody knows the rest
        verdict = "cannot be decided" if claim.other_diverged else "does not hold"
    areas = {
        method: float(curve.area.mean()) if curve.seeds else np.nan
        for method, curve in result.curves.items()
    }
    share = None
    if verdict == "holds":
        gains = [np.log(areas["plain"] / areas[m]) for m in ("matched", "accelerated")]
        share = float(gains[0] / gains[1])
    return ReadingRow(name, areas, against, verdict, share, result["tuned"].step)
