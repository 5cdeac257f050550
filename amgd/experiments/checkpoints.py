r"""Checkpoints: all that the rest of one training run depends on, in one file.

A checkpoint belongs to one run of one specification and is refused by any other.
It is written like a record, whole or not at all (`amgd.experiments.records.write_atomic`).
The file is a zip archive of plain data and tensors: `torch.load` reads it with ``weights_only=True``,
so that reading executes nothing, and the archive's own checksums find a torn or edited one.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import torch

from amgd.experiments.records import RecordError, write_atomic

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(path: Path, owner: dict[str, Any], state: dict[str, Any]) -> None:
    """Write the state of a run.

    Parameters
    ----------
    path : Path
    owner : dict
        To what the state belongs: plain numbers and strings.
    state : dict
        Of one run, as `amgd.reinforce.training.Trainer.state_dict` gives it.

    Raises
    ------
    OSError
        If it cannot be written; an older checkpoint is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plain-seed00.pt"
    ...     save_checkpoint(path, {"seed": 0}, {"k": 7})
    ...     load_checkpoint(path, {"seed": 0})
    {'k': 7}
    """
    content = io.BytesIO()
    torch.save({"owner": owner, "state": state}, content)
    write_atomic(path, content.getvalue())


def load_checkpoint(path: Path, owner: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state of a run, or None if it has no checkpoint.

    Raises
    ------
    RecordError
        If the file is torn or edited, or belongs to another owner.
    """
    try:
        content = io.BytesIO(path.read_bytes())
    except FileNotFoundError:
        return None
    cure = "delete this file: the run then starts anew, and the runs that are finished stay"
    try:
        with zipfile.ZipFile(content) as archive:
            broken = archive.testzip()
        if broken is not None:
            raise zipfile.BadZipFile(f"its part {broken} has a wrong checksum")
        content.seek(0)
        saved = torch.load(content, weights_only=True)
        found, state = saved["owner"], dict(saved["state"])
    except Exception as error:  # there is no end to the ways in which a torn archive fails
        raise RecordError(f"the checkpoint {path} is torn or edited: {error}; {cure}") from error
    if found != owner:
        raise RecordError(
            f"the checkpoint {path} belongs to another run: got {found} (expected {owner}); {cure}"
        )
    return state
