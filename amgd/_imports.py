"""Modules of the working directory, for a program that is installed elsewhere."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def importable(folder: Path | str = ".") -> Iterator[None]:
    """Let the modules of a folder be imported, as Python lets those beside a script.

    A name such as ``"mine:Mine-v0"`` then finds ``mine.py`` in the folder, also from a program in
    another folder, and in a worker process. Installed modules come first.

    Parameters
    ----------
    folder : Path or str
        The working directory by default. A worker gets the path from the process that has the work.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, importable(folder):
    ...     folder in sys.path
    True
    """
    entry = str(Path(folder).absolute())
    added = entry not in sys.path
    if added:
        sys.path.append(entry)
    importlib.invalidate_caches()  # a file of this second would be missed
    try:
        yield
    finally:
        if added and entry in sys.path:
            sys.path.remove(entry)
