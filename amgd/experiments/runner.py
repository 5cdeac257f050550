r"""Run an experiment into a record: seeds in parallel, killed and continued at will.

**Tasks.** The work is cut into tasks: a variant with some of its seeds, as the experiment likes
them together (`Experiment.groups`).
A run gives the same bits in any company, in any process and after any number of interruptions, so
the record does not depend on how many workers there are, or on what happened to them.

**Two rounds.** The tuned variants need the winner of their grid, so everything else runs before.
A grid is tried on runs of its own, recorded as the variant "tuning-RATE".

**Workers.** Tasks run through joblib, each on one thread. Within
``joblib.parallel_config(backend="dask")`` they run on a Dask cluster instead; its workers must see
the record's folder under the same path, since they keep their checkpoints in it.
The record itself is written by the calling process alone, which holds a lock meanwhile.
If a worker is killed, its tasks start again from their checkpoints.

Plan of the module: tasks, what a worker does, the loop that records.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from filelock import FileLock, Timeout

from amgd import _checks as check
from amgd._imports import importable
from amgd.experiments.checkpoints import CHECKPOINTS, Checkpoints, read_checkpoint
from amgd.experiments.experiment import (
    FIRST_TUNING_RUN,
    Experiment,
    Outcome,
    Tuning,
    same_identity,
    told,
)
from amgd.experiments.records import Record, RecordError, tuning_name

__all__ = ["Task", "checkpointed_rows", "record", "tasks_for"]

LOCK = ".lock"
ATTEMPTS = 3  # after a worker was killed, without a run or a checkpoint in between


# --- tasks ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """Some runs of a variant.

    Attributes
    ----------
    spec : Experiment
    variant : str
        Of the specification.
    seeds : tuple of int
        Their numbers; from `FIRST_TUNING_RUN` on they try a rate of the variant's grid.
    rate : float or None
        Of a variant with a grid.
    """

    spec: Any
    variant: str
    seeds: tuple[int, ...]
    rate: float | None = None

    @property
    def name(self) -> str:
        """The variant under which the runs are recorded."""
        if self.rate is None or self.seeds[0] < FIRST_TUNING_RUN:
            return self.variant
        return tuning_name(self.variant, self.rate)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the bits of the runs."""
        return self.spec.identity(self.variant, self.rate)  # type: ignore[no-any-return]


@check.arguments
def tasks_for(
    record: Record,
    variants: Sequence[str],
    seeds: Sequence[int],
    workers: int = 1,
    only: Iterable[str] | None = None,
) -> list[Task]:
    """Return what is missing and can start now: tuned variants wait for their grids.

    Parameters
    ----------
    record : Record
    variants, seeds
        What is wanted.
    workers : int
        Over how many processes runs that are cheaper together are spread.
    only : collection of str, optional
        Names of runs; what else is missing does not count.

    Raises
    ------
    RecordError
        If a grid now has another winner than the runs that are recorded with it, or a checkpoint is
        torn or of another run.
    """
    spec, folder = record.spec, record.path / CHECKPOINTS
    only = None if only is None else set(check.strings("only", only))
    for variant in variants:
        check.among("variants", variant, spec.variants)
    begun: list[Task] = []
    fresh: list[Task] = []
    for variant in variants:
        for task in _wanted_tasks(record, variant, seeds):
            missing = _missing(record, task.name, task.seeds, only)
            lost = spec.tunes(variant) and not spec.grid(variant) and variant not in record.tuning
            if lost and not missing:  # one run finds the tuning again
                missing = [seed for seed in task.seeds if record.has(variant, seed)][:1]
            checkpoints = Checkpoints(folder, task.name, task.identity, spec.defaults())
            rows = {seed: checkpoints.rows(seed) for seed in missing}
            for group in spec.groups(missing, rows, workers) if missing else []:
                tasks = begun if any(rows[seed] for seed in group) else fresh
                tasks.append(replace(task, seeds=group))
    # First what is begun, since a run that cannot go on should be told before others take hours.
    # Seed by seed: wherever it is interrupted, each variant has about as many runs as the others.
    return [task for tasks in (begun, fresh) for task in sorted(tasks, key=lambda t: t.seeds[0])]


def _missing(
    record: Record, name: str, seeds: Sequence[int], only: Iterable[str] | None
) -> list[int]:
    """Return the seeds whose runs are wanted and not recorded."""
    wanted = [seed for seed in seeds if only is None or Record.stem(name, seed) in only]
    return [seed for seed in wanted if not record.has(name, seed)]


def _wanted_tasks(record: Record, variant: str, seeds: Sequence[int]) -> list[Task]:
    """Return one task for each name under which runs of a variant are wanted now."""
    spec = record.spec
    if not spec.grid(variant):
        return [Task(spec, variant, tuple(seeds))]
    found = settle(record, variant)
    if found is None:
        runs = tuple(range(FIRST_TUNING_RUN, FIRST_TUNING_RUN + spec.tuning_seeds))
        return [Task(spec, variant, runs, rate) for rate in spec.grid(variant)]
    if not np.isfinite(found.areas).any():
        return []
    return [Task(spec, variant, tuple(seeds), winner(spec, variant, found.best))]


def winner(spec: Experiment, variant: str, best: str) -> float | None:
    """Return the rate of a grid that a record calls best; None if it has none.

    Examples
    --------
    >>> from amgd.experiments.named import named
    >>> winner(named("figure2-cartpole"), "tuned", "0.3")
    0.3
    """
    return next((rate for rate in spec.grid(variant) if f"{rate:g}" == best), None)


def settle(record: Record, variant: str) -> Tuning | None:
    """Keep what the runs for tuning say of a grid; None if there is no grid or some are missing.

    Raises
    ------
    RecordError
        If the grid now has another winner than the runs that are recorded with it.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settle(Record.create(folder, named("figure2-cartpole", "smoke")), "tuned")
    """
    found, spec = _grid_result(record, variant), record.spec
    if found is None or not np.isfinite(found.areas).any():
        return found
    identity = spec.identity(variant, winner(spec, variant, found.best))
    other = same_identity(record.identities.get(variant, identity), identity, spec.defaults())
    if other:
        raise RecordError(
            f"the grid of {variant} now chooses {found.best}, and {record.path} has runs of "
            f"another choice ({told(other)}; expected the same); choose another name or folder"
        )
    record.set_tuning(variant, found)
    return found


def _grid_result(record: Record, variant: str) -> Tuning | None:
    spec = record.spec
    if not spec.grid(variant):
        return None
    runs = range(FIRST_TUNING_RUN, FIRST_TUNING_RUN + spec.tuning_seeds)
    sign = -1.0 if spec.quantity(spec.column).better == "larger" else 1.0
    areas = []
    for rate in spec.grid(variant):
        name = tuning_name(variant, rate)
        if not all(record.has(name, run) for run in runs):
            return None
        if any(record.files[Record.stem(name, run)]["diverged"] is not None for run in runs):
            areas.append(np.inf)
            continue
        means = [record.read(name, run)[spec.column].mean() for run in runs]
        areas.append(sign * float(np.mean(means)))
    return Tuning(tuple(f"{rate:g}" for rate in spec.grid(variant)), tuple(areas))


# --- what a worker does ---------------------------------------------------------------------------
class _Done(NamedTuple):
    """What a task sends back: an outcome of each run, and where it took place."""

    task: Task
    outcomes: list[Outcome]
    places: list[list[dict[str, Any]]]


def _run_task(task: Task, folder: Path, here: Path, seconds: float, changed: str) -> _Done:
    """Run a task; the caller says where its checkpoints are, and where perhaps its modules."""
    _stop_if_deserted()
    if _of_joblib():
        # Ctrl-C on a terminal reaches workers too; it is the caller's, which then ends them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        import torch  # noqa: F401  (joblib takes a later import for a leak, and ends the worker)
    with importable(here):
        checkpoints = Checkpoints(
            folder,
            task.name,
            task.identity,
            task.spec.defaults(),
            environment=task.spec.environment,
            seconds=seconds,
            changed=changed,
            alive=_stop_if_deserted,
        )
        outcomes = list(task.spec.run(task.variant, task.seeds, task.rate, checkpoints))
    return _Done(task, outcomes, [checkpoints.places(one.seed) for one in outcomes])


def _of_joblib() -> bool:
    """Whether this process is a worker that joblib has started."""
    return multiprocessing.current_process().name.startswith("LokyProcess")


def _stop_if_deserted() -> None:
    """End a worker of joblib whose caller was killed; Dask ends its own."""
    parent = multiprocessing.parent_process()
    if parent is not None and _of_joblib() and os.getppid() != parent.pid:
        os._exit(1)  # an exception would end the task, and the worker wait for the next


# --- the loop -------------------------------------------------------------------------------------
def record(
    spec: Experiment,
    path: Path | str,
    *,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
    checkpoint_seconds: float = 30.0,
    changed: str = "refuse",
    on_progress: Callable[[Record, str], None] | None = None,
    only: Iterable[str] | None = None,
) -> Record:
    """Run what a record lacks.

    Parameters
    ----------
    spec : Experiment
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
    changed : {"refuse", "accept", "restart"}
        What to do with a run that was begun with other code, versions or hardware: refuse to go on,
        go on and record both places, or start it anew.
    on_progress : callable, optional
        Called with the record and the name of each run that has just been recorded.
    only : collection of str, optional
        Names of runs, such as "plain-seed03"; nothing else is run.

    Returns
    -------
    Record

    Raises
    ------
    RecordError
        If the folder holds other runs under the same names, another process is writing it, a file
        in it is torn or edited, or a run was begun elsewhere.
    ValueError
        If every step of a grid diverges; the other variants are recorded first.
    TypeError
        If an argument is of the wrong kind.
    OSError
        If it cannot be written; what is there is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = record(named("figure1-grid10", "smoke"), folder, variants=["plain"])
    ...     made.seeds("plain"), made.curves("plain", "neu").samples.shape
    ((0, 1, 2), (3, 5))
    """
    check.instance("spec", spec, Experiment, "make one with amgd.experiments.named.named")  # type: ignore[type-abstract]
    only = None if only is None else set(check.strings("only", only))
    if not isinstance(path, Path | str):
        raise TypeError(f"path must be a Path or a str: got {path!r:.60}; name a folder")
    wanted = _wanted("variants", variants, spec.variants)
    numbers = _wanted("seeds", seeds, range(spec.seeds))
    pause = check.real("checkpoint_seconds", checkpoint_seconds, "30 is usual", "[0, inf)")
    if jobs is not None and check.integer("jobs", jobs, -(2**31), "2 for two processes") == 0:
        raise ValueError("jobs must not be 0: got 0 (expected 1, 2, ... or -1 for all cores)")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        made = Record.create(folder, spec)
        if any(_missing(made, variant, numbers, only) for variant in wanted):
            spec.check()
        return _record(made, (wanted, numbers), jobs, (pause, changed), on_progress, only)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let no other process write a record meanwhile.

    Raises
    ------
    RecordError
        If one does; it is named.
    """
    holder = folder / f"{LOCK}-holder"
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        who = ""
        with suppress(OSError):  # its name comes a moment after the lock
            who = holder.read_text(encoding="utf8")
        raise RecordError(
            f"another process is writing {folder}: got a lock that is held by {who or 'it'} "
            "(expected none); wait for it, stop it, or choose another folder"
        ) from None
    try:
        holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf8")
        yield
    finally:
        with suppress(OSError):  # the disk may be what has failed
            holder.unlink()
        lock.release()


def _record(
    record: Record,
    wanted: tuple[Sequence[str], Sequence[int]],
    jobs: int | None,
    options: tuple[float, str],
    on_progress: Callable[[Record, str], None] | None,
    only: Iterable[str] | None,
) -> Record:
    record.verify(unlisted=False)
    folder = record.path / CHECKPOINTS
    folder.mkdir(exist_ok=True)
    # A kill leaves half written files, and a worker that outlived it checkpoints of finished runs.
    half = [*record.path.glob(".*.csv.*"), *record.path.glob(".*.json.*"), *folder.glob(".*.pt.*")]
    for file in half + [folder / f"{stem}.pt" for stem in record.files]:
        file.unlink(missing_ok=True)
    for _ in ("grids and the variants without one", "tuned variants"):
        for done in _outcomes(record, wanted, jobs, options, only):
            for one, places in zip(done.outcomes, done.places, strict=True):
                if one.tuning is not None:
                    record.set_tuning(done.task.variant, one.tuning)
                stem = Record.stem(done.task.name, one.seed)
                if stem in record.files:
                    continue  # only its tuning was lost
                record.add(
                    done.task.name,
                    one.seed,
                    one.columns,
                    one.seconds,
                    diverged=one.diverged,
                    identity=done.task.identity,
                    places=places,
                )
                (folder / f"{stem}.pt").unlink(missing_ok=True)
                if on_progress is not None:
                    on_progress(record, stem)
    for variant in wanted[0]:
        if _missing(record, variant, wanted[1], only):
            raise ValueError(
                f"no rate of {variant} is stable: all of {record.spec.grid(variant)} diverge "
                "(expected one that does not); add smaller ones to the grid"
            )
    return record


def _outcomes(
    record: Record,
    wanted: tuple[Sequence[str], Sequence[int]],
    jobs: int | None,
    options: tuple[float, str],
    only: Iterable[str] | None,
) -> Iterator[_Done]:
    """Run the tasks that can start now; what a killed worker leaves undone starts again."""
    folders = (record.path / CHECKPOINTS).absolute(), Path.cwd()
    workers = joblib.effective_n_jobs(jobs)
    killed, before = 0, -1
    while tasks := tasks_for(record, *wanted, workers, only):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        try:
            yield from parallel(
                joblib.delayed(_run_task)(task, *folders, *options) for task in tasks
            )
            return
        except BrokenProcessPool:
            far = len(record.files) * 10**9 + sum(checkpointed_rows(record).values())
            killed = killed + 1 if far == before else 1
            if killed == ATTEMPTS:
                raise
            before = far


def _wanted(name: str, chosen: Sequence[Any] | None, known: Iterable[Any]) -> list[Any]:
    listed = list(known)
    if chosen is None:
        return listed
    given = list(chosen) if check.fits(chosen, Iterable) else None
    if given is None or not check.fits(given, Sequence[str | int]):
        raise TypeError(f"{name} must be a list: got {chosen!r} (expected some of {listed})")
    chosen = given
    strangers = [one for one in chosen if one not in listed]
    if strangers or len(chosen) == 0:
        raise ValueError(
            f"{name} must be some of the specification's: got {chosen} (expected some of "
            f"{listed}); the others would need another specification"
        )
    return [one for one in listed if one in chosen]


@check.arguments
def checkpointed_rows(record: Record) -> dict[str, int]:
    """Return how many rows of each unfinished run are safe in a checkpoint, by its name.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpointed_rows(Record.create(folder, named("figure1-grid10", "smoke")))
    {}
    """
    found = {}
    for path in sorted((record.path / CHECKPOINTS).glob("*.pt")):
        try:
            content = read_checkpoint(path)
        except RecordError:
            continue  # just being replaced; the run that needs it reports one that is torn
        if content is not None:
            found[path.stem] = int(content["rows"])
    return found
