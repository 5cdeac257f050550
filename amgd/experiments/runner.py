r"""Run a specification into a record: seeds in parallel, killed and continued at will.

**Tasks.** The work is cut into tasks: a variant with some of its seeds.
In classic control runs are cheaper together, so a task holds several; a robot's task holds one.
A run gives the same bits in any company, in any process and after any number of interruptions, so
the record does not depend on how many workers there are, or on what happened to them.

**Two rounds.** The tuned variants need the winner of their grid, so everything else runs before.
A grid is tried on runs of its own, recorded as the variant "tuning-RATE".

**Workers.** Tasks run through joblib, each on one thread. Within
``joblib.parallel_config(backend="dask")`` they run on a Dask cluster instead; its workers must see
the record's folder under the same path, since they keep their checkpoints in it.
The record itself is written by the calling process alone, which holds a lock meanwhile.

Plan of the module: tasks, what a worker does, the loop that records.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import torch
from filelock import FileLock, Timeout
from joblib.externals.loky.backend.process import LokyProcess
from numpy.typing import NDArray

from amgd import _checks as check
from amgd.errors import Diverged
from amgd.experiments.checkpoints import load_checkpoint, save_checkpoint
from amgd.experiments.gridworld import Curve, Tuning, run
from amgd.experiments.records import Record, RecordError, surroundings
from amgd.experiments.specs import (
    FIRST_TUNING_RUN,
    GridWorldSpec,
    Spec,
    spec_hash,
    to_plain,
)
from amgd.reinforce.simulators import make_simulator
from amgd.reinforce.training import Trainer, TrainingLog, join_states, split_state

__all__ = ["CHECKPOINTS", "Task", "checkpointed_rows", "record", "tasks_for"]

CHECKPOINTS = "checkpoints"
LOCK = ".lock"


class Outcome(NamedTuple):
    """What a task found out about one of its runs."""

    seed: int
    columns: dict[str, NDArray[Any]]
    seconds: float
    diverged: str | None
    where: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Some runs of a variant.

    Attributes
    ----------
    spec : GridWorldSpec or ReinforceSpec
    variant : str
        Of the specification.
    seeds : tuple of int
        Their numbers; from `FIRST_TUNING_RUN` on they try a rate of the variant's grid.
    rate : float or None
        The step of a tuned variant.
    """

    spec: Any
    variant: str
    seeds: tuple[int, ...]
    rate: float | None = None

    @property
    def name(self) -> str:
        """The variant under which the runs are recorded."""
        if self.seeds[0] < FIRST_TUNING_RUN:
            return self.variant
        return _tuning_name(self.variant, self.rate)


def _tuning_name(variant: str, rate: float | None) -> str:
    return f"{variant.replace('tuned', 'tuning', 1)}-{rate:g}"


# --- what a worker does ---------------------------------------------------------------------------
def _run_task(
    task: Task, folder: Path, checkpoint_seconds: float
) -> tuple[Task, list[Outcome], Tuning | None]:
    _stop_if_deserted()
    if isinstance(task.spec, GridWorldSpec):
        return task, *_run_grid_world(task)
    return task, _run_training(task, folder, checkpoint_seconds), None


def _stop_if_deserted() -> None:
    """End a worker of joblib whose caller was killed; Dask ends its own."""
    parent = multiprocessing.parent_process()
    if not isinstance(multiprocessing.current_process(), LokyProcess) or parent is None:
        return
    if os.getppid() != parent.pid:
        os._exit(1)  # an exception would end the task, and the worker wait for the next


def _run_grid_world(task: Task) -> tuple[list[Outcome], Tuning | None]:
    """Run a method on all seeds, which takes a second or two, and keep those of the task."""
    begin = time.perf_counter()
    curve = run(replace(task.spec, methods=(task.variant,)))[task.variant]
    seconds = (time.perf_counter() - begin) / task.spec.seeds
    where = surroundings()
    outcomes = []
    for seed in task.seeds:
        lost = f"in episode {curve.diverged[seed]}" if seed in curve.diverged else None
        outcomes.append(Outcome(seed, grid_world_columns(curve, seed), seconds, lost, where))
    return outcomes, curve.tuning


def grid_world_columns(curve: Curve, seed: int) -> dict[str, NDArray[Any]]:
    """Return what is recorded of a run of the grid world: no rows if it diverged."""
    theta_names = [f"theta{i}" for i in range(curve.theta.shape[-1])]
    if seed in curve.diverged:
        return {n: np.zeros(0) for n in ("episode", "neu", "neu_estimate", *theta_names)}
    i = curve.seeds.index(seed)
    return {
        "episode": curve.episodes,
        "neu": curve.neu[i],
        "neu_estimate": curve.neu_estimate[i],
        **dict(zip(theta_names, curve.theta[i].T, strict=True)),
    }


def _run_training(task: Task, folder: Path, checkpoint_seconds: float) -> list[Outcome]:
    """Train from the checkpoints on, runs that are equally far together.

    They are looked up anew here: a worker that outlived its caller may just have saved one.
    """
    states = {seed: load_checkpoint(*_checkpoint(task, seed, folder)) for seed in task.seeds}
    outcomes = []
    for seeds in _equally_far(states):
        trainer = Trainer(task.spec.training_for(task.variant, seeds, task.rate))
        found = [state for seed in seeds if (state := states[seed]) is not None]
        if found:
            trainer.load_state_dict(join_states(found))
        outcomes += _train(trainer, replace(task, seeds=seeds), folder, checkpoint_seconds)
    return outcomes


def _equally_far(states: Mapping[int, dict[str, Any] | None]) -> list[tuple[int, ...]]:
    """Cut seeds into groups with the same number of rows."""
    by_k: dict[int, list[int]] = {}
    for seed, state in states.items():
        by_k.setdefault(0 if state is None else state["k"], []).append(seed)
    return [tuple(seeds) for seeds in by_k.values()]


def _train(trainer: Trainer, task: Task, folder: Path, checkpoint_seconds: float) -> list[Outcome]:
    """Train to the end, and save a checkpoint now and then."""
    saved = time.monotonic()
    try:
        while not trainer.done:
            trainer.advance()
            _stop_if_deserted()
            if time.monotonic() - saved >= checkpoint_seconds and not trainer.done:
                for seed, state in zip(task.seeds, split_state(trainer.state_dict()), strict=True):
                    save_checkpoint(*_checkpoint(task, seed, folder), state)
                saved = time.monotonic()
    except Diverged as error:
        what = f"at iteration {error.k}: {error.what}"
        lost = [_training_outcome(error.recorded, task.seeds.index(error.run), what)]
        others = tuple(seed for seed in task.seeds if seed != error.run)
        # A run does not depend on its company: the others go on from their checkpoints.
        rest = replace(task, seeds=others)
        return lost + (_run_training(rest, folder, checkpoint_seconds) if others else [])
    return [_training_outcome(trainer.log, i, None) for i in range(len(task.seeds))]


def _training_outcome(log: TrainingLog, i: int, diverged: str | None) -> Outcome:
    seconds = float(log.seconds["total"].sum()) / len(log.runs)
    return Outcome(log.runs[i], training_columns(log, i), seconds, diverged, surroundings())


def training_columns(log: TrainingLog, i: int) -> dict[str, NDArray[Any]]:
    """Return what is recorded of the i-th run of a log."""
    return {"k": np.arange(len(log)), **{name: rows[i] for name, rows in log.columns.items()}}


def _checkpoint(task: Task, seed: int, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return where the checkpoint of a run is, and to what it belongs."""
    stem = Record.stem(task.name, seed)
    owner = {"hash": spec_hash(task.spec), "run": stem, "rate": task.rate}
    return folder / f"{stem}.pt", owner


# --- tasks ----------------------------------------------------------------------------------------
def tasks_for(
    record: Record, variants: Sequence[str], seeds: Sequence[int], workers: int = 1
) -> list[Task]:
    """Return what is missing and can start now: tuned variants wait for their grids.

    Parameters
    ----------
    record : Record
    variants, seeds
        What is wanted.
    workers : int
        Over how many processes runs that are cheaper together are spread.
    """
    spec = record.spec
    if isinstance(spec, GridWorldSpec):
        wanted = ((v, [s for s in seeds if not record.has(v, s)]) for v in variants)
        return [Task(spec, variant, tuple(missing)) for variant, missing in wanted if missing]
    tasks = []
    for variant in variants:
        numbers = list(seeds)
        rates: list[float | None] = [None]
        if spec.grid(variant):
            if all(record.has(variant, seed) for seed in seeds):
                continue
            winner = _winner(record, variant)
            rates = list(spec.grid(variant)) if winner is None else [winner]
            if winner is None:
                numbers = [FIRST_TUNING_RUN + i for i in range(spec.tuning_seeds)]
        for rate in rates:
            task = Task(spec, variant, tuple(numbers), rate)
            missing = tuple(seed for seed in numbers if not record.has(task.name, seed))
            folder = record.path / CHECKPOINTS
            tasks += [replace(task, seeds=s) for s in _alike(task, missing, folder, workers)]
    # Seed by seed: wherever it is interrupted, each variant has about as many runs as the others.
    return sorted(tasks, key=lambda task: task.seeds[0])


def _alike(task: Task, seeds: tuple[int, ...], folder: Path, workers: int) -> list[tuple[int, ...]]:
    """Cut seeds into groups that can run together: equally far, and one at a time for a robot."""
    training = task.spec.training
    simulator = make_simulator(training.environment, **training.options)
    if not simulator.batches_runs:
        return [(seed,) for seed in seeds]
    states = {seed: load_checkpoint(*_checkpoint(task, seed, folder)) for seed in seeds}
    groups = []
    for group in _equally_far(states):
        parts = np.array_split(group, min(workers, len(group)))
        groups += [tuple(int(seed) for seed in part) for part in parts]
    return groups


def _winner(record: Record, variant: str) -> float | None:
    """Return the best rate of a grid, kept in the manifest; None if runs are missing or all diverge."""
    spec, areas = record.spec, []
    for rate in spec.grid(variant):
        name = _tuning_name(variant, rate)
        runs = [FIRST_TUNING_RUN + i for i in range(spec.tuning_seeds)]
        if not all(record.has(name, run) for run in runs):
            return None
        if any(record.files[Record.stem(name, run)]["diverged"] is not None for run in runs):
            areas.append(np.inf)
            continue
        means = [record.read(name, run)["evaluation_return"].mean() for run in runs]
        areas.append(-float(np.mean(means)))
    if not np.isfinite(areas).any():
        return None
    if variant not in record.tuning:
        record.set_tuning(variant, [f"{rate:g}" for rate in spec.grid(variant)], areas)
    return float(spec.grid(variant)[int(np.argmin(areas))])


# --- the loop -------------------------------------------------------------------------------------
def record(
    spec: Spec,
    path: Path | str,
    *,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
    checkpoint_seconds: float = 30.0,
    on_progress: Callable[[Record, str], None] | None = None,
) -> Record:
    """Run what a record lacks.

    Parameters
    ----------
    spec : GridWorldSpec or ReinforceSpec
    path : Path or str
        Folder of the record; it is made if it is not there.
    variants : sequence of str, optional
        Some of the specification's; default is all.
    seeds : sequence of int, optional
        Some of 0, ..., spec.seeds - 1; default is all.
    jobs : int, optional
        Processes, as joblib's ``n_jobs``; -1 stands for all cores. Default is what
        ``joblib.parallel_config`` says, otherwise one.
    checkpoint_seconds : float
        A kill loses at most this much work and the row in progress; the grid world, a second or two
        for a variant, has no checkpoints.
    on_progress : callable, optional
        Called with the record and the name of each run that has just been recorded.

    Returns
    -------
    Record

    Raises
    ------
    RecordError
        If the folder belongs to another specification, another process is writing it, or a file in
        it is torn or edited.
    ValueError
        If every step of a grid diverges; the other variants are recorded first.
    TypeError
        If an argument is of the wrong kind.
    OSError
        If it cannot be written; what is there is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = record(named("figure1-grid10", "smoke"), folder, variants=["plain"])
    ...     made.seeds("plain"), made.curves("plain", "neu").samples.shape
    ((0, 1, 2), (3, 5))
    """
    to_plain(spec)  # refuses anything else
    wanted = _wanted("variants", variants, spec.variants)
    numbers = _wanted("seeds", seeds, range(spec.seeds))
    pause = check.real("checkpoint_seconds", checkpoint_seconds, "30 is usual", "[0, inf)")
    if jobs is not None and check.integer("jobs", jobs, -(2**31), "2 for two processes") == 0:
        raise ValueError("jobs must not be 0: got 0 (expected 1, 2, ... or -1 for all cores)")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise RecordError(
            f"another process is writing {folder}: got a lock that is held (expected none); "
            "wait for it, stop it, or choose another folder"
        ) from None
    try:
        return _record(Record.create(folder, spec), wanted, numbers, jobs, pause, on_progress)
    finally:
        lock.release()


def _record(
    record: Record,
    variants: Sequence[str],
    seeds: Sequence[int],
    jobs: int | None,
    checkpoint_seconds: float,
    on_progress: Callable[[Record, str], None] | None,
) -> Record:
    record.verify(unlisted=False)
    folder = record.path / CHECKPOINTS
    folder.mkdir(exist_ok=True)
    # A kill leaves half written files, and a worker that outlived it checkpoints of finished runs.
    half = [*record.path.glob(".*.csv.*"), *record.path.glob(".*.json.*"), *folder.glob(".*.pt.*")]
    for file in half + [folder / f"{stem}.pt" for stem in record.files]:
        file.unlink(missing_ok=True)
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    workers = joblib.effective_n_jobs(jobs)
    for _ in ("grids and the variants without one", "tuned variants"):
        tasks = tasks_for(record, variants, seeds, workers)
        outcomes = parallel(
            joblib.delayed(_run_task)(task, folder.absolute(), checkpoint_seconds) for task in tasks
        )
        for task, found, tuning in outcomes:
            if tuning is not None:
                record.set_tuning(task.variant, tuning.tried, tuning.areas)
            for one in found:
                record.add(
                    task.name,
                    one.seed,
                    one.columns,
                    one.seconds,
                    diverged=one.diverged,
                    where=one.where,
                )
                _checkpoint(task, one.seed, folder)[0].unlink(missing_ok=True)
                if on_progress is not None:
                    on_progress(record, Record.stem(task.name, one.seed))
    for variant in variants:
        if not all(record.has(variant, seed) for seed in seeds):
            raise ValueError(
                f"no rate of {variant} is stable: all of {record.spec.grid(variant)} diverge (expected one "
                "that does not); add smaller ones to the grid"
            )
    return record


def _wanted(name: str, chosen: Sequence[Any] | None, known: Iterable[Any]) -> list[Any]:
    listed = list(known)
    if chosen is None:
        return listed
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise TypeError(f"{name} must be a list: got {chosen!r} (expected some of {listed})")
    chosen = list(chosen)
    strangers = [one for one in chosen if one not in listed]
    if strangers or len(chosen) == 0:
        raise ValueError(
            f"{name} must be some of the specification's: got {chosen} (expected some of "
            f"{listed}); the others would need another specification"
        )
    return [one for one in listed if one in chosen]


def checkpointed_rows(record: Record) -> dict[str, int]:
    """Return how many rows of each unfinished run are safe in a checkpoint, by its name.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpointed_rows(Record.create(folder, named("figure3-ant", "smoke")))
    {}
    """
    found = {}
    for path in sorted((record.path / CHECKPOINTS).glob("*.pt")):
        try:
            found[path.stem] = int(torch.load(path, weights_only=True)["state"]["k"])
        except Exception:
            continue  # just being replaced or deleted; `record` reports one that is torn
    return found
