"""Run each notebook once for two purposes: as a test, and for the pages.

``make`` copies the notebooks to ``_run``, where the test run may write outputs without touching the
sources.
``cache`` puts what the copies printed and drew into the book's cache of executed pages, and says
which numbers in the prose of the notebooks came out differently; it fails when their code has
changed since.
"""

import shutil
import sys
from datetime import datetime
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from tools.notebooks import text

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


def cache() -> bool:
    """Hand the executed copies to the book; say whether the prose tells numbers of older code."""
    stale = False
    for path in sorted(COPIES.glob("*.ipynb")):
        executed = nbformat.read(path, as_version=4)
        keep(path.stem, executed)
        now, made = text.glued(executed), executed.metadata["amgd"]
        if changed := sorted(k for k in now if now[k] != made["numbers"].get(k)):
            # With the same code it is the machine that rounds otherwise.
            stale |= made["code"] != text.code_digest(executed)
            print(
                f"{path.name}: {len(changed)} numbers came out differently ({', '.join(changed)}); "
                f"`python tools/sync_notebooks.py --run {path.stem}` writes the new ones"
            )
    return stale


def keep(name: str, executed: nbformat.NotebookNode) -> None:
    """Put what a run gave into the book's cache.

    The page is built from the text, whose cells have other metadata than the notebook's; the code
    is the same.
    """
    source = ROOT / "notebooks" / "src" / f"{name}.md"
    page = text.cells_of(source.read_text("utf8"))
    ran = [cell for cell in executed.cells if cell.cell_type == "code"]
    code = [cell for cell in page.cells if cell.cell_type == "code"]
    for cell, other in zip(code, ran, strict=True):
        cell.outputs, cell.execution_count = other.outputs, other.execution_count
    bundle = CacheBundleIn(page, str(source), data={"execution_seconds": _seconds(executed)})
    get_cache(CACHE).cache_notebook_bundle(bundle, check_validity=True, overwrite=True)


def _seconds(notebook: nbformat.NotebookNode) -> float:
    """Time from the start of the first cell to the end of the last, from nbclient's stamps."""
    stamps = [c.metadata.execution for c in notebook.cells if "execution" in c.metadata]
    times = [
        datetime.fromisoformat(t) for s in stamps for k, t in s.items() if k.startswith("iopub.")
    ]
    return (max(times) - min(times)).total_seconds() if times else 0.0


if __name__ == "__main__":
    sys.exit({"make": make, "cache": cache}[sys.argv[1]]())
