r"""The command ``amgd``: run the experiments, look at their records, check them.

Results go to standard output, messages and progress to standard error.
Whatever is wrong with a record, a disk or an argument is told in a line; a traceback is a fault of
the program.

What takes long to import (torch, matplotlib) is imported where it is used, so that help comes at
once.

Plan of the module: the program and its errors, options, names and folders, a function for each
command.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from amgd import __version__
from amgd._imports import importable

if TYPE_CHECKING:
    from amgd.experiments.records import Record

__all__ = ["app"]

FAILED, USAGE, ELSEWHERE, STOPPED = 1, 2, 3, 130


# --- the program and its errors -------------------------------------------------------------------
class _Program(TyperGroup):
    """Turns the errors that a user can mend into a line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        from amgd.experiments.records import RecordError

        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller, as `amgd status >&-` does
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        try:
            with _interruptible(), _warnings_as_lines(), importable():
                try:
                    return super().invoke(ctx)
                finally:
                    sys.stdout.flush()  # what cannot be written is told here
        except KeyboardInterrupt:
            goes_on = ctx.invoked_subcommand in ("run", "repair")
            cure = "; the same command goes on from the last checkpoints" * goes_on
            _say(f"amgd: stopped{cure}")
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (for what Python still flushes)
            if ctx.invoked_subcommand in ("list", "status", "table"):  # `amgd list | head -1`
                raise typer.Exit from None
            _say("amgd: standard output is closed; what is recorded stays")
        except OSError as error:
            _say(f"amgd: {_disk(error)}")
        except BrokenProcessPool:
            _say(
                "amgd: a worker process was killed, perhaps for want of memory; the same command "
                "goes on from the last checkpoints, try it with fewer --jobs"
            )
        except UnicodeEncodeError as error:
            _say(
                f"amgd: standard output is in {error.encoding}, which lacks "
                f"{error.object[error.start]!a}; set PYTHONIOENCODING=utf8"
            )
        except (RecordError, ValueError, TypeError) as error:
            _say(f"amgd: {_line(error)}")
        raise typer.Exit(FAILED)


_CURES = {
    errno.ENOSPC: "free some space and give the same command again: what is recorded stays",
    errno.EDQUOT: "free some space and give the same command again: what is recorded stays",
    errno.EROFS: "choose a folder that can be written with --out",
    errno.EACCES: "choose a folder that can be written with --out, or change its rights",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "a file is where a folder is expected; choose another with --out",
    errno.EEXIST: "a file is where a folder is expected; choose another with --out",
}


def _disk(error: OSError) -> str:
    """Say which file could not be read or written, why, and what helps."""
    file = error.filename
    if file is None and error.errno == errno.ENOENT:  # all but one of these name a file
        file = "the working directory"
    where = f"{file}: " if file else ""
    cure = _CURES.get(error.errno or 0)
    return f"{where}{_line(error.strerror or error)}" + (f"; {cure}" if cure else "")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, and a second one of them end the program at once."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    told = False

    def stop(number: int, frame: object) -> None:
        nonlocal told
        if told:  # it is stopping; every file is whole at any moment
            os._exit(STOPPED)
        told = True
        raise KeyboardInterrupt

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as in the background of a script
            signal.signal(number, stop)
    try:
        yield
    except Exception:
        if told:  # what is stopped may fail, as joblib does that has just begun to start workers
            raise KeyboardInterrupt from None
        raise
    finally:
        if not told:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Tell a warning like any other message."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(f"amgd: warning: {_line(message)}")
        yield


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _say(text: str) -> None:
    """Write a message; results are printed."""
    print(text, file=sys.stderr, flush=True)


app = typer.Typer(
    cls=_Program,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: the same in a pipe and on a terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"amgd {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Run the experiments of the book, look at their records and check them.

    \b
    A first try, which takes seconds:
        amgd run figure2-cartpole --preset smoke
        amgd table figure2-cartpole --preset smoke

    \b
    The experiments of the paper, which take many hours:
        amgd run figure1 figure2 figure3

    A run can be stopped at any moment. The same command goes on from there, and the finished record
    is the same to the last bit.

    \b
    Exit codes:
        0    done
        1    it failed, or check found a difference
        2    the command was not understood
        3    check found a difference, on another machine or with other versions
        130  stopped by Ctrl-C or SIGTERM
    """


# --- options --------------------------------------------------------------------------------------
class Preset(StrEnum):
    """Sizes of an experiment."""

    smoke = "smoke"
    book = "book"
    paper = "paper"


RESULTS = Path("results")
NAMES = (
    "An experiment (figure2-cartpole), a figure (figure1: all its panels), a file in TOML with a "
    "specification of your own, or a record: its name in OUT, or its folder."
)


def _complete(incomplete: str) -> list[str]:
    """Return the names that begin so; where there is none, most shells go on with files."""
    from amgd.experiments.named import EXPERIMENTS

    figures = dict.fromkeys(name.partition("-")[0] for name in EXPERIMENTS)
    files = [str(path) for path in (*Path().glob("*.toml"), *RESULTS.glob("*"))]
    return [name for name in (*figures, *EXPERIMENTS, *files) if name.startswith(incomplete)]


NameArgument = Annotated[
    str, typer.Argument(help=NAMES, show_default=False, autocompletion=_complete)
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        "--preset",
        help="smoke takes seconds, book at most a minute, paper has the paper's sizes.  "
        "[default: paper]",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="OUT",
        help="The record is the folder OUT/NAME for the preset paper, OUT/NAME-smoke and "
        "OUT/NAME-book for the others.",
    ),
]
VariantsOption = Annotated[
    str | None,
    typer.Option(
        "--variants",
        metavar="A,B",
        help="Some of the variants, such as plain,matched.  [default: all]",
        show_default=False,
    ),
]
SEEDS = "Numbers and ranges: 5 is seed 5, 0-4 the first five, 0,3 these two."


def _ranges(text: str) -> list[range]:
    """Return the ranges of numbers that "0-4", "5" or "0,3" stand for."""
    found = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
            raise typer.BadParameter(
                f"got {text!r}, expected numbers and ranges such as 0-4 or 5 or 0,3",
                param_hint="--seeds",
            )
        found.append(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return found


def _chosen_seeds(text: str | None, spec: Any) -> list[int]:
    known = list(range(spec.seeds))
    if text is None:
        return known
    ranges = _ranges(text)  # not made into lists: nothing keeps 0-9999999999 from being asked for
    ends = [end for one in ranges for end in (one[0], one[-1])]
    _known("--seeds", ends, known, f"0-{known[-1]}")
    return [seed for seed in known if any(seed in one for one in ranges)]


def _chosen_variants(text: str | None, spec: Any, option: str = "--variants") -> list[str]:
    known = list(spec.variants)
    names = known if text is None else [name.strip() for name in text.split(",")]
    return _known(option, names, known, ", ".join(known))


def _known(option: str, chosen: Sequence[Any], known: list[Any], listed: str) -> list[Any]:
    strangers = [one for one in chosen if one not in known]
    if strangers:
        raise typer.BadParameter(
            f"got {strangers[0]!r}, which the specification does not have; expected some of "
            f"{listed}",
            param_hint=option,
        )
    return [one for one in known if one in chosen]


# --- names and folders ----------------------------------------------------------------------------
def _suffix(preset: Preset | None) -> str:
    return "" if preset in (None, Preset.paper) else f"-{preset}"


def _experiments(name: str) -> list[str]:
    """Return the experiments that a name stands for, none if it is not one."""
    from amgd.experiments.named import matching

    try:
        return matching(name)
    except ValueError:
        return []


def _own(name: str, preset: Preset | None) -> bool:
    """Return whether a name is a file in TOML."""
    if Path(name).suffix.lower() != ".toml":
        return False
    if preset is not None:
        raise typer.BadParameter(
            f"{name} holds sizes of its own; leave --preset out", param_hint="--preset"
        )
    return True


def _text(path: Path) -> str:
    """Read a file as editors write it, also with the marks that those of Windows put first."""
    content = path.read_bytes()
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"the file must be text in UTF-8: {error}; save it anew as that") from None


def _specifications(name: str, preset: Preset | None, others: str = "") -> dict[str, Any]:
    """Return the specifications that a name stands for, by the name of their record.

    `others` is what else the caller would have taken, for the message.
    """
    from amgd.experiments.experiment import from_toml
    from amgd.experiments.named import EXPERIMENTS, named

    if _own(name, preset):
        try:
            return {Path(name).stem: from_toml(_text(Path(name)))}
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from error
    found = _experiments(name)
    if not found:
        raise typer.BadParameter(
            f"got {name!r}, expected a figure such as figure1, one of {', '.join(EXPERIMENTS)}, "
            f"or a file that ends in .toml{others}",
            param_hint="NAME",
        )
    return {one + _suffix(preset): named(one, preset or Preset.paper) for one in found}


def _places(name: str, preset: Preset | None, folder: Path) -> dict[str, tuple[Path, Any]]:
    """Return where the records are that a name stands for, there or not, and how to read them.

    A file in TOML is read through the specification that it holds, another record through its own.
    """
    from amgd.experiments.records import MANIFEST

    if _own(name, preset):
        return {one: (folder / one, spec) for one, spec in _specifications(name, preset).items()}
    names = [one + _suffix(preset) for one in _experiments(name)]
    if not names:
        for path in (folder / name, Path(name)):
            if (path / MANIFEST).exists():
                return {path.name: (path, None)}
        names = list(_specifications(name, preset, f", or a record in {folder}"))
    return {one: (folder / one, None) for one in names}


def _records(name: str, preset: Preset | None, out: Path) -> tuple[dict[str, Record], int]:
    """Return the records that a name stands for, by their names, and an exit code.

    What is wrong with one of several is told, and the others are returned.
    """
    from amgd.experiments.records import Record, RecordError

    places, found = _places(name, preset, out), {}
    for one, (path, spec) in places.items():
        try:
            found[one] = Record(path, spec)
        except RecordError as error:
            if len(places) == 1:
                raise
            _say(f"amgd: {_line(error)}")
    return found, 0 if len(found) == len(places) else FAILED


# --- list -----------------------------------------------------------------------------------------
@app.command("list")
def list_(
    toml: Annotated[
        str | None,
        typer.Option(
            "--toml",
            metavar="NAME",
            help="Print the specification of this experiment as TOML instead.",
            show_default=False,
        ),
    ] = None,
    preset: PresetOption = None,
) -> None:
    """List the experiments with their sizes, or print a specification.

    \b
    Examples:
        amgd list
        amgd list --preset smoke
        amgd list --toml figure2-cartpole > mine.toml    (edit it, then: amgd run mine.toml)

    Exit codes: 0, or 2 for an unknown name.
    """
    from amgd.experiments.experiment import to_toml
    from amgd.experiments.named import EXPERIMENTS, named

    if toml is not None:
        specs = _specifications(toml, preset)
        if len(specs) > 1:
            raise typer.BadParameter(
                f"{toml} has several panels; pick one of {', '.join(specs)}", param_hint="--toml"
            )
        print(to_toml(*specs.values()), end="")
        return
    size = preset or Preset.paper
    width = max(map(len, EXPERIMENTS)) + 2
    for name in EXPERIMENTS:
        print(f"{name:<{width}}{_describe(named(name, size))}")
    print(f"\nThese are the sizes of the preset {size}; the presets are {', '.join(Preset)}.")


def _describe(spec: Any) -> str:
    return f"{spec.size}; {len(spec.variants)} variants, {spec.seeds} seeds"


# --- run ------------------------------------------------------------------------------------------
AcceptOption = Annotated[
    bool,
    typer.Option(
        "--accept-changed",
        help="Go on with runs that were begun with other code, versions or hardware; the record "
        "names both.",
    ),
]
RestartOption = Annotated[
    bool, typer.Option("--restart-changed", help="Start such runs anew instead.")
]


def _changed(accept: bool, restart: bool) -> str:
    """Return what is done with a checkpoint from elsewhere."""
    if accept and restart:
        raise typer.BadParameter(
            "got both, expected one of them", param_hint="--accept-changed, --restart-changed"
        )
    return "accept" if accept else "restart" if restart else "refuse"


@app.command()
def run(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="Experiments (figure2-cartpole), figures (figure1: all its panels), or files in "
            "TOML with a specification of your own; their records have the files' names.",
            show_default=False,
            autocompletion=_complete,
        ),
    ],
    preset: PresetOption = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds", metavar="SEEDS", help=f"{SEEDS}  [default: all]", show_default=False
        ),
    ] = None,
    variants: VariantsOption = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", help="Processes; -1 is one for each core. The record does not depend on it."
        ),
    ] = -1,
    out: OutOption = RESULTS,
    checkpoint_seconds: Annotated[
        float,
        typer.Option(
            "--checkpoint-seconds",
            min=0.0,
            metavar="S",
            help="Seconds between two checkpoints of a run: what a kill can lose.",
        ),
    ] = 30.0,
    accept_changed: AcceptOption = False,
    restart_changed: RestartOption = False,
) -> None:
    """Run what the record of an experiment lacks.

    Stop it with Ctrl-C, or kill it: the same command goes on from the last checkpoints.
    A run that was begun with other code, versions or hardware is not continued in silence.

    \b
    Examples:
        amgd run figure2-cartpole --preset smoke
        amgd run figure1
        amgd run figure3-swimmer --seeds 0-4 --variants plain,matched --jobs 4
        amgd run mine.toml --out /data/records

    \b
    Exit codes:
        0    all that was asked for is recorded
        1    it failed; the message says what helps
        2    the command was not understood
        130  stopped by Ctrl-C or SIGTERM
    """
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter(f"got {jobs}, expected 1, 2, ... or -1", param_hint="--jobs")
    options = {
        "jobs": jobs,
        "checkpoint_seconds": checkpoint_seconds,
        "changed": _changed(accept_changed, restart_changed),
    }
    specs: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        found = _specifications(name, preset)
        if any(specs.get(one, spec) != spec for one, spec in found.items()):
            raise typer.BadParameter(
                f"{name} and another name have the same record; rename one of the files",
                param_hint="NAME",
            )
        specs |= found
    chosen = {
        name: (_chosen_variants(variants, spec), _chosen_seeds(seeds, spec))
        for name, spec in specs.items()
    }
    for name, spec in specs.items():
        _run(name, spec, out / name, *chosen[name], options)


def _run(
    name: str,
    spec: Any,
    path: Path,
    variants: list[str],
    seeds: list[int],
    options: dict[str, Any],
) -> None:
    import joblib

    from amgd.experiments import runner
    from amgd.experiments.progress import Progress, planned_rows
    from amgd.experiments.records import MANIFEST, Record

    plan = planned_rows(spec, variants, seeds)
    # It also says whether the record belongs to another specification.
    files = Record(path, spec).files if (path / MANIFEST).exists() else {}
    _say(f"{name}: {sum(stem in files for stem in plan)} of {len(plan)} runs are in {path}")
    workers = joblib.effective_n_jobs(options["jobs"])
    with Progress(name, path, plan, workers=workers) as progress:
        record = runner.record(
            spec, path, variants=variants, seeds=seeds, on_progress=progress, **options
        )
    for stem, entry in record.files.items():
        if stem in plan and entry["diverged"] is not None:
            _say(f"{name}: {stem} diverged {entry['diverged']}")
    if _mixture(record):
        _say(
            f"{name}: its runs took place in several surroundings; `amgd status {path}` tells them"
        )
    print(f"{path}: {len(record.files)} runs, digest {record.digest[:16]}")


# --- status ---------------------------------------------------------------------------------------
@app.command()
def status(
    name: Annotated[
        str | None,
        typer.Argument(
            help=f"{NAMES} Default: all records.", show_default=False, autocompletion=_complete
        ),
    ] = None,
    preset: PresetOption = None,
    out: OutOption = RESULTS,
) -> None:
    """Say how far the records are.

    All of them in a line each, or those that NAME stands for, with their variants. Runs for tuning
    count too. It only reads, so it can be used while a record is being written.

    \b
    Examples:
        amgd status
        amgd status figure2-cartpole --preset smoke

    Exit codes: 0 (finished or not), 1 if a record cannot be read, 2 for an unknown name.
    """
    from amgd.experiments.records import MANIFEST, Record, RecordError

    if name is not None:
        places = _places(name, preset, out)
    else:
        found = sorted(path.parent for path in out.glob(f"*/{MANIFEST}"))
        places = {path.name: (path, None) for path in found}
        if not places:
            _say(f"amgd: no records in {out}; `amgd run` makes them, --out says where they are")
    broken = False
    for one, (path, spec) in places.items():
        if not (path / MANIFEST).exists():
            print(f"{one}: nothing is recorded in {path}")
            continue
        try:
            record = Record(path, spec)
            state = _state(record, record.spec.variants)
        except RecordError as error:
            broken = True
            _say(f"amgd: {_line(error)}")
            continue
        if name is None:
            print(f"{one:<{max(map(len, places)) + 2}}{state}")
            continue
        print(f"{one}: {state}")
        for variant in record.spec.variants:
            print(f"  {variant:<18}{_state(record, [variant])}")
        for line in _mixture(record):
            print(f"  {line}")
    if broken:
        raise typer.Exit(FAILED)


def _mixture(record: Record) -> list[str]:
    """Say how the surroundings differ in which the runs were computed."""
    from amgd.experiments.provenance import changes

    counts = [
        sum(number in entry["surroundings"] for entry in record.files.values())
        for number in range(len(record.surroundings))
    ]
    used = [number for number, runs in enumerate(counts) if runs]
    lines = []
    for number in used[1:]:
        found = changes(record.surroundings[used[0]], record.surroundings[number])
        what = (
            "; ".join([*found.place, *found.program, *found.unrecorded]) or "another commit alone"
        )
        lines.append(
            f"surroundings {used[0] + 1} ({counts[used[0]]} runs, there) and {number + 1} "
            f"({counts[number]} runs, here): {what}"
        )
    return lines


def _state(record: Record, variants: Sequence[str]) -> str:
    """Say how much of some variants is recorded."""
    from amgd.experiments.progress import duration, planned_rows, rows_done

    plan = planned_rows(record.spec, variants, range(record.spec.seeds))
    entries = [record.files[stem] for stem in plan if stem in record.files]
    parts = [f"{len(entries)} of {len(plan)} runs"]
    if len(entries) < len(plan):
        share = rows_done(record, plan) / sum(plan.values())
        parts.append(f"{share:.0%} of the rows")
    diverged = sum(entry["diverged"] is not None for entry in entries)
    if diverged:
        parts.append(f"{diverged} diverged")
    if entries:
        parts.append(f"{duration(sum(entry['seconds'] for entry in entries))} of computing")
        parts.append(f"last {max(entry['finished'] for entry in entries)}")
    places = {number for entry in entries for number in entry["surroundings"]}
    if len(places) > 1:
        parts.append(f"mixes {len(places)} surroundings")
    return ", ".join(parts)


# --- figure and table -----------------------------------------------------------------------------
PICTURES = (".svg", ".png", ".pdf")


@app.command()
def figure(
    name: NameArgument,
    preset: PresetOption = None,
    out: OutOption = RESULTS,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE",
            help="A file that ends in .svg, .png or .pdf.  [default: the record's name and .svg, "
            "in the working directory]",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            help="What to draw: a column of the record.  [default: the paper's]",
            show_default=False,
        ),
    ] = None,
    variants: VariantsOption = None,
    dpi: Annotated[
        float, typer.Option("--dpi", min=10, max=2400, help="Of a PNG: dots per inch.")
    ] = 200,
    width: Annotated[
        float, typer.Option("--width", min=3, max=50, help="Of the figure, in inches.")
    ] = 6.4,
) -> None:
    """Draw the learning curves of a record.

    A mean with its 90% band for each variant, and faintly all runs.

    \b
    Examples:
        amgd figure figure2-cartpole
        amgd figure figure2-cartpole --variants plain,matched --to matched.pdf
        amgd figure figure1-grid10 --column neu_estimate --to estimate.png

    Exit codes: 0; 1 if the record cannot be drawn; 2 if the command was not understood.
    """
    records, code = _records(name, preset, out)
    if to is not None and to.suffix.lower() not in PICTURES:
        raise typer.BadParameter(
            f"got {to}, expected a name that ends in {', '.join(PICTURES)}", param_hint="--to"
        )
    if to is not None and len(records) > 1:
        raise typer.BadParameter(
            f"{name} has several panels and --to names one file; pick one of {', '.join(records)}",
            param_hint="--to",
        )
    import matplotlib

    matplotlib.use("Agg")  # a file needs no display
    import matplotlib.pyplot as plt

    from amgd.experiments.figures import record_figure
    from amgd.figures import STYLE

    for one, record in records.items():
        shown = None if variants is None else _chosen_variants(variants, record.spec)
        drawn = record_figure(record, column=column, variants=shown, width=width)
        path = Path(f"{one}.svg") if to is None else to
        with plt.style.context(STYLE):  # the style says how letters are written too
            drawn.savefig(path, dpi=dpi)
        plt.close(drawn)
        print(path)
    raise typer.Exit(code)


class Format(StrEnum):
    """Forms of a table."""

    text = "text"
    markdown = "markdown"
    csv = "csv"
    latex = "latex"
    json = "json"


class Measure(StrEnum):
    """What a verdict speaks of."""

    mean = "mean"
    end = "end"
    updates = "updates"


@app.command()
def table(
    name: NameArgument,
    preset: PresetOption = None,
    out: OutOption = RESULTS,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            help="What to compare: a column of the record.  [default: the paper's]",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            help="The variant that the others are compared with.  [default: the first]",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        Measure,
        typer.Option(
            "--measure",
            help="What the verdicts speak of: the mean over the run, its end, or the updates to "
            "the threshold.",
        ),
    ] = Measure.mean,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Height that counts as reached.  [default: the specification's]",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        int | None,
        typer.Option(
            "--until",
            help="Count each run as if it had been stopped at this update or episode.  "
            "[default: its end]",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="csv and json have all digits.")
    ] = Format.text,
) -> None:
    """Print what the variants reached and how they compare.

    \b
    Examples:
        amgd table figure2-cartpole
        amgd table figure2-cartpole --against matched --measure end
        amgd table figure3-halfcheetah --until 50
        amgd table figure2-cartpole --format json

    Exit codes: 0; 1 if there is no such record or nothing to compare; 2 for an unknown name.
    """
    from amgd.experiments import summaries

    records, code = _records(name, preset, out)
    tables = {}
    for one, record in records.items():
        if against is not None:
            _chosen_variants(against, record.spec, "--against")
        tables[one] = summaries.summarise(
            record,
            column=column,
            against=against,
            measure=measure,
            threshold=threshold,
            until=until,
        )
    print(summaries.to_text(tables, form))
    raise typer.Exit(code)


# --- check ----------------------------------------------------------------------------------------
@app.command()
def check(
    name: NameArgument,
    rows: Annotated[
        int,
        typer.Option(
            "--rows", min=1, help="Rows of each run to compute anew; the grid world gives all."
        ),
    ] = 3,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="SEEDS", help=f"Which runs to compute anew. {SEEDS}")
    ] = "0",
    variants: VariantsOption = None,
    preset: PresetOption = None,
    out: OutOption = RESULTS,
) -> None:
    """Check a record, and compute some of it anew.

    All files are compared with their checksums. Then the first rows of some runs are computed anew
    and compared bit for bit. Another processor or another version of a package may take a sum in
    another order; learning is chaotic, so a last bit that differs soon changes everything. Such a
    difference has an exit code of its own.

    \b
    Examples:
        amgd check figure1
        amgd check figure2-cartpole --rows 20 --seeds 0-2 --variants plain

    \b
    Exit codes:
        0    equal, bit for bit
        1    a run differs, a file is torn or edited, or there is nothing to compare
        2    the command was not understood
        3    a run differs, but its processor, system or versions differ from those here
        130  stopped by Ctrl-C or SIGTERM
    """
    records, code = _records(name, preset, out)
    codes = {_check(one, record, rows, seeds, variants) for one, record in records.items()}
    raise typer.Exit(_gravest({code, *codes}))


def _gravest(codes: set[int]) -> int:
    return FAILED if FAILED in codes else max(codes)


def _check(name: str, record: Record, rows: int, seeds: str, variants: str | None) -> int:
    from amgd.experiments.records import RecordError

    chosen = _chosen_variants(variants, record.spec), _chosen_seeds(seeds, record.spec)
    record.verify()
    print(f"{name}: all {len(record.files)} files have their checksums")
    runs = {v: [s for s in chosen[1] if record.has(v, s)] for v in chosen[0]}
    if not any(runs.values()):
        raise RecordError(
            f"nothing to compute anew: {record.path} has none of the runs asked for (expected "
            "one); `amgd status` shows what is recorded"
        )
    places = [place for v in runs for s in runs[v] for place in record.places(record.stem(v, s))]
    for line in dict.fromkeys(_where(place) for place in places):
        print(f"{name}: recorded {line}")
    return _gravest({_compare(name, record, variant, runs[variant], rows) for variant in runs})


def _where(place: dict[str, Any]) -> str:
    """Say where a run took place, of what is recorded."""
    versions = ", ".join(f"{package} {text}" for package, text in place["versions"].items())
    kernels = ", ".join(f"BLAS of {name} {text}" for name, text in place.get("blas", {}).items())
    parts = (place["processor"], place["system"], f"Python {place['python']}", versions, kernels)
    return f"on {', '.join(part for part in parts if part)}, revision {place['revision']}"


def _compare(name: str, record: Record, variant: str, seeds: Sequence[int], rows: int) -> int:
    """Compare runs of a variant with what comes out now."""
    from amgd.experiments.reruns import changes_since, first_difference, rerun

    if not seeds:
        return 0
    codes = {0}
    for seed, again in rerun(record, variant, seeds, rows).items():
        n = len(next(iter(again.values())))
        # An experiment may give more rows than asked for, and a run that diverges fewer.
        found = first_difference(record.read(variant, seed), again, max(rows, n))
        stem = record.stem(variant, seed)
        if found is None:
            print(f"{name}: {stem} is equal, {n} rows")
            continue
        print(
            f"{name}: {stem} differs first in row {found.row}, column {found.column}: recorded "
            f"{found.recorded!r}, now {found.again!r} (difference {found.size:.2g})"
        )
        changes = changes_since(record, variant, seed)
        codes.add(ELSEWHERE if changes.place else FAILED)
        if changes.place:
            _say(
                f"amgd: {stem} was recorded elsewhere ({'; '.join(changes.place)}); there a "
                "chaotic run is expected to differ"
            )
        for line in (*changes.program, *changes.unrecorded):
            _say(f"amgd: {stem}: {line}")
    return _gravest(codes)


# --- merge and repair -----------------------------------------------------------------------------
@app.command()
def merge(
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="Folder of the record that receives the runs."),
    ],
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE", help="Folders of records; they are only read."),
    ],
) -> None:
    """Copy the runs of several records into one.

    So the parts that an array of jobs has made become one record. A run that two of them hold must
    be equal in both. `amgd run` with the specification of the whole runs what is still missing.

    \b
    Examples:
        amgd run mine.toml --seeds 0-4 --out job-0     (one job)
        amgd run mine.toml --seeds 5-9 --out job-1     (another)
        amgd merge results/mine job-0/mine job-1/mine

    Exit codes: 0; 1 if they do not fit together.
    """
    from amgd.experiments.records import Record
    from amgd.experiments.repair import merge as put_together
    from amgd.experiments.runner import locked

    for source in sources:
        Record(source)  # before a folder is made for nothing
    target.mkdir(parents=True, exist_ok=True)
    with locked(target):
        record = put_together(target, sources)
    print(f"{target}: {len(record.files)} runs, digest {record.digest[:16]}")


@app.command()
def repair(
    name: NameArgument,
    preset: PresetOption = None,
    out: OutOption = RESULTS,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 is one for each core.")] = -1,
    rerun: Annotated[
        bool,
        typer.Option("--rerun/--no-rerun", help="Run again what had to be set aside."),
    ] = True,
) -> None:
    """Mend a record: set torn files aside and run them again.

    Files that are torn, edited or belong to nothing are moved to the folder "set-aside" in the
    record; nothing is deleted. The runs that are lost by that, and a lost tuning, are computed
    again. The manifest of an older version is rewritten; no other file changes by that.

    \b
    Examples:
        amgd repair figure2-cartpole
        amgd repair figure1 --no-rerun

    Exit codes: 0; 1 if it failed; 2 for an unknown name.
    """
    from amgd.experiments.repair import recompute
    from amgd.experiments.repair import repair as mend
    from amgd.experiments.runner import locked

    for one, (path, spec) in _places(name, preset, out).items():
        with locked(path):
            record, done, lost = mend(path)
        for line in done:
            print(f"{one}: {line}")
        if rerun:
            record = recompute(path, record.spec if spec is None else spec, lost, jobs=jobs)
        print(f"{path}: {len(record.files)} runs, digest {record.digest[:16]}")
