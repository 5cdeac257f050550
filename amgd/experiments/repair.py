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

from amgd.experiments import runner
from amgd.experiments.checkpoints import CHECKPOINTS, read_checkpoint
from amgd.experiments.experiment import Experiment, from_plain, plain_hash, same_identity, told
from amgd.experiments.records import (
    FORMAT,
    MANIFEST,
    Record,
    RecordError,
    possible_identities,
    tuning_name,
    write_atomic,
    write_manifest,
)

__all__ = ["SET_ASIDE", "merge", "recompute", "repair"]

SET_ASIDE = "set-aside"
"""Folder of a record for files that cannot be trusted."""


# --- repair ---------------------------------------------------------------------------------------
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
            _set_aside(file)
            done.append(f"{file.name} is set aside: no run has finished it")
    lost = []
    for stem in list(record.files):
        try:
            record.verify_run(stem)
        except RecordError:
            lost.append(stem)
            file = folder / f"{stem}.csv"
            if file.exists():
                _set_aside(file)
            record.forget(stem)
            done.append(f"{file.name} is set aside: its run is taken out")
    return record, done + _repair_checkpoints(record), lost


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
    record = Record(path, spec)
    for variant in spec.variants:
        seeds = [
            seed
            for seed in range(spec.seeds)
            if record.has(variant, seed) or Record.stem(variant, seed) in lost
        ]
        if seeds:
            record = runner.record(spec, path, variants=[variant], seeds=seeds, jobs=jobs)
    return record


def _repair_checkpoints(record: Record) -> list[str]:
    """Move aside checkpoints that are torn or of other runs."""
    done, possible = [], possible_identities(record.spec)
    for file in sorted((record.path / CHECKPOINTS).glob("*.pt")):
        name = file.stem.rpartition("-seed")[0]
        try:
            found = json.loads((read_checkpoint(file) or {})["identity"])
        except RecordError:
            why = "it is torn"
        else:
            known = possible.get(name, [])
            same = any(not same_identity(found, one, record.spec.defaults()) for one in known)
            why = "" if same else "it is of another run"
        if why:
            _set_aside(file)
            done.append(f"{CHECKPOINTS}/{file.name} is set aside: {why}")
    return done


def _set_aside(file: Path) -> None:
    """Move a file to the folder for such, under a name that is free."""
    folder = (file.parent.parent if file.suffix == ".pt" else file.parent) / SET_ASIDE
    folder.mkdir(exist_ok=True)
    target, number = folder / file.name, 1
    while target.exists():
        target, number = folder / f"{file.stem}.{number}{file.suffix}", number + 1
    shutil.move(file, target)


# --- the older format -----------------------------------------------------------------------------
def _upgrade(folder: Path) -> bool:
    """Rewrite a manifest of format 1, which has a specification in the place of identities."""
    try:
        old = json.loads((folder / MANIFEST).read_text(encoding="utf8"))
    except (OSError, ValueError):
        return False  # `Record` says what is wrong
    if not isinstance(old, dict) or old.get("format") != 1:
        return False
    spec = from_plain(_renamed(old["spec"]))
    identities = {}
    for variant in spec.variants:
        rates = {f"{rate:g}": rate for rate in spec.grid(variant)}
        for rate in rates.values():
            identities[tuning_name(variant, rate)] = spec.identity(variant, rate)
        best = rates.get(old["tuning"].get(variant, {}).get("best", ""))
        if best is not None or not rates:
            identities[variant] = spec.identity(variant, best)
    names = {stem.rpartition("-seed")[0] for stem in old["files"]}
    files = {
        stem: entry | {"surroundings": [entry["surroundings"]]}
        for stem, entry in old["files"].items()
    }
    plain = spec.to_plain()
    new = {
        "format": FORMAT,
        "hash": plain_hash(plain),
        "spec": plain,
        "identities": {name: identities[name] for name in sorted(names)},
        "tuning": old["tuning"],
        "surroundings": old["surroundings"],
        "files": files,
    }
    write_manifest(folder, new)
    return True


def _renamed(spec: dict[str, Any]) -> dict[str, Any]:
    """Give the fields of a specification of format 1 their present names."""
    spec = dict(spec)
    if spec["kind"] == "gridworld":
        return spec | {"variants": spec.pop("methods"), "denominator": spec.pop("variant")}
    grids = {"tuned": spec.pop("rates"), "tuned_accelerated": spec.pop("accelerated_rates")}
    return spec | {"rates": {variant: grid for variant, grid in grids.items() if grid}}


# --- merge ----------------------------------------------------------------------------------------
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
    for record in records:
        record.verify(unlisted=False)
    target = Path(path)
    if spec is None:
        spec = Record(target).spec if (target / MANIFEST).exists() else records[0].spec
        spec = spec.widened([record.spec for record in records])
    whole = Record.create(target, spec)
    for record in records:
        _copy(record, whole)
    return whole


def _copy(record: Record, whole: Record) -> None:
    """Copy the runs of one record that the other lacks."""
    for stem, entry in record.files.items():
        name = stem.rpartition("-seed")[0]
        if name in whole.identities:
            other = same_identity(
                whole.identities[name], record.identities[name], record.spec.defaults()
            )
            if other:
                raise RecordError(
                    f"{record.path} has other runs of {name} than {whole.path}: {told(other)} "
                    "(expected the same); merge records of one experiment"
                )
        if stem in whole.files:
            if whole.files[stem]["sha256"] != entry["sha256"]:
                raise RecordError(
                    f"{stem} differs in {record.path} and {whole.path} (expected one of them, or "
                    "equal ones); `amgd check` says which can be had again"
                )
            continue
        content = (record.path / f"{stem}.csv").read_bytes()
        write_atomic(whole.path / f"{stem}.csv", content)
        whole.adopt(stem, entry, record.identities[name], record.places(stem))
    for variant, tuning in record.tuning.items():
        whole.tuning.setdefault(variant, tuning)
    whole.save()
