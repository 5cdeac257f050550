r"""Run the grid world of Figure 1 and compare its methods.

**Streams.** Seed i of the reported runs draws its training episodes from the spawn key
(TRAINING, i) and its test episodes from (TEST, i); the grids are tried on (TUNING, i).
So a seed's numbers do not depend on how many seeds there are, no method sees an episode of
another seed, and no grid is tried on an episode that is reported.
All methods see the same training and test episodes: their differences are paired.

**Divergence.** A seed that diverges is named with its episode and has no curve. It is left out of
means, and out of both sides of a paired comparison; a comparison says so by a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.errors import Diverged
from amgd.experiments.specs import GridWorldSpec
from amgd.statistics import paired_difference
from amgd.td import (
    TDProblem,
    TDRun,
    decaying,
    matched,
    neu_area,
    td0,
    td0_accelerated,
)

__all__ = [
    "Comparison",
    "Curve",
    "GridWorldResult",
    "ReadingRow",
    "Tuning",
    "compare",
    "readings_table",
    "run",
]


TRAINING, TEST, TUNING, SIGN_FLIPS = range(4)  # first number of the spawn keys


@dataclass(frozen=True)
class Tuning:
    """What a grid gave on the tuning seeds.

    Attributes
    ----------
    tried : tuple of str
        The steps, such as "0.03", "0.3/k" or "delta 0.1".
    areas : tuple of float
        Mean area under the exact NEU; infinite if a seed diverged.
    best : str
        The one with the smallest area.
    """

    tried: tuple[str, ...]
    areas: tuple[float, ...]
    best: str


@dataclass(frozen=True)
class Curve:
    """The learning curves of one method.

    Attributes
    ----------
    method : str
        One of `amgd.experiments.specs.METHODS`.
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

    @property
    def area(self) -> FloatArray:
        """Mean of the exact NEU over the records after the first, shape (n,)."""
        return np.asarray(self.neu[:, 1:].mean(axis=1))

    @property
    def area_estimate(self) -> FloatArray:
        """The same of the estimated NEU."""
        return np.asarray(self.neu_estimate[:, 1:].mean(axis=1))


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
                "add it to methods of the specification"
            )
        return self.curves[method]


def run(spec: GridWorldSpec) -> GridWorldResult:
    """Run all methods of a specification on shared episodes.

    Parameters
    ----------
    spec : GridWorldSpec

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
    check.instance("spec", spec, GridWorldSpec, "such as amgd.experiments.specs.FIGURE1[0]")
    problem = spec.problem()
    paths = _training_paths(spec, problem, TRAINING, spec.seeds)
    test_systems = _test_systems(spec, problem)
    needs_grid = {"tuned", "tuned_accelerated"} & set(spec.methods)
    tuning_paths = _training_paths(spec, problem, TUNING, spec.tuning_seeds) if needs_grid else None
    curves = {}
    for method in spec.methods:
        candidates = _candidates(spec, problem, method)
        tuning = None
        (step,) = candidates if len(candidates) == 1 else ("",)
        if tuning_paths is not None and method in needs_grid:
            tuning = _tune(problem, candidates, tuning_paths)
            step = tuning.best
        finished, diverged = _run_seeds(candidates[step], paths)
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
        return {f"matched to delta {spec.delta:g}": plain(matched(spec.steps()))}
    if method == "tuned":
        constant = {f"{rate:g}": plain(rate) for rate in spec.rates}
        return constant | {f"{scale:g}/k": plain(decaying(scale)) for scale in spec.scales}
    return {f"delta {delta:g}": accelerated(delta) for delta in spec.deltas}


def _run_seeds(learn: Learner, paths: IntArray) -> tuple[dict[int, TDRun], dict[int, int]]:
    """Run all seeds together, or one by one if some diverge.

    Returns the runs of the seeds that finished, and the episode of divergence of the others.
    """
    seeds = range(paths.shape[1])
    try:
        together = learn(paths)
    except Diverged:
        pass
    else:
        return {seed: _row(together, seed) for seed in seeds}, {}
    finished, diverged = {}, {}
    for seed in seeds:
        try:
            finished[seed] = _row(learn(paths[:, [seed]]), 0)
        except Diverged as error:
            diverged[seed] = error.k
    return finished, diverged


def _row(run: TDRun, i: int) -> TDRun:
    """Return the run of the i-th seed alone, its arrays of shape (n_rec, d)."""
    return TDRun(run.method, run.episodes, run.theta[:, i], run.x[:, i], run.average[:, i])


def _curve(
    problem: TDProblem,
    method: str,
    step: str,
    finished: dict[int, TDRun],
    diverged: dict[int, int],
    test_systems: list[tuple[FloatArray, FloatArray]],
    tuning: Tuning | None,
) -> Curve:
    """Evaluate the runs of a method."""
    n_rec = len(test_systems[0][1])
    theta = np.empty((len(finished), n_rec, problem.dim))
    estimate = np.empty((len(finished), n_rec))
    episodes = np.zeros(n_rec, dtype=np.int64)
    for i, (seed, seed_run) in enumerate(finished.items()):
        A, b = test_systems[seed]
        theta[i], episodes = seed_run.theta, seed_run.episodes
        update = b - (A @ theta[i][:, :, None])[:, :, 0]
        estimate[i] = (update**2).sum(axis=-1)
    neu = problem.neu(theta)
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
    names = tuple(candidates)
    return Tuning(names, tuple(areas), names[int(np.argmin(areas))])


# Random streams -----------------------------------------------------------------------------------
def _rng(spec: GridWorldSpec, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(spec.seed, spawn_key=key))


def _training_paths(spec: GridWorldSpec, problem: TDProblem, purpose: int, seeds: int) -> IntArray:
    """Draw the episodes of each seed, shape (episodes, seeds, length + 1)."""
    drawn = [
        problem.sample_episodes(spec.episodes, rng=_rng(spec, purpose, i)) for i in range(seeds)
    ]
    return np.concatenate(drawn, axis=1)


def _test_systems(spec: GridWorldSpec, problem: TDProblem) -> list[tuple[FloatArray, FloatArray]]:
    """Estimate A and b for each seed (list) and record (first axis) from fresh test episodes."""
    n_rec = 1 + -(-spec.episodes // spec.record)
    systems = []
    for i in range(spec.seeds):
        drawn = problem.sample_episodes(
            n_rec, rng=_rng(spec, TEST, i), replicates=spec.test_episodes
        )
        systems.append(problem.pooled_system(drawn))
    return systems


# Comparisons --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Comparison:
    """One method against another on the seeds that both finished.

    Attributes
    ----------
    first, second : str
    ratio : float
        Mean area of the first over that of the second; NaN if fewer than two seeds are left.
    p_value : float
        Two-sided paired sign-flip test of equal areas; NaN likewise.
    n : int
        Seeds compared.
    word : str
        "better", "worse" (of the first, p at most `alpha`), "no difference" seen; or, if a method
        diverged on some seed, "diverges", "the other diverges", "both diverge".
    """

    first: str
    second: str
    ratio: float
    p_value: float
    n: int
    word: str


def compare(
    result: GridWorldResult,
    first: str,
    second: str,
    *,
    measure: str = "exact",
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
    >>> result = run(GridWorldSpec(n=5, episodes=100, seeds=8, methods=("plain", "matched")))
    >>> found = compare(result, "matched", "plain")
    >>> found.word, found.n, found.p_value  # the smallest p-value of 8 pairs
    ('better', 8, 0.0078125)
    """
    check.choice("measure", measure, ("exact", "estimate"))
    check.real("alpha", alpha, "0.05 is usual", "(0, 1)")
    a, b = result[first], result[second]
    shared = [seed for seed in a.seeds if seed in b.seeds]
    ratio = p_value = np.nan
    word = "no difference"
    if len(shared) >= 2:
        area_a, area_b = (_areas(curve, shared, measure) for curve in (a, b))
        if area_b.mean() > 0.0:
            ratio = float(area_a.mean() / area_b.mean())
        rng = _rng(result.spec, SIGN_FLIPS)
        p_value = paired_difference(area_a, area_b, rng=rng).p_value
        if p_value <= alpha:
            word = "better" if area_a.mean() < area_b.mean() else "worse"
    if a.diverged or b.diverged:
        word = "both diverge"
        if not b.diverged:
            word = "diverges"
        elif not a.diverged:
            word = "the other diverges"
    return Comparison(first, second, ratio, p_value, len(shared), word)


def _areas(curve: Curve, seeds: list[int], measure: str) -> FloatArray:
    area = curve.area if measure == "exact" else curve.area_estimate
    return area[[curve.seeds.index(seed) for seed in seeds]]


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
        TD(0)-Acc against plain, matched and tuned TD(0).
    verdict : str
        On "TD(0)-Acc outperforms TD(0)": "holds" (better, p at most alpha), "does not hold"
        (worse, or it diverges and TD(0) does not), "cannot be decided".
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


VERDICTS = {"better": "holds", "worse": "does not hold", "diverges": "does not hold"}


def readings_table(
    readings: Mapping[str, GridWorldSpec], *, alpha: float = 0.05
) -> list[ReadingRow]:
    """Run every reading and say what it means for the claim of the paper.

    Parameters
    ----------
    readings : mapping of str to GridWorldSpec
        Such as `amgd.experiments.specs.figure1_readings` returns; each needs the methods plain,
        accelerated, matched and tuned.
    alpha : float in (0, 1)
        Largest p-value that counts as a difference.

    Examples
    --------
    >>> spec = GridWorldSpec(n=5, episodes=100, seeds=8, tuning_seeds=4)
    >>> [row] = readings_table({"default": spec})
    >>> row.verdict, row.against["plain"].word
    ('holds', 'better')
    """
    return [_reading_row(name, run(spec), alpha) for name, spec in readings.items()]


def _reading_row(name: str, result: GridWorldResult, alpha: float) -> ReadingRow:
    others: Iterable[str] = ("plain", "matched", "tuned")
    against = {other: compare(result, "accelerated", other, alpha=alpha) for other in others}
    verdict = VERDICTS.get(against["plain"].word, "cannot be decided")
    areas = {
        method: float(curve.area.mean()) if curve.seeds else np.nan
        for method, curve in result.curves.items()
    }
    share = None
    if verdict == "holds":
        gains = [np.log(areas["plain"] / areas[m]) for m in ("matched", "accelerated")]
        share = float(gains[0] / gains[1])
    return ReadingRow(name, areas, against, verdict, share, result["tuned"].step)
