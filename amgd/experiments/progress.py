r"""How far a run is, told while it goes on: a bar on a terminal, elsewhere a line for each run.

Work is counted in rows, the unit of a checkpoint: a recorded run counts with all its rows, one that
is under way with those in its last checkpoint. The time that is left follows from what the
recorded runs took; before there is one, from the clock, which starts at the first new row: neither
the start of the workers nor an interruption counts.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, TextIO

from tqdm import tqdm

from amgd import _checks as check
from amgd.experiments.experiment import FIRST_TUNING_RUN, Experiment
from amgd.experiments.records import MANIFEST, Record, tuning_name
from amgd.experiments.runner import checkpointed_rows

__all__ = ["Progress", "duration", "planned_rows", "rows_done"]


@check.arguments
def planned_rows(
    spec: Experiment, variants: Iterable[str], seeds: Iterable[check.Natural]
) -> dict[str, int]:
    """Return the rows of each run that a record is to hold, those of the grids among them.

    Parameters
    ----------
    spec : Experiment
    variants, seeds
        What is wanted.

    Returns
    -------
    dict of str to int
        By the name of the run, as `Record.files` has it.

    Examples
    --------
    >>> from amgd.experiments.named import named
    >>> planned_rows(named("figure1-grid10", "smoke"), ["plain"], [0, 2])
    {'plain-seed00': 5, 'plain-seed02': 5}
    >>> list(planned_rows(named("figure2-cartpole", "smoke"), ["tuned"], [0]))[:2]
    ['tuning-0.01-seed1000', 'tuning-0.01-seed1001']
    """
    numbers = [check.integer("seeds", seed, 0, "they number runs") for seed in seeds]
    tuning = range(FIRST_TUNING_RUN, FIRST_TUNING_RUN + spec.tuning_seeds)
    plan: dict[str, int] = {}
    for variant in check.strings("variants", variants):
        for rate in spec.grid(variant):
            name = tuning_name(variant, rate)
            plan |= {Record.stem(name, seed): spec.rows for seed in tuning}
        plan |= {Record.stem(variant, seed): spec.rows for seed in numbers}
    return plan


@check.arguments
def rows_done(record: Record | None, plan: Mapping[str, int]) -> int:
    """Return how many of the planned rows are recorded or in a checkpoint; none without a record.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> spec = named("figure1-grid10", "smoke")
    >>> plan = planned_rows(spec, spec.variants, range(spec.seeds))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows_done(Record.create(folder, spec), plan), sum(plan.values())
    (0, 75)
    """
    if record is None:
        return 0
    checkpoints = checkpointed_rows(record)
    # A run that diverged is finished, however few rows it has.
    return sum(
        rows if stem in record.files else min(rows, checkpoints.get(stem, 0))
        for stem, rows in plan.items()
    )


@check.arguments
def duration(seconds: Annotated[float, "[0, inf)"]) -> str:
    """Return a time in words, in two units at most.

    Examples
    --------
    >>> duration(7812), duration(200), duration(12.3), duration(0.2), duration(200_000)
    ('2 h 10 min', '3 min', '12 s', '1 s', '2 d 8 h')
    """
    seconds = float(seconds)
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"


def _columns(stream: TextIO) -> int:
    """Return the columns of a terminal that can be written, 79 if it does not say how many."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) - 1
    except (OSError, AttributeError):
        return 79


class Progress:
    """Shows how far a record is; hand it to `amgd.experiments.runner.record` as ``on_progress``.

    Parameters
    ----------
    name : str
        Of the record.
    path : Path
        Its folder, which need not be there yet.
    plan : mapping of str to int
        From `planned_rows`.
    workers : int
        Processes that share the work.
    poll_seconds : float
        How often a bar looks for new checkpoints.
    stream : text file, optional
        Where to write, by default standard error. A terminal gets a bar; anything else gets whole
        lines, without a carriage return.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.named import named
    >>> spec = named("figure1-grid10", "smoke")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = planned_rows(spec, ["plain"], [0])
    ...     with Progress("mine", Path(folder), plan, stream=sys.stdout) as progress:
    ...         made = runner.record(
    ...             spec, folder, variants=["plain"], seeds=[0], on_progress=progress
    ...         )
    mine: 1 of 1 runs, plain-seed00 recorded
    """

    def __init__(
        self,
        name: str,
        path: Path,
        plan: Mapping[str, int],
        *,
        workers: int = 1,
        poll_seconds: float = 2.0,
        stream: TextIO | None = None,
    ) -> None:
        self._name, self._path, self._plan, self._workers = name, path, plan, workers
        self._stream = sys.stderr if stream is None else stream
        self._total = sum(plan.values())
        self._record = self._recorded()
        self._first = rows_done(self._record, plan)
        self._begin = 0.0
        self._bar: tqdm[Any] | None = None
        self._poll_seconds = poll_seconds
        self._over = threading.Event()
        self._showing = threading.Lock()  # else the poll could write an older number last
        self._poll = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Progress:
        """Show a bar, if there is a terminal to show it on."""
        if self._stream.isatty():
            self._bar = tqdm(
                total=self._total,
                initial=self._first,
                file=self._stream,
                nrows=20,  # some terminals say that they have none
                bar_format="{percentage:3.0f}%",  # until `_show` has measured the terminal
            )
            self._show()
            self._poll.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the bar as it is."""
        self._over.set()
        if self._bar is not None:
            self._poll.join()
            self._bar.close()

    def __call__(self, record: Record, stem: str) -> None:
        """Tell that a run has been recorded."""
        self._record = record
        if self._bar is not None:
            self._show()
            return
        word = "recorded" if record.files[stem]["diverged"] is None else "diverged"
        done = rows_done(record, self._plan)
        line = f"{self._name}: {self._runs()}{self._left(done)}, {stem} {word}"
        print(line, file=self._stream, flush=True)

    def _recorded(self) -> Record | None:
        return Record(self._path) if (self._path / MANIFEST).exists() else None

    def _runs(self) -> str:
        files = {} if self._record is None else self._record.files
        return f"{sum(stem in files for stem in self._plan)} of {len(self._plan)} runs"

    def _left(self, done: int) -> str:
        """Say how long it takes yet, nothing if that cannot be told."""
        files = {} if self._record is None else self._record.files
        known = [files[stem] for stem in self._plan if stem in files]
        seconds = sum(entry["seconds"] for entry in known)  # each on one core
        if known:
            at_once = min(self._workers, len(self._plan) - len(known))
            speed = at_once * sum(entry["rows"] for entry in known) / max(seconds, 1e-3)
        elif not self._begin:
            if done > self._first:
                self._first, self._begin = done, time.monotonic()
            speed = 0.0
        else:
            speed = (done - self._first) / (time.monotonic() - self._begin)
        return f", about {duration((self._total - done) / speed)} left" if speed else ""

    def _look(self) -> None:
        while not self._over.wait(self._poll_seconds):
            if self._record is None:  # no run has been recorded yet
                self._record = self._recorded()
            self._show()

    def _show(self) -> None:
        with self._showing:
            bar = self._bar
            assert bar is not None
            # A run that has just been recorded loses its checkpoint a moment later or before.
            bar.n = max(bar.n, rows_done(self._record, self._plan))
            rows, percent = f"{bar.n}/{self._total} rows", f"{100 * bar.n // self._total:3d}%"
            text = f"{rows}{self._left(bar.n)}, {self._runs()}"
            name = self._name.replace("{", "{{").replace("}", "}}")
            whole = f"{name}: {percent}|{{bar}}| {text}"
            bar.ncols = width = _columns(self._stream)
            forms = (whole, f"{percent} {text}", f"{percent} {rows}", percent)
            room = (width - 8, width, width, width)  # a bar of less than that shows nothing
            fits = (form for form, space in zip(forms, room, strict=True) if len(form) <= space)
            bar.bar_format = next(fits, percent)
            bar.refresh()
