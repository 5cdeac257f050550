"""Pair the text of the chapters with their notebooks.

``notebooks/src/NN_name.md`` is what people write; ``notebooks/NN_name.ipynb`` is what students open
and the book shows. The notebook is a function of the text: no outputs, and cell ids that are hashes
of the cells, so that an edit changes the ids of the edited cells only.

    python tools/sync_notebooks.py             text -> notebooks
    python tools/sync_notebooks.py --to-text   notebooks -> text (after editing in Jupyter)
    python tools/sync_notebooks.py --check     exit 1 if a pair differs
"""

import argparse
import hashlib
import sys
from collections import Counter
from pathlib import Path

import jupytext
import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook_json(text: str) -> str:
    """The notebook that belongs to a MyST text, as it stands in the file."""
    notebook = jupytext.reads(text, fmt="md:myst")
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        cell.id = f"{digest}-{seen[digest]}"
        seen[digest] += 1
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return str(nbformat.writes(notebook)) + "\n"


def myst_text(path: Path) -> str:
    """The MyST text that belongs to a notebook file."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": KERNEL}
    return str(jupytext.writes(notebook, fmt="md:myst"))


def pairs(folder: Path) -> list[tuple[Path, Path]]:
    """All (text, notebook) pairs by name."""
    names = {p.stem for p in (folder / "src").glob("*.md")} | {
        p.stem for p in folder.glob("*.ipynb")
    }
    return [(folder / "src" / f"{n}.md", folder / f"{n}.ipynb") for n in sorted(names)]


def differing(folder: Path = NOTEBOOKS) -> list[str]:
    """Names of pairs that do not agree."""
    return [
        text.stem
        for text, notebook in pairs(folder)
        if not text.exists()
        or not notebook.exists()
        or notebook.read_text("utf8") != notebook_json(text.read_text("utf8"))
    ]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--to-text", action="store_true", help="take the notebooks as the source")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a pair differs"
    )
    args = parser.parse_args()
    if args.check:
        bad = differing()
        print("\n".join(f"notebooks/{n}.ipynb and its text differ: run make sync" for n in bad))
        return bool(bad)
    for text, notebook in pairs(NOTEBOOKS):
        if args.to_text:
            text.write_text(myst_text(notebook), "utf8")
        notebook.write_text(notebook_json(text.read_text("utf8")), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
