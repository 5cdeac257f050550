"""Run each notebook once for two purposes: as a test, and for the pages.

``make`` copies the notebooks to ``_run``, where the test run may write outputs without touching the
sources.
``cache`` puts the executed copies into the book's cache of executed notebooks.
"""

import shutil
import sys
from datetime import datetime
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "_run" / "notebooks"
CACHE = ROOT / "_build" / ".jupyter_cache"


def make() -> None:
    """Copy the notebooks, without outputs as they are in the repository."""
    shutil.rmtree(COPIES.parent, ignore_errors=True)
    COPIES.mkdir(parents=True)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy(notebook, COPIES)
    # The chapters read the recorded runs as ../book/results.
    (COPIES.parent / "book").symlink_to(ROOT / "book")


def cache() -> None:
    """Hand the executed copies to the book."""
    store = get_cache(CACHE)
    for path in sorted(COPIES.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        seconds = _seconds(notebook)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # time stamps are part of the cache's key
        source = ROOT / "notebooks" / path.name
        bundle = CacheBundleIn(notebook, str(source), data={"execution_seconds": seconds})
        store.cache_notebook_bundle(bundle, check_validity=True, overwrite=True)


def _seconds(notebook: nbformat.NotebookNode) -> float:
    """Time from the start of the first cell to the end of the last, from nbclient's stamps."""
    stamps = [c.metadata.execution for c in notebook.cells if "execution" in c.metadata]
    times = [
        datetime.fromisoformat(t) for s in stamps for k, t in s.items() if k.startswith("iopub.")
    ]
    return (max(times) - min(times)).total_seconds() if times else 0.0


if __name__ == "__main__":
    {"make": make, "cache": cache}[sys.argv[1]]()
