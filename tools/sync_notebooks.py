"""Make the chapters' notebooks from their texts.

``notebooks/src/NN_name.md`` is what people write and the book is built from.
``notebooks/NN_name.ipynb`` is what people open: plain Markdown that reads like the page, no
outputs. The start page ``notebooks/README.md`` lists them in order.

Numbers in the prose come from a run. A notebook keeps, in its metadata, the numbers it was made
with and a hash of the code that gave them; a chapter runs again only when its code has changed.

    python tools/sync_notebooks.py                  texts -> notebooks
    python tools/sync_notebooks.py --quick          the same, with old numbers while none is missing
    python tools/sync_notebooks.py --run 05_convex  the same, with fresh numbers for this chapter
    python tools/sync_notebooks.py --check          exit 1 if a notebook is not what its text gives
"""

import argparse
import gc
import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_book.sphinx import build_sphinx
from jupyter_cache import get_cache
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # this checkout's tools, whichever is installed

from tools import fresh_build, run_copies  # noqa: E402
from tools.notebooks import start, text  # noqa: E402
from tools.notebooks.builder import numbers_file  # noqa: E402

NOTEBOOKS = text.NOTEBOOKS
BUILD = ROOT / "_build" / "notebook"
NOTHING_RUNS = {
    "nb_execution_mode": "off",
    "nb_mime_priority_overrides": [["notebook", "text/plain", 0]],  # stand-ins for figures
    "suppress_warnings": ["mystnb.glue"],  # of pages that are no chapters
    "latex_individualpages": False,  # Jupyter Book insists on it
}


def kept(name: str) -> dict[str, Any]:
    """Numbers that the notebook was made with, and the hash of their code."""
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.exists():
        return {}
    try:
        notebook = json.loads(path.read_text("utf8"))
    except json.JSONDecodeError:  # two branches in conflict: the texts decide
        return {}
    return dict(notebook["metadata"].get("amgd", {}))


def fresh(name: str, source: nbformat.NotebookNode, run: bool) -> dict[str, Any]:
    """Numbers from the book's cache of executed pages, or from a run, which goes into the cache."""
    if not run and not fresh_build.is_stale():
        try:
            found = get_cache(run_copies.CACHE).match_cache_notebook(source)
            done = get_cache(run_copies.CACHE).get_cache_bundle(found.pk).nb
            return {"code": text.code_digest(source), "numbers": text.glued(done)}
        except KeyError:
            pass
    code = text.code_digest(source)
    if not run and (file := numbers_file(BUILD, name)).exists():
        found = json.loads(file.read_text("utf8"))  # of a call that was stopped later on
        if found.get("code") == code:
            return dict(found)
    print(f"{name}: it runs", flush=True)
    done = NotebookClient(source, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS)}})
    done = done.execute()
    run_copies.keep(name, done)
    numbers = {"code": code, "numbers": text.glued(done)}
    write(numbers_file(BUILD, name), json.dumps(numbers, sort_keys=True))
    return numbers


def outdated(written: str, numbers: dict[str, Any], quick: bool) -> bool:
    """Say whether a chapter must run: its code is another, or a number it tells is missing."""
    if quick:
        return not text.told(written) <= set(numbers.get("numbers", {}))
    return bool(numbers.get("code") != text.code_digest(text.cells_of(written)))


def made(run: tuple[str, ...] = (), *, quick: bool = False, still: bool = False) -> dict[Path, str]:
    """What each file should hold; with ``still`` no chapter runs."""
    for name in text.chapters():
        written = (NOTEBOOKS / "src" / f"{name}.md").read_text("utf8")
        if "\n<<<<<<< " in written:
            raise SystemExit(f"notebooks/src/{name}.md holds a conflict: resolve it first")
        source = text.cells_of(written)
        numbers = kept(name)
        if name in run or (not still and outdated(written, numbers, quick)):
            numbers = fresh(name, source, name in run)
            if missing := sorted(text.told(written) - set(numbers["numbers"])):
                raise SystemExit(
                    f"{name}: no cell glues what the prose tells: {', '.join(missing)}"
                )
        content = json.dumps(numbers or {"numbers": {}}, sort_keys=True)
        write(numbers_file(BUILD, name), content)
        if not (NOTEBOOKS / f"{name}.ipynb").exists():
            write(NOTEBOOKS / f"{name}.ipynb", text.as_json(source))  # Sphinx finds pages by file
    status = build_sphinx(
        str(ROOT),
        str(BUILD / "pages"),
        doctreedir=str(BUILD / "doctrees"),
        path_config=str(ROOT / "_config.yml"),
        builder="notebook",
        confoverrides=NOTHING_RUNS,
        noconfig=True,
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if status:
        (BUILD / "doctrees" / "environment.pickle").unlink(missing_ok=True)  # warn again next time
        raise SystemExit("no notebook is written: mend what the lines above say in notebooks/src")
    pages = {n: (BUILD / "pages" / f"{n}.ipynb").read_text("utf8") for n in text.chapters()}
    files = {NOTEBOOKS / f"{name}.ipynb": page for name, page in pages.items()}
    return files | {NOTEBOOKS / "README.md": start.page(ROOT / "_toc.yml", pages)}


def differing() -> list[str]:
    """Names of the files that are not what the texts give."""
    files = made(still=True)
    extra = set(NOTEBOOKS.glob("*.ipynb")) - set(files)
    return sorted(
        path.name
        for path in {*files, *extra}
        if path in extra or not path.exists() or path.read_text("utf8") != files[path]
    )


def write(path: Path, content: str) -> None:
    """Write a file unless it holds this already: Sphinx goes by the time of the last change."""
    if not path.exists() or path.read_text("utf8") != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf8")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--run", nargs="*", default=[], metavar="NAME", help="chapters that run; 'all' for all"
    )
    parser.add_argument(
        "--quick", action="store_true", help="keep old numbers, marked by the hash of their code"
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a notebook differs"
    )
    args = parser.parse_args()
    gc.disable()  # half of the time would go into looking for garbage in the pages Sphinx has read
    if args.check:
        bad = differing()
        print("\n".join(f"notebooks/{n} is not what the text gives: run make sync" for n in bad))
        return bool(bad)
    run = tuple(text.chapters() if args.run == ["all"] else args.run)
    if unknown := set(run) - set(text.chapters()):
        parser.error(f"no chapter has the name {sorted(unknown)[0]}: {', '.join(text.chapters())}")
    for path, content in made(run, quick=args.quick).items():
        write(path, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
