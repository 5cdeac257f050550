"""A Sphinx extension: chapters are read from their text, and a builder writes their notebooks.

The page ``notebooks/NN_name`` is built from ``notebooks/src/NN_name.md``. The file that gives the
page its name and its download, ``notebooks/NN_name.ipynb``, is made from the same text by the
builder ``notebook``, in plain Markdown.
"""

import json
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder

from tools.notebooks import text
from tools.notebooks.markdown import Chapter


def numbers_file(build: Path, name: str) -> Path:
    """Where the builder finds the numbers of a chapter."""
    return build / "numbers" / f"{name}.json"


def read_text(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the text of a chapter in the place of its notebook."""
    folder, _, name = docname.rpartition("/")
    path = Path(app.srcdir) / "notebooks" / "src" / f"{name}.md"
    if folder != "notebooks" or not path.exists():
        return
    notebook = text.cells_of(path.read_text("utf8"))
    app.env.note_dependency(str(path))
    if app.builder.name == NotebookBuilder.name:
        numbers = numbers_file(Path(app.outdir).parent, name)
        app.env.note_dependency(str(numbers))
        text.add_stand_ins(notebook, json.loads(numbers.read_text("utf8"))["numbers"])
    source[0] = text.as_json(notebook)


class NotebookBuilder(Builder):
    """Write each chapter as a notebook that any viewer shows, without outputs."""

    name = "notebook"
    format = "notebook"
    epilog = ""
    allow_parallel = False

    # Sphinx and its extensions read these of the page that is being written.
    current_docname: str
    fignumbers: dict[str, dict[str, tuple[int, ...]]]
    secnumbers: dict[str, tuple[int, ...]]

    def get_outdated_docs(self) -> list[str]:
        """All chapters: the number of a theorem may have changed in another one."""
        return [f"notebooks/{name}" for name in text.chapters(Path(self.srcdir) / "notebooks")]

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """The file in the repository: a notebook, or the text of another page."""
        return Path(self.env.doc2path(docname)).relative_to(self.srcdir).as_posix()

    def prepare_writing(self, docnames: set[str]) -> None:
        """Read each page once: Sphinx would read the target's page again for each reference."""
        read = self.env.get_doctree
        pages: dict[str, nodes.document] = {}

        def page(docname: str) -> nodes.document:
            if "docname" not in self.env.temp_data:  # the page to write itself, which is changed
                return read(docname)
            if docname not in pages:
                pages[docname] = read(docname)
            return pages[docname]

        self.env.get_doctree = page  # type: ignore[method-assign]
        self.notebooks: dict[str, nbformat.NotebookNode] = {}

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        """Make one notebook, if it is a chapter."""
        if docname not in self.get_outdated_docs():
            return
        self.current_docname = docname
        self.fignumbers = self.env.toc_fignumbers.get(docname, {})
        self.secnumbers = self.env.toc_secnumbers.get(docname, {})
        name = Path(docname).name
        numbers = json.loads(numbers_file(Path(self.outdir).parent, name).read_text("utf8"))
        source = text.cells_of(
            (Path(self.srcdir) / "notebooks" / "src" / f"{name}.md").read_text("utf8")
        )
        notebook = nbformat.v4.new_notebook(metadata=text.metadata(amgd=numbers))
        notebook.update(text.FOUR_FIVE)
        notebook.cells = Chapter(self, doctree, source).cells()
        text.set_ids(notebook.cells)
        self.notebooks[name] = notebook

    def finish(self) -> None:
        """Write the files, once it is known where links between them arrive."""
        text.lead_to_cells(self.notebooks)
        for name, notebook in self.notebooks.items():
            (Path(self.outdir) / f"{name}.ipynb").write_text(text.as_json(notebook), "utf8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", read_text)
    app.add_builder(NotebookBuilder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
