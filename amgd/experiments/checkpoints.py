r"""Checkpoints: all that the rest of one run depends on, in one file.

A checkpoint belongs to one run: it is refused by any other, and by the same run elsewhere.
Elsewhere means with other code, versions or hardware, since then the first and the second half of
the run would not be what one program gives (`amgd.experiments.provenance.changes`).
It is written like a record, whole or not at all (`amgd.experiments.records.write_atomic`).
The file is a SHA-256 and an archive of plain data and tensors, which `torch.load` reads with
``weights_only=True``, so that reading executes nothing. The checksums inside of an archive do not
do: with one wrong bit in its list of contents PyTorch reads other numbers in silence.

Plan of the module: files, the checkpoints of a task.
"""

from __future__ import annotations

import hashlib
import io
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from amgd import _checks as check
from amgd.experiments.experiment import same_identity, told
from amgd.experiments.provenance import changes, surroundings
from amgd.experiments.records import Record, RecordError, check_place, write_atomic

__all__ = ["CHANGED", "CHECKPOINTS", "Checkpoints", "read_checkpoint"]

CHECKPOINTS = "checkpoints"
"""Folder of a record."""
CHANGED = ("refuse", "accept", "restart")
"""What can be done with a checkpoint from elsewhere."""


# --- files ----------------------------------------------------------------------------------------
def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain data and tensors.

    Raises
    ------
    OSError
        If it cannot be written; an older checkpoint is unchanged.
    """
    import torch

    file = io.BytesIO()
    torch.save(dict(content), file)
    archive = file.getvalue()
    write_atomic(path, hashlib.sha256(archive).digest() + archive)


@check.arguments
def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return the content of a checkpoint, or None if there is no such file.

    Raises
    ------
    RecordError
        If the file is torn or edited.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plain-seed00.pt"
    ...     content = {"owner": {}, "rows": 7, "places": [surroundings()], "state": {"k": 7}}
    ...     write_checkpoint(path, content)
    ...     read_checkpoint(path)["state"]
    {'k': 7}
    """
    import torch

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        digest, archive = content[:32], content[32:]
        if hashlib.sha256(archive).digest() != digest:
            raise ValueError("it does not have its checksum")
        found = torch.load(io.BytesIO(archive), weights_only=True)
        for place in [*found["places"], found["places"][-1]]:
            check_place(place)
        return {
            "owner": dict(found["owner"]),
            "rows": operator.index(found["rows"]),
            "places": list(found["places"]),
            "state": dict(found["state"]),
        }
    except Exception as error:  # there is no end to the ways in which another archive fails
        raise RecordError(
            f"the checkpoint {path} is torn or edited: {error}; `amgd repair` moves it aside, and "
            "the run starts anew; the runs that are finished stay"
        ) from error


def owner(stem: str, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return to what a checkpoint belongs: one run, and what decides its bits.

    Examples
    --------
    >>> owner("plain-seed00", {"kind": "gridworld"})
    {'kind': 'gridworld', 'run': 'plain-seed00'}
    """
    return {**identity, "run": stem}


# --- the checkpoints of a task --------------------------------------------------------------------
class Checkpoints:
    """What the runs of a task need to go on.

    Parameters
    ----------
    folder : Path or None
        Where they are kept; without one nothing is saved or found.
    name : str
        Of the variant, as the record has it.
    identity, defaults : mapping
        What decides the bits of these runs, see `Experiment`.
    environment : str, optional
        The environment whose code the runs depend on.
    seconds : float
        Between two checkpoints.
    changed : {"refuse", "accept", "restart"}
        What is done with a checkpoint from elsewhere: an error, go on and record both places, or
        start the run anew.
    alive : callable, optional
        Called after each row.
    """

    @check.arguments
    def __init__(
        self,
        folder: Path | None,
        name: str,
        identity: Mapping[str, Any],
        defaults: Mapping[str, Any],
        *,
        environment: str | None = None,
        seconds: float = 30.0,
        changed: Annotated[str, check.choice, CHANGED] = "refuse",
        alive: Callable[[], None] | None = None,
    ) -> None:
        self.folder, self.name, self.seconds, self.changed = folder, name, seconds, changed
        self._identity, self._defaults, self._alive = identity, defaults, alive
        self._here = surroundings(environment) if folder is not None else {}
        self._places: dict[int, list[dict[str, Any]]] = {}
        self._saved = time.monotonic()

    @check.arguments
    def places(self, seed: int) -> list[dict[str, Any]]:
        """Return where a run takes place, and where its earlier parts did."""
        return [*self._places.get(seed, []), self._here]

    @check.arguments
    def rows(self, seed: int) -> int:
        """Return how many rows of a run are in its checkpoint, wherever that was made.

        Raises
        ------
        RecordError
            If the file is torn or edited, or is of another run.
        """
        found = self._own(seed)
        return 0 if found is None else int(found["rows"])

    def _own(self, seed: int) -> dict[str, Any] | None:
        stem = Record.stem(self.name, seed)
        found = None if self.folder is None else read_checkpoint(self.folder / f"{stem}.pt")
        if found is None:
            return None
        other = same_identity(found["owner"], owner(stem, self._identity), self._defaults)
        if other:
            raise RecordError(
                f"the checkpoint {self.folder}/{stem}.pt belongs to another run: {told(other)}; "
                "`amgd repair` moves it aside, and the run starts anew"
            )
        return found

    @check.arguments
    def load(self, seed: int) -> Any:
        """Return the state of a run, or None if it has no checkpoint.

        Raises
        ------
        RecordError
            If the file is torn or edited, or is of another run or from elsewhere.
        """
        found = self._own(seed)
        if found is None:
            return None
        found_changes = changes(found["places"][-1], self._here)
        different = [*found_changes.place, *found_changes.program]
        if different and self.changed == "restart":
            return None
        if different and self.changed == "refuse":
            raise RecordError(
                f"the checkpoint {self.folder}/{Record.stem(self.name, seed)}.pt was made "
                f"elsewhere: {'; '.join(different)} "
                f"(expected no change within a run of {found['rows']} rows so far); "
                "--restart-changed starts such runs anew, --accept-changed goes on and records both"
            )
        self._places[seed] = found["places"][: None if different else -1]
        return found["state"]

    @check.arguments
    def offer(self, seeds: Sequence[int], rows: int, states: Callable[[], Sequence[Any]]) -> None:
        """Save the states of some runs, which have that many rows, if it is time."""
        if self._alive is not None:
            self._alive()
        if self.folder is None or time.monotonic() - self._saved < self.seconds:
            return
        given = states()
        if not isinstance(given, Sequence) or len(given) != len(seeds):
            raise ValueError(
                f"states must return a list with one for each of the {len(seeds)} seeds: got "
                f"{type(given).__name__}; see Trainer.state_dict"
            )
        for seed, state in zip(seeds, given, strict=True):
            stem = Record.stem(self.name, seed)
            content = {"owner": owner(stem, self._identity), "rows": rows}
            content |= {"places": self.places(seed), "state": state}
            write_checkpoint(self.folder / f"{stem}.pt", content)
        self._saved = time.monotonic()


NO_CHECKPOINTS = Checkpoints(None, "", {}, {})
"""For runs that start at their beginning and keep nothing."""
