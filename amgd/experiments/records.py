r"""Records: the curves of a finished or growing experiment, one file for each run.

A record is a folder.
``VARIANT-seedNN.csv`` holds the rows of one run, numbers written so that they are read to
the same bits.
``manifest.json`` holds the specification as it was last asked for, the identity of the runs of each
variant, and for each file its SHA-256, the seconds it took and where it was computed.
A run that diverged keeps its rows, and the manifest says where it stopped.

**What belongs together.** A record belongs to its runs, not to a specification: any specification
whose runs have the recorded identities can read it and add to it (`Record.bind`).
So a record grows by seeds and variants, and a threshold may change; another rate is refused.

**Kills.** A file is there or not: it is written under another name, flushed to the disk and
renamed.
The manifest names a file only after it is there, so a kill at any moment leaves a record that can
be read, and the runs it lacks are done again.

Plan of the module: atomic writing, tables of numbers, the record, the manifest.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd.experiments.experiment import (
    Columns,
    Experiment,
    Tuning,
    from_plain,
    plain_hash,
    same_identity,
    told,
)
from amgd.experiments.provenance import surroundings

__all__ = ["MANIFEST", "Curves", "Record", "RecordError", "tuning_name", "write_atomic"]

FORMAT = 2
MANIFEST = "manifest.json"


class RecordError(Exception):
    """A record cannot be trusted, or belongs to something else; the message names the file."""


# --- atomic writing -------------------------------------------------------------------------------
@check.arguments
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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.txt"
    ...     write_atomic(path, b"one")
    ...     write_atomic(path, b"two")
    ...     path.read_text(), len(os.listdir(folder))
    ('two', 1)
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:  # with the rights that the user's umask leaves
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Flush the new name itself, where a folder can be opened for that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows, and some network file systems
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES):
            raise
    finally:
        os.close(handle)


# --- tables of numbers ----------------------------------------------------------------------------
def _to_csv(columns: Columns) -> bytes:
    """Return columns of one length as CSV; repr gives back the same float when it is read."""
    if not columns:
        raise ValueError("columns must hold at least the counter of the rows: got none; add it")
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

    def until(self, last: int | None) -> Curves:
        """Return the rows with k up to last; all of them for None.

        Raises
        ------
        ValueError
            If no row after the first is left, or the curves end before last.

        Examples
        --------
        >>> k = np.array([0, 10, 20])
        >>> curves = Curves("plain", "neu", k, (4,), np.array([[1.0, 0.5, 0.2]]), {})
        >>> curves.until(10).samples.tolist(), curves.until(None) is curves
        ([[1.0, 0.5]], True)
        """
        if last is None or not self.seeds:
            return self
        check.integer(
            "until", last, int(self.k[:2][-1]), "the first row is the start that all share"
        )
        if last > self.k[-1]:
            raise ValueError(
                f"until must not lie beyond the last row: got {last}, but {self.variant!r} ends at "
                f"{self.k[-1]}; leave it out for the whole run"
            )
        kept = self.k <= last
        return replace(self, k=self.k[kept], samples=self.samples[:, kept])


class Record:
    """The record in a folder.

    Parameters
    ----------
    path : Path or str
        A folder with a manifest; `create` makes one.
    spec : Experiment, optional
        Read it through this specification; default is the one it was last run with.

    Attributes
    ----------
    path : Path
    spec : Experiment
    files : mapping of str to dict
        For each run (`stem`) its ``sha256``, ``rows``, ``seconds``, ``finished`` (UTC),
        ``surroundings`` (their numbers in that list, more than one if it went on elsewhere) and
        ``diverged`` (what happened, or None).
    identities : mapping of str to dict
        What decides the bits of the runs of each variant, see `Experiment.identity`.
    surroundings : list of dict
        Where the runs took place, see `amgd.experiments.provenance.surroundings`.
    tuning : mapping of str to dict
        For each tuned variant ``tried``, ``areas`` (None: diverged) and ``best``.

    Raises
    ------
    RecordError
        If there is no manifest, it cannot be read, its specification does not fit its hash, or
        `spec` has other runs.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(Path(folder) / "mine", named("figure1-grid10", "smoke"))
    ...     record.add("plain", 0, {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5])}, 0.1)
    ...     again = Record(record.path)
    ...     again.verify()
    ...     again.curves("plain", "neu").samples
    array([[1. , 0.5]])
    """

    @check.arguments
    def __init__(self, path: Path | str, spec: Experiment | None = None) -> None:
        self.path = Path(path)
        manifest = _read_manifest(self.path)
        if plain_hash(manifest["spec"]) != manifest["hash"]:
            raise RecordError(
                f"{self.path / MANIFEST} was edited: got a specification with hash "
                f"{plain_hash(manifest['spec'])[:12]} (expected {manifest['hash'][:12]}, as it "
                "says); restore it from git"
            )
        self.files: dict[str, dict[str, Any]] = manifest["files"]
        self.identities: dict[str, dict[str, Any]] = manifest["identities"]
        self.surroundings: list[dict[str, Any]] = manifest["surroundings"]
        self.tuning: dict[str, dict[str, Any]] = manifest["tuning"]
        self.spec: Any = self._rebuilt(manifest["spec"]) if spec is None else spec
        different = self._differences()
        if different and spec is None:
            raise RecordError(
                f"{self.path / MANIFEST} was edited: its specification has other runs than it "
                f"lists ({different}; expected the same); restore it from git"
            )
        if different:
            raise RecordError(
                f"{self.path} belongs to another specification: {different}; choose another name "
                "or folder"
            )

    def _rebuilt(self, plain: dict[str, Any]) -> Experiment:
        try:
            return from_plain(plain)  # type: ignore[no-any-return]
        except (ValueError, TypeError) as error:
            raise RecordError(
                f"{self.path / MANIFEST} holds a specification that this version refuses: {error}"
            ) from error

    @classmethod
    @check.arguments
    def create(cls, path: Path | str, spec: Experiment) -> Record:
        """Open a record to run a specification into it, or begin one.

        Raises
        ------
        RecordError
            If the folder holds other runs than the specification's.
        ValueError
            If the name of a variant cannot be that of a file.
        OSError
            If the folder cannot be written.
        """
        for variant in spec.variants:
            if _STEM.fullmatch(cls.stem(variant, 0)) is None:
                raise ValueError(
                    f"a variant's name is part of a file's: got {variant!r} (expected small "
                    "letters, digits and _ . + -); rename it"
                )
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
            write_manifest(path, _manifest(spec.to_plain(), {}, {}, [], {}))
        record = cls(path, spec)
        if _read_manifest(path)["spec"] != spec.to_plain():
            record.save()
        return record

    def _differences(self) -> str:
        """Say which runs of the specification are not those that are recorded under their names."""
        for name, possible in possible_identities(self.spec).items():
            recorded, defaults = self.identities.get(name, possible[0]), self.spec.defaults()
            differences = [same_identity(recorded, one, defaults) for one in possible]
            if all(differences):
                return f"{name} was run with another one: {told(min(differences, key=len))}"
        return ""

    @staticmethod
    @check.arguments
    def stem(variant: str, seed: int) -> str:
        """Return the name of a run, such as "plain-seed03"."""
        return f"{variant}-seed{seed:02d}"

    @check.arguments
    def has(self, variant: str, seed: int) -> bool:
        """Return whether a run is recorded."""
        return self.stem(variant, seed) in self.files

    @check.arguments
    def add(
        self,
        variant: str,
        seed: int,
        columns: Columns,
        seconds: Annotated[float, "[0, inf)"],
        *,
        diverged: str | None = None,
        identity: Mapping[str, Any] | None = None,
        places: Sequence[Mapping[str, Any]] | None = None,
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
        identity : mapping, optional
            What decides its bits; default is what the specification says of the variant.
        places : sequence of mapping, optional
            The `surroundings` of the processes that ran it; default is this one.
        """
        stem, content = self.stem(variant, seed), _to_csv(columns)
        numbers = [
            self._place(place) for place in (places or [surroundings(self.spec.environment)])
        ]
        write_atomic(self.path / f"{stem}.csv", content)
        if variant not in self.identities:
            found = self.spec.identity(variant) if identity is None else identity
            self.identities[variant] = dict(found)
        self.files[stem] = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "rows": len(next(iter(columns.values()))),
            "seconds": round(float(seconds), 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "surroundings": list(dict.fromkeys(numbers)),
            "diverged": diverged,
        }
        self.save()

    @check.arguments
    def adopt(
        self,
        stem: str,
        entry: Mapping[str, Any],
        identity: Mapping[str, Any],
        places: Sequence[Mapping[str, Any]],
    ) -> None:
        """Name a run whose file was copied from another record; the manifest is not written."""
        self.identities.setdefault(stem.rpartition("-seed")[0], dict(identity))
        self.files[stem] = {**entry, "surroundings": [self._place(place) for place in places]}

    def _place(self, place: Mapping[str, Any]) -> int:
        """Return the number of surroundings, new ones with a new number."""
        if place not in self.surroundings:
            self.surroundings.append(dict(place))
        return self.surroundings.index(dict(place))

    @check.arguments
    def set_tuning(self, variant: str, tuning: Tuning) -> None:
        """Keep what a grid gave; a value that diverged has no finite area."""
        areas = [float(area) if np.isfinite(area) else None for area in tuning.areas]
        entry = {"tried": list(tuning.tried), "areas": areas, "best": tuning.best}
        if self.tuning.get(variant) != entry:
            self.tuning[variant] = entry
            self.save()

    @check.arguments
    def forget(self, stem: str) -> None:
        """Take a run out of the manifest, so that it can be run again."""
        del self.files[check.among("stem", stem, self.files)]
        name = stem.rpartition("-seed")[0]
        if not any(other.rpartition("-seed")[0] == name for other in self.files):
            self.identities.pop(name, None)
        self.save()

    @check.arguments
    def places(self, stem: str) -> list[dict[str, Any]]:
        """Return where a run took place, in order."""
        numbers = self.files[check.among("stem", stem, self.files)]["surroundings"]
        return [self.surroundings[number] for number in numbers]

    def save(self) -> None:
        """Write the manifest."""
        parts = (self.identities, self.files, self.surroundings, self.tuning)
        write_manifest(self.path, _manifest(self.spec.to_plain(), *parts))

    @check.arguments
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
            raise KeyError(
                f"{stem} is not recorded: got variant {variant!r} and seed {seed}, but "
                f"{self.path} has {sorted(self.files)}"
            )
        return self._table(stem)

    @check.arguments
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
            self.verify_run(stem)
        for path in sorted(self.path.glob("*.csv")):
            if unlisted and path.stem not in self.files:
                raise RecordError(
                    f"{path} is not in the manifest: got a file that no run has finished "
                    "(expected those the manifest lists); run the experiment again, or move "
                    "it aside with `amgd repair`"
                )

    @check.arguments
    def verify_run(self, stem: str) -> None:
        """Compare the file of one run with the manifest; see `verify`."""
        self._table(check.among("stem", stem, self.files))

    def _table(self, stem: str) -> dict[str, NDArray[Any]]:
        path = self.path / f"{stem}.csv"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise RecordError(
                f"{path} is missing: got no such file (expected what {MANIFEST} lists); restore it "
                "from git, or run it again with `amgd repair`"
            ) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.files[stem]["sha256"]:
            raise RecordError(
                f"{path} is torn or edited: got SHA-256 {digest[:12]} (expected "
                f"{self.files[stem]['sha256'][:12]}, as the manifest says); restore it from git, "
                "or run it again with `amgd repair`"
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
        """SHA-256 over the numbers of all runs, what decided them, and the tuning.

        Times and places are no part of it: two records of the same runs have the same digest,
        however they came about.
        """
        sums = {stem: entry["sha256"] for stem, entry in self.files.items()}
        return plain_hash([self.identities, sums, self.tuning])

    @property
    def seconds(self) -> float:
        """Time of all runs on one core each, tuning included, in seconds by the clock.

        On a busy machine it is more than the processor has spent.
        """
        return float(sum(entry["seconds"] for entry in self.files.values()))

    @check.arguments
    def seeds(self, variant: str) -> tuple[int, ...]:
        """Return the reported seeds of a variant that are recorded, diverged ones too."""
        return tuple(seed for seed in range(self.spec.seeds) if self.has(variant, seed))

    @check.arguments
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
            raise KeyError(
                f"{variant!r} is not recorded: got a variant of which {self.path} has no run, only "
                f"{sorted(self.files)}"
            )
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
        if kept or len(names) > 1:  # runs that all diverged in their first row have no columns
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


@check.arguments
def tuning_name(variant: str, rate: float) -> str:
    """Return the name under which the runs for tuning of a variant at one rate are recorded.

    Examples
    --------
    >>> tuning_name("tuned", 0.3), tuning_name("tuned_adam", 0.01)
    ('tuning-0.3', 'tuning_adam-0.01')
    """
    return f"{variant.replace('tuned', 'tuning', 1)}-{rate:g}"


def possible_identities(spec: Experiment) -> dict[str, list[dict[str, Any]]]:
    """Return what the runs of each name can be: those of a tuned variant have one of its rates."""
    possible: dict[str, list[dict[str, Any]]] = {}
    for variant in spec.variants:
        by_rate = {rate: spec.identity(variant, rate) for rate in spec.grid(variant)}
        possible |= {tuning_name(variant, rate): [one] for rate, one in by_rate.items()}
        possible[variant] = list(by_rate.values()) or [spec.identity(variant)]
    return possible


# --- the manifest ---------------------------------------------------------------------------------
def _manifest(
    spec: dict[str, Any],
    identities: Mapping[str, Any],
    files: Mapping[str, Any],
    places: list[Any],
    tuning: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "hash": plain_hash(spec),
        "spec": spec,
        "identities": dict(sorted(identities.items())),
        "tuning": dict(sorted(tuning.items())),
        "surroundings": places,
        "files": dict(sorted(files.items())),
    }


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a record, whole or not at all."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    write_atomic(path / MANIFEST, text.encode())


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf8"))
        if isinstance(manifest, dict) and manifest.get("format") not in (None, FORMAT):
            raise RecordError(
                f"{file} has format {manifest['format']!r}: expected {FORMAT}; `amgd repair` "
                "rewrites an older one, a newer one is read by the version of amgd that wrote it"
            )
        check_manifest(manifest)
    except FileNotFoundError:
        raise RecordError(
            f"no record in {path}: got no {MANIFEST} in this path; `amgd run` makes it"
        ) from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file} is torn or edited: {error}; restore it from git") from error
    return dict(manifest)


_MANIFEST: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "hash": (str,),
    "spec": (dict,),
    "identities": (dict,),
    "tuning": (dict,),
    "surroundings": (list,),
    "files": (dict,),
}
_FILE: dict[str, tuple[type, ...]] = {
    "sha256": (str,),
    "rows": (int,),
    "seconds": (int, float),
    "finished": (str,),
    "surroundings": (list,),
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


def check_place(place: Any) -> None:
    """Raise ValueError for surroundings that lack what every version wrote down, or hold no words.

    Examples
    --------
    >>> check_place(surroundings())
    """
    _check_types("surroundings", [place], (dict,))
    _check_table("an entry of surroundings", {key: place.get(key) for key in _PLACE}, _PLACE)
    for key, value in place.items():
        words = value.values() if isinstance(value, dict) else [value]
        _check_types(f"{key} of surroundings", words, (str, type(None)))


def check_manifest(manifest: Any) -> None:
    """Raise ValueError for anything that reading a record would trip over."""
    _check_table("it", manifest, _MANIFEST)
    for place in manifest["surroundings"]:
        check_place(place)
    _check_types("identities", manifest["identities"].values(), (dict,))
    for stem, entry in manifest["files"].items():
        if _STEM.fullmatch(stem) is None:
            raise ValueError(f"got a run {stem!r} (expected a name such as 'plain-seed03')")
        _check_table(stem, entry, _FILE)
        numbers, known = entry["surroundings"], len(manifest["surroundings"])
        _check_types("surroundings", numbers, (int,))
        placed = bool(numbers) and all(0 <= number < known for number in numbers)
        if not (placed and 0 <= entry["seconds"] < 1e12 and 0 <= entry["rows"] < 1e12):
            raise ValueError(
                f"got {entry['seconds']!r:.20} seconds and {entry['rows']!r:.20} rows in "
                f"surroundings {numbers} for {stem} (expected 0 to 1e12, and some of {known} "
                "surroundings)"
            )
        datetime.fromisoformat(entry["finished"])
        if stem.rpartition("-seed")[0] not in manifest["identities"]:
            raise ValueError(f"got a run {stem} without an identity (expected one for its variant)")
    for variant, grid in manifest["tuning"].items():
        _check_table(f"tuning of {variant}", grid, _TUNING)
        _check_types("tried", grid["tried"], (str,))
        _check_types("areas", grid["areas"], (float, int, type(None)))
        areas = tuple(np.inf if area is None else area for area in grid["areas"])
        fit = len(grid["tried"]) == len(areas) > 0
        if not fit or grid["best"] != Tuning(tuple(grid["tried"]), areas).best:
            raise ValueError(
                f"got {grid} for {variant} (expected an area for each, the smallest as the best)"
            )


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
