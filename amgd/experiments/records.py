r"""Records: the curves of a finished or growing experiment, one file for each run.

A record is a folder.
``VARIANT-seedNN.csv`` holds the rows of one run, numbers written so that reading gives the same bits.
``manifest.json`` says what was run (the specification and its hash) and, for each file, its SHA-256,
the seconds it took, the git revision, the versions and the processor.
A run that diverged keeps its rows, and the manifest says where it stopped.

A file is there or not: it is written under another name, flushed to the disk and renamed.
The manifest names a file only after it is there, so a kill at any moment leaves a record that can be
read, and the runs it lacks are done again.

Plan of the module: atomic writing, tables of numbers, where a run took place, the record.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd.experiments.specs import Spec, from_plain, spec_hash, to_plain

__all__ = ["Curves", "Record", "RecordError", "surroundings", "write_atomic"]

FORMAT = 1
MANIFEST = "manifest.json"
Columns = Mapping[str, NDArray[Any]]


class RecordError(Exception):
    """A record cannot be trusted, or belongs to something else; the message names the file."""


# --- atomic writing -------------------------------------------------------------------------------
def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half written, also after a power cut.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    content : bytes

    Raises
    ------
    OSError
        That names the file, if it cannot be written; one that was there before is unchanged.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.txt"
    ...     write_atomic(path, b"one")
    ...     write_atomic(path, b"two")
    ...     path.read_text(), len(os.listdir(folder))
    ('two', 1)
    """
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o644)  # mkstemp lets the owner alone read it
            file.write(content)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name itself
    finally:
        os.close(folder)


# --- tables of numbers ----------------------------------------------------------------------------
def _to_csv(columns: Columns) -> bytes:
    """Return columns of one length as CSV; repr gives back the same float when it is read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return text.getvalue().encode()


def _from_csv(content: bytes) -> dict[str, NDArray[Any]]:
    header, *rows = csv.reader(io.StringIO(content.decode()))
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(header))
    table: dict[str, NDArray[Any]] = dict(zip(header, values.T, strict=True))
    first = table[header[0]]  # k, or the episode
    if not ((np.trunc(first) == first) & (np.abs(first) < 2**53)).all():
        raise ValueError(f"{header[0]} counts (expected integers)")
    table[header[0]] = first.astype(np.int64)
    return table


# --- where a run took place -----------------------------------------------------------------------
_PACKAGES = ("amgd", "numpy", "scipy", "torch", "gymnasium", "mujoco")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@functools.cache  # a process runs the code that it imported, whatever is committed meanwhile
def _revision() -> str:
    """Return the commit of the code that runs, with "+changes" if it is not committed as it is."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # In an environment inside of some other repository, git would tell that one's commit.
        git("ls-files", "--error-unmatch", __file__)
        return git("rev-parse", "HEAD") + ("+changes" if git("status", "--short", "..") else "")
    except (OSError, subprocess.CalledProcessError):
        return "not a git checkout"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def surroundings() -> dict[str, Any]:
    """Return what the bits of a run may depend on besides its specification.

    Examples
    --------
    >>> sorted(surroundings())
    ['processor', 'python', 'revision', 'system', 'versions']
    """
    return {
        "revision": _revision(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "versions": {name: _version(name) for name in _PACKAGES},
    }


# --- the record -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Curves:
    """One column of all finished runs of a variant.

    Attributes
    ----------
    variant, column : str
    k : ndarray of int64, shape (m,)
        Updates, or episodes.
    seeds : tuple of int, length n
    samples : ndarray, shape (n, m)
        A row for each seed.
    diverged : mapping of int to str
        Seeds that did not get to the end, with what happened; they have no row.
    """

    variant: str
    column: str
    k: NDArray[np.int64]
    seeds: tuple[int, ...]
    samples: NDArray[np.float64]
    diverged: Mapping[int, str]


class Record:
    """The record in a folder.

    Parameters
    ----------
    path : Path or str
        A folder with a manifest; `create` makes one.

    Attributes
    ----------
    path : Path
    spec : GridWorldSpec or ReinforceSpec
        What was run, rebuilt from the manifest.
    files : mapping of str to dict
        For each run (`stem`) its ``sha256``, ``rows``, ``seconds``, ``finished`` (UTC),
        ``surroundings`` (its number in that list) and ``diverged`` (what happened, or None).
    surroundings : list of dict
        Where the runs took place, see `surroundings`.
    tuning : mapping of str to dict
        For each tuned variant ``tried``, ``areas`` (None: diverged) and ``best``.

    Raises
    ------
    RecordError
        If there is no manifest, it cannot be read, or its specification does not fit its hash.

    Examples
    --------
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(Path(folder) / "mine", named("figure1-grid10", "smoke"))
    ...     record.add("plain", 0, {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5])}, 0.1)
    ...     again = Record(record.path)
    ...     again.verify()
    ...     again.curves("plain", "neu").samples
    array([[1. , 0.5]])
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        manifest = _read_manifest(self.path)
        self.hash: str = manifest["hash"]
        try:
            self.spec: Any = from_plain(manifest["spec"])
        except (ValueError, TypeError) as error:
            raise RecordError(
                f"{self.path / MANIFEST} holds a specification that this version refuses: {error}"
            ) from error
        if spec_hash(self.spec) != self.hash:
            raise RecordError(
                f"{self.path / MANIFEST} was edited, or written by another version: got a "
                f"specification with hash {spec_hash(self.spec)[:12]} (expected "
                f"{self.hash[:12]}, as the manifest says); restore it from git, or run anew elsewhere"
            )
        self.files: dict[str, dict[str, Any]] = manifest["files"]
        self.surroundings: list[dict[str, Any]] = manifest["surroundings"]
        self.tuning: dict[str, dict[str, Any]] = manifest["tuning"]

    @classmethod
    def create(cls, path: Path | str, spec: Spec) -> Record:
        """Open the record of a specification in a folder, or begin one.

        Raises
        ------
        RecordError
            If the folder holds the record of another specification.
        OSError
            If the folder cannot be written.
        """
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        if not (path / MANIFEST).exists():
            # As the manifest is written last, files without one can only be someone else's.
            strangers = sorted(file.name for file in path.glob("*.csv"))
            if strangers:
                raise RecordError(
                    f"{path} holds {strangers[0]} but no {MANIFEST}: got a folder that is not a "
                    "record (expected an empty one); choose another, or restore its manifest"
                )
            _write_manifest(path, spec, {}, [], {})
        record = cls(path)
        if record.hash != spec_hash(spec):
            raise RecordError(
                f"{path} belongs to another specification: got hash {spec_hash(spec)[:12]} "
                f"(expected {record.hash[:12]}; they differ in {_difference(record.spec, spec)}); "
                "choose another folder"
            )
        return record

    @staticmethod
    def stem(variant: str, seed: int) -> str:
        """Return the name of a run, such as "plain-seed03"."""
        return f"{variant}-seed{seed:02d}"

    def has(self, variant: str, seed: int) -> bool:
        """Return whether a run is recorded."""
        return self.stem(variant, seed) in self.files

    def add(
        self,
        variant: str,
        seed: int,
        columns: Columns,
        seconds: float,
        *,
        diverged: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the rows of a run, then name it in the manifest.

        Parameters
        ----------
        variant, seed
            The run.
        columns : mapping of str to ndarray, shape (m,)
            The first is k or the episode, integers.
        seconds : float
            What it took.
        diverged : str, optional
            Where and why it stopped before its end.
        where : mapping, optional
            The `surroundings` of the process that ran it; default is this one.
        """
        stem, content = self.stem(variant, seed), _to_csv(columns)
        place = dict(surroundings() if where is None else where)
        if place not in self.surroundings:
            self.surroundings.append(place)
        write_atomic(self.path / f"{stem}.csv", content)
        self.files[stem] = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "rows": len(next(iter(columns.values()))),
            "seconds": round(seconds, 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "surroundings": self.surroundings.index(place),
            "diverged": diverged,
        }
        self._save()

    def set_tuning(self, variant: str, tried: Iterable[str], areas: Iterable[float]) -> str:
        """Keep what a grid gave and return its best; a value that diverged has no finite area.

        `areas` are costs: the smallest is the best.
        """
        names, costs = list(tried), [float(area) for area in areas]
        best = names[int(np.argmin(costs))]
        finite = [cost if np.isfinite(cost) else None for cost in costs]
        self.tuning[variant] = {"tried": names, "areas": finite, "best": best}
        self._save()
        return best

    def _save(self) -> None:
        _write_manifest(self.path, self.spec, self.files, self.surroundings, self.tuning)

    def read(self, variant: str, seed: int) -> dict[str, NDArray[Any]]:
        """Return the columns of a run.

        Raises
        ------
        KeyError
            If the run is not recorded.
        RecordError
            If its file is missing, torn or edited.
        """
        stem = self.stem(variant, seed)
        if stem not in self.files:
            raise KeyError(f"{stem} is not recorded: {self.path} has {sorted(self.files)}")
        return self._table(stem)

    def verify(self, *, unlisted: bool = True) -> None:
        """Compare every file with the manifest.

        Parameters
        ----------
        unlisted : bool
            Whether files that the manifest does not list are refused; a kill can leave one.

        Raises
        ------
        RecordError
            That names the first file which is missing, torn, edited, or not in the manifest.
        """
        for stem in self.files:
            self._table(stem)
        for path in sorted(self.path.glob("*.csv")):
            if unlisted and path.stem not in self.files:
                raise RecordError(
                    f"{path} is not in the manifest: got a file that no run has finished "
                    "(expected those the manifest lists); delete it, or run the experiment again"
                )

    def _table(self, stem: str) -> dict[str, NDArray[Any]]:
        path = self.path / f"{stem}.csv"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise RecordError(
                f"{path} is missing: got no such file (expected what {MANIFEST} lists); restore it "
                "from git, or delete its entry there and run the experiment again"
            ) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.files[stem]["sha256"]:
            raise RecordError(
                f"{path} is torn or edited: got SHA-256 {digest[:12]} (expected "
                f"{self.files[stem]['sha256'][:12]}, as the manifest says); restore it from git, or "
                f"delete it together with its entry in {MANIFEST} and run the experiment again"
            )
        try:
            table = _from_csv(content)
        except (ValueError, IndexError, csv.Error) as error:
            raise RecordError(f"{path} is not a table of numbers: {error}; restore it") from error
        rows, listed = len(next(iter(table.values()))), self.files[stem]["rows"]
        if rows != listed:
            raise RecordError(
                f"{self.path / MANIFEST} was edited: got {listed} rows of {stem} (expected {rows}, "
                "as its file has); restore it from git"
            )
        return table

    @property
    def digest(self) -> str:
        """SHA-256 over the specification and the numbers of all runs, without times and places.

        Two records of the same runs have the same, however they came about.
        """
        parts = [
            self.hash,
            *(f"{stem} {self.files[stem]['sha256']}" for stem in sorted(self.files)),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def complete(self) -> bool:
        """Whether every seed of every variant is recorded."""
        return all(self.has(v, s) for v in self.spec.variants for s in range(self.spec.seeds))

    @property
    def seconds(self) -> float:
        """Time of all runs on one core each, tuning included, in seconds by the clock.

        On a busy machine it is more than the processor has spent.
        """
        return float(sum(entry["seconds"] for entry in self.files.values()))

    def seeds(self, variant: str) -> tuple[int, ...]:
        """Return the reported seeds of a variant that are recorded, diverged ones too."""
        return tuple(seed for seed in range(self.spec.seeds) if self.has(variant, seed))

    def curves(self, variant: str, column: str) -> Curves:
        """Return one column of all runs of a variant that got to the end.

        Parameters
        ----------
        variant : str
        column : str
            Such as "evaluation_return", or "neu" in the grid world.

        Raises
        ------
        KeyError
            If no run of the variant is recorded, or it has no such column.
        RecordError
            If a file is missing, torn or edited.
        """
        seeds = self.seeds(variant)
        if not seeds:
            raise KeyError(f"{variant!r} is not recorded: {self.path} has {sorted(self.files)}")
        tables = {seed: self.read(variant, seed) for seed in seeds}
        diverged = {
            seed: str(self.files[self.stem(variant, seed)]["diverged"])
            for seed in seeds
            if self.files[self.stem(variant, seed)]["diverged"] is not None
        }
        kept = tuple(seed for seed in seeds if seed not in diverged)
        # One that diverged at once has no columns.
        alike = [tables[seed] for seed in kept] or [max(tables.values(), key=len)]
        names = [name for name in alike[0] if all(name in table for table in alike)]
        check.choice("column", column, tuple(names))
        k = alike[0][names[0]] if kept else np.zeros(0, dtype=np.int64)
        for seed in kept:
            if not np.array_equal(tables[seed][names[0]], k):
                raise RecordError(
                    f"{self.path / MANIFEST} was edited: got other rows of "
                    f"{self.stem(variant, seed)} than of {self.stem(variant, kept[0])} (expected "
                    "the same of all runs that got to their end); restore it from git"
                )
        samples = np.array([tables[seed][column] for seed in kept]).reshape(len(kept), len(k))
        return Curves(variant, column, k, kept, samples, diverged)


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf8"))
        _check_manifest(manifest)
    except FileNotFoundError:
        raise RecordError(
            f"no record in {path}: got no {MANIFEST} (expected one); `amgd run` makes it"
        ) from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file} is torn or edited: {error}; restore it from git") from error
    if manifest["format"] != FORMAT:
        raise RecordError(
            f"{file} has format {manifest['format']!r}: expected {FORMAT}; read it with the version "
            "of amgd that wrote it"
        )
    return dict(manifest)


_MANIFEST: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "hash": (str,),
    "spec": (dict,),
    "tuning": (dict,),
    "surroundings": (list,),
    "files": (dict,),
}
_FILE: dict[str, tuple[type, ...]] = {
    "sha256": (str,),
    "rows": (int,),
    "seconds": (int, float),
    "finished": (str,),
    "surroundings": (int,),
    "diverged": (str, type(None)),
}
_TUNING: dict[str, tuple[type, ...]] = {"tried": (list,), "areas": (list,), "best": (str,)}
_PLACE: dict[str, tuple[type, ...]] = {
    "revision": (str,),
    "python": (str,),
    "system": (str,),
    "processor": (str,),
    "versions": (dict,),
}
_STEM = re.compile(r"[a-z0-9_.+-]+-seed\d\d+")  # no way out of the folder


def _check_manifest(manifest: Any) -> None:
    """Raise ValueError for anything that reading a record would trip over."""
    _check_table("it", manifest, _MANIFEST)
    if manifest["format"] != FORMAT:
        return  # what another version writes may look different
    for place in manifest["surroundings"]:
        _check_table("an entry of surroundings", place, _PLACE)
        _check_types("versions", place["versions"].values(), (str,))
    for stem, entry in manifest["files"].items():
        if _STEM.fullmatch(stem) is None:
            raise ValueError(f"got a run {stem!r} (expected a name such as 'plain-seed03')")
        _check_table(stem, entry, _FILE)
        known = len(manifest["surroundings"])
        if not (0 <= entry["surroundings"] < known and 0 <= entry["seconds"] < np.inf):
            raise ValueError(
                f"got {entry['seconds']} seconds in surroundings {entry['surroundings']} for {stem} "
                f"(expected finite seconds, and one of {known} surroundings)"
            )
    for variant, grid in manifest["tuning"].items():
        _check_table(f"tuning of {variant}", grid, _TUNING)
        _check_types("tried", grid["tried"], (str,))
        _check_types("areas", grid["areas"], (float, int, type(None)))
        if len(grid["tried"]) != len(grid["areas"]) or grid["best"] not in grid["tried"]:
            raise ValueError(f"got {grid} for {variant} (expected an area for each, one the best)")


def _check_table(name: str, table: Any, kinds: Mapping[str, tuple[type, ...]]) -> None:
    if not isinstance(table, dict) or set(table) != set(kinds):
        got = sorted(table) if isinstance(table, dict) else type(table).__name__
        raise ValueError(f"{name} has got {got} (expected a table with {sorted(kinds)})")
    for key, value in table.items():
        _check_types(f"{key} of {name}", [value], kinds[key])


def _check_types(name: str, values: Iterable[Any], kinds: tuple[type, ...]) -> None:
    for value in values:
        if type(value) not in kinds:  # a bool is no int here
            listed = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{name} has got {value!r:.40} (expected {listed})")


def _write_manifest(
    path: Path,
    spec: Spec,
    files: Mapping[str, Any],
    places: list[Any],
    tuning: Mapping[str, Any],
) -> None:
    manifest = {
        "format": FORMAT,
        "hash": spec_hash(spec),
        "spec": to_plain(spec),
        "tuning": tuning,
        "surroundings": places,
        "files": dict(sorted(files.items())),
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    write_atomic(path / MANIFEST, text.encode())


def _difference(recorded: Spec, spec: Spec) -> str:
    """Say in which fields two specifications differ."""
    if type(recorded) is not type(spec):
        return f"kind: {to_plain(recorded)['kind']} there"
    old, new = ({**plain, **plain.get("training", {})} for plain in map(to_plain, (recorded, spec)))
    names = sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n))
    return ", ".join(f"{n}: {old.get(n)} there" for n in names if n != "training")
