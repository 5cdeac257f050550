r"""Mend a record, and put several together.

`repair` moves aside what cannot be trusted: files that are torn, edited or unlisted, and
checkpoints of other runs. What is recorded and lost is then run again by
`amgd.experiments.runner.record`.
It also rewrites the manifest of an older format, without a change to any other file.
`merge` copies the runs of some records into one, as after an array of jobs on a cluster.

Plan of the module: repair, the older format, merge.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amgd import _checks as check
from amgd.experiments import runner
from amgd.experiments.checkpoints import CHECKPOINTS, owner, read_checkpoint
from amgd.experiments.experiment import Experiment, from_plain, plain_hash, same_identity, told
from amgd.experiments.progress import planned_rows
from amgd.experiments.records import (
    FORMAT,
    MANIFEST,
    Record,
    RecordError,
    check_manifest,
    possible_identities,
    tuning_name,
    write_atomic,
    write_manifest,
)

__all__ = ["SET_ASIDE", "merge", "recompute", "repair"]

SET_ASIDE = "set-aside"
"""Folder of a record for files that cannot be trusted."""


# --- repair ---------------------------------------------------------------------------------------
@check.arguments
def repair(path: Path | str) -> tuple[Record, list[str], list[str]]:
    """Move aside what cannot be trusted in a record.

    Parameters
    ----------
    path : Path or str
        Folder of the record; no other process may write it meanwhile.

    Returns
    -------
    record : Record
        Without the runs whose files were moved.
    done : list of str
        What was done, a line each.
    lost : list of str
        Names of the runs that were taken out.

    Raises
    ------
    RecordError
        If the manifest itself is torn.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec = named("figure1-grid10", "smoke")
    ...     made = runner.record(spec, folder, variants=["plain"])
    ...     (Path(folder) / "plain-seed01.csv").write_text("torn") and None
    ...     record, done, lost = repair(folder)
    ...     seeds = record.seeds("plain")
    ...     again = recompute(folder, spec, lost)
    >>> seeds, done, again.seeds("plain")
    ((0, 2), ['plain-seed01.csv is set aside: its run is taken out'], (0, 1, 2))
    """
    folder = Path(path)
    done = [f"{MANIFEST} is rewritten in format {FORMAT}"] if _upgrade(folder) else []
    record = Record(folder)
    for file in sorted(folder.glob("*.csv")):
        if file.stem not in record.files:
            _set_aside(file, f"{file.name}.unlisted")
            done.append(f"{file.name} is set aside: no run has finished it")
    missing = []
    for stem in list(record.files):
        try:
            record.verify_run(stem)
        except RecordError:
            file = folder / f"{stem}.csv"
            how = "set aside" if file.exists() else "missing"
            if file.exists():
                _set_aside(file)
            missing.append(stem)
            record.forget(stem)
            done.append(f"{file.name} is {how}: its run is taken out")
    # Those of an earlier repair among them, which may have been killed before it ran them again.
    aside = [file.stem for file in (folder / SET_ASIDE).glob("*.csv")]
    lost = sorted({*missing, *aside} - set(record.files))
    return record, done + _repair_checkpoints(record), lost


@check.arguments
def recompute(
    path: Path | str, spec: Experiment, lost: Sequence[str], *, jobs: int | None = None
) -> Record:
    """Run again what was lost, and find a lost tuning again; nothing else that a record lacks.

    Parameters
    ----------
    path : Path or str
    spec : Experiment
    lost : sequence of str
        Names of runs, from `repair`.
    jobs : int, optional
        As in `amgd.experiments.runner.record`.

    Returns
    -------
    Record
    """
    only = set(lost)
    for variant in spec.variants:
        if only & planned_rows(spec, [variant], range(spec.seeds)).keys():
            only |= planned_rows(spec, [variant], []).keys()  # its grid
    return runner.record(spec, path, jobs=jobs, only=only)


def _repair_checkpoints(record: Record) -> list[str]:
    """Move aside checkpoints that are torn or of other runs."""
    done, possible = [], possible_identities(record.spec)
    for file in sorted((record.path / CHECKPOINTS).glob("*.pt")):
        name = file.stem.rpartition("-seed")[0]
        try:
            found = read_checkpoint(file)
        except RecordError:
            why = "it is torn"
        else:
            known = [owner(file.stem, one) for one in possible.get(name, [])]
            defaults = record.spec.defaults()
            same = found is None or not all(
                same_identity(found["owner"], one, defaults) for one in known
            )
            why = "" if same else "it is of another run"
        if why:
            _set_aside(file)
            done.append(f"{CHECKPOINTS}/{file.name} is set aside: {why}")
    return done


def _set_aside(file: Path, name: str | None = None) -> None:
    """Move a file to the folder for such, under a name that is free."""
    folder = (file.parent.parent if file.suffix == ".pt" else file.parent) / SET_ASIDE
    folder.mkdir(exist_ok=True)
    target = wanted = folder / (name or file.name)
    number = 1
    while target.exists():
        target, number = wanted.with_name(f"{wanted.name}.{number}"), number + 1
    shutil.move(file, target)


# --- the older format -----------------------------------------------------------------------------
def _upgrade(folder: Path) -> bool:
    """Rewrite a manifest of format 1, which has a specification in the place of identities."""
    try:
        old = json.loads((folder / MANIFEST).read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError):
        return False  # `Record` says what is wrong
    if not isinstance(old, dict) or old.get("format") != 1:
        return False
    try:
        if plain_hash(old["spec"]) != old["hash"]:
            raise ValueError("got a specification that does not have its hash")
        new, unknown = _format_2(old)
        check_manifest(new)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise RecordError(
            f"{folder / MANIFEST} is torn or edited: {error}; restore it from git"
        ) from error
    for file in (folder / f"{stem}.csv" for stem in unknown):
        if file.exists():
            _set_aside(file)
    write_manifest(folder, new)
    return True


def _format_2(old: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a manifest of format 1 in format 2, and runs whose rate is lost with the tuning."""
    spec = from_plain(_renamed(old["spec"]))
    identities = {}
    for variant in spec.variants:
        rates = {f"{rate:g}": rate for rate in spec.grid(variant)}
        for rate in rates.values():
            identities[tuning_name(variant, rate)] = spec.identity(variant, rate)
        best = rates.get(old["tuning"].get(variant, {}).get("best", ""))
        if best is not None or not rates:
            identities[variant] = spec.identity(variant, best)
    names = {stem: stem.rpartition("-seed")[0] for stem in old["files"]}
    unknown = [stem for stem, name in names.items() if name not in identities]
    strangers = [stem for stem in unknown if names[stem] not in spec.variants]
    if strangers:
        raise ValueError(f"got a run {strangers[0]!r} (expected those of its specification)")
    files = {
        stem: entry | {"surroundings": [entry["surroundings"]]}
        for stem, entry in old["files"].items()
        if stem not in unknown
    }
    plain = spec.to_plain()
    new = {
        "format": FORMAT,
        "hash": plain_hash(plain),
        "spec": plain,
        "identities": {name: identities[name] for name in sorted({names[stem] for stem in files})},
        "tuning": old["tuning"],
        "surroundings": old["surroundings"],
        "files": files,
    }
    return new, unknown


def _renamed(spec: dict[str, Any]) -> dict[str, Any]:
    """Give the fields of a specification of format 1 their present names."""
    spec = dict(spec)
    if spec["kind"] == "gridworld":
        return spec | {"variants": spec.pop("methods"), "denominator": spec.pop("variant")}
    grids = {"tuned": spec.pop("rates"), "tuned_accelerated": spec.pop("accelerated_rates")}
    return spec | {"rates": {variant: grid for variant, grid in grids.items() if grid}}


# --- merge ----------------------------------------------------------------------------------------
@check.arguments
def merge(
    path: Path | str, sources: Sequence[Path | str], spec: Experiment | None = None
) -> Record:
    """Copy the runs of some records into one.

    Parameters
    ----------
    path : Path or str
        The record that receives them; it is made if it is not there.
    sources : sequence of Path or str
        Other records; they are only read.
    spec : Experiment, optional
        Of the result. Default is that of `path`, or of the first source, with the variants of all
        and as many seeds as the largest number needs.

    Returns
    -------
    Record

    Raises
    ------
    RecordError
        If a run is in two of them with different numbers, or of another identity.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments import runner
    >>> from amgd.experiments.named import named
    >>> spec = named("figure1-grid10", "smoke")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [Path(folder) / part for part in ("a", "b")]
    ...     for part, seed in zip(parts, (0, 2)):
    ...         made = runner.record(spec, part, variants=["plain"], seeds=[seed])
    ...     merge(Path(folder) / "both", parts).seeds("plain")
    (0, 2)
    """
    records = [Record(source) for source in sources]
    if not records:
        raise ValueError("sources is empty: got no record (expected one or more); name some")
    target = Path(path)
    if (target / MANIFEST).exists():
        records.insert(0, Record(target))
    first = records[0].spec if spec is None else spec
    for record in records:
        if record.spec.kind != first.kind:
            raise RecordError(
                f"{record.path} is of the kind {record.spec.kind!r} (expected {first.kind!r}); "
                "merge records of one experiment"
            )
    if spec is None:
        spec = first.widened([record.spec for record in records])
    records = [Record(record.path, spec) for record in records]  # it refuses those with other runs
    for record in records:
        record.verify(unlisted=False)
    _refuse_conflicts(records)
    whole = Record.create(target, spec)
    for record in records:
        _copy(record, whole)
    for variant in spec.variants:
        runner.settle(whole, variant)
    return whole


def _refuse_conflicts(records: Sequence[Record]) -> None:
    """Refuse records that have different runs of one name."""
    variants: dict[str, Record] = {}
    runs: dict[str, Record] = {}
    for record in records:
        for name, identity in record.identities.items():
            other = variants.setdefault(name, record)
            different = same_identity(other.identities[name], identity, record.spec.defaults())
            if different:
                raise RecordError(
                    f"{record.path} has other runs of {name} than {other.path}: {told(different)} "
                    "(expected the same); merge records of one experiment"
                )
        for stem, entry in record.files.items():
            other = runs.setdefault(stem, record)
            if other.files[stem]["sha256"] != entry["sha256"]:
                raise RecordError(
                    f"{stem} differs in {record.path} and {other.path} (expected one of them, or "
                    "equal ones); `amgd check` says which can be had again"
                )


def _copy(record: Record, whole: Record) -> None:
    """Copy the runs of one record that the other lacks."""
    for stem, entry in record.files.items():
        if stem not in whole.files:
            content = (record.path / f"{stem}.csv").read_bytes()
            write_atomic(whole.path / f"{stem}.csv", content)
            name = stem.rpartition("-seed")[0]
            whole.adopt(stem, entry, record.identities[name], record.places(stem))
    whole.tuning = record.tuning | whole.tuning
    whole.save()
