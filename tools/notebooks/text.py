"""The text of a chapter as cells, and the numbers that its cells glue into the prose."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat.v4 import new_output

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PREFIX = "application/papermill.record/"  # what glue(..., display=False) puts before a type
FOUR_FIVE = {"nbformat": 4, "nbformat_minor": 5}
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
ACROSS = re.compile(r"\]\((\w+)\.ipynb#([\w-]+)\)")


def chapters(folder: Path = NOTEBOOKS) -> list[str]:
    """Names of the chapters, in the order of the book."""
    return sorted(path.stem for path in (folder / "src").glob("*.md"))


def cells_of(text: str) -> nbformat.NotebookNode:
    """The cells of a text, with MyST in its Markdown: what the book is built from."""
    notebook: nbformat.NotebookNode = jupytext.reads(text, fmt="md:myst")
    notebook.metadata = nbformat.from_dict(metadata())
    notebook.update(FOUR_FIVE)
    set_ids(notebook.cells)
    return notebook


def metadata(**more: Any) -> dict[str, Any]:
    """Metadata of a notebook, without the versions of one machine."""
    return {"kernelspec": KERNEL, "language_info": {"name": "python"}, **more}


def set_ids(cells: list[nbformat.NotebookNode]) -> None:
    """The first anchor is a cell's id, or a hash: an edit changes ids of edited cells only."""
    seen: dict[str, int] = {}
    for cell in cells:
        if cell.cell_type == "markdown" and (anchor := ANCHOR.search(cell.source)):
            cell.id = anchor[1]
            continue
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, -1) + 1
        cell.id = f"{digest}-{seen[digest]}"


def lead_to_cells(notebooks: dict[str, nbformat.NotebookNode]) -> None:
    """Turn an anchor of another notebook into its cell's id, which Jupyter finds before it draws.

    Anchors are right within a notebook, and for every other viewer.
    """
    prose = {
        n: [c for c in made.cells if c.cell_type == "markdown"] for n, made in notebooks.items()
    }
    ids = {
        (n, a): c.id for n, cells in prose.items() for c in cells for a in ANCHOR.findall(c.source)
    }
    for cell in (cell for cells in prose.values() for cell in cells):
        cell.source = ACROSS.sub(
            lambda link: f"]({link[1]}.ipynb#cell-id={ids[link[1], link[2]]})", cell.source
        )


def as_json(notebook: nbformat.NotebookNode) -> str:
    """A notebook as it stands in its file."""
    return str(nbformat.writes(notebook)) + "\n"


def code_digest(notebook: nbformat.NotebookNode) -> str:
    """Hash of the code that computes a chapter's numbers."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def told(text: str) -> set[str]:
    """Keys of the numbers that a text tells."""
    return set(re.findall(r"\{glue:text\}`([^`:]+)", text))


def glued(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """What the outputs of a notebook glue: key -> text, as Python prints it."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if scrap := output.get("metadata", {}).get("scrapbook"):
                found[scrap["name"]] = output["data"][scrap["mime_prefix"] + "text/plain"]
    return found


def add_stand_ins(notebook: nbformat.NotebookNode, numbers: dict[str, str]) -> None:
    """Give a notebook that has not run the outputs that its text refers to: numbers, figures.

    Every cell keeps a place in the page, the hidden ones too.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        tags = cell.metadata.pop("tags", [])
        if "figure" in cell.metadata.get("mystnb", {}) and "remove-cell" not in tags:
            cell.outputs = [new_output("display_data", {"text/plain": ""})]
    code[0].outputs += [
        new_output(
            "display_data",
            {PREFIX + "text/plain": value},
            metadata={"scrapbook": {"name": key, "mime_prefix": PREFIX}},
        )
        for key, value in numbers.items()
    ]
