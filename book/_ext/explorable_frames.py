"""Put the explorables into the pages: a frame where a cell calls ``figures.explorable``.

The page of the frame loads when it comes into view. In print, its picture stands there.
"""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from tools import explorables

FRAME = """<div class="explorable">
<iframe src="{page}.html" title="{title}" loading="lazy"></iframe>
<img src="{page}.svg" alt="{description}">
<p><a href="{page}.html">{title}, on a page of its own</a></p>
</div>"""


class ShowExplorables(SphinxPostTransform):
    """Replace the cells that show an explorable."""

    default_priority = 1  # before myst-nb chooses among outputs
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Walk over the cells of a page."""
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") != "cell_code":
                continue
            code = cell.next_node(nodes.literal_block)
            found = explorables.named(code.astext()) if code else None
            if found is None:
                continue
            page = relpath(f"book/explorables/{found.name}", dirname(self.env.docname))
            words = {"title": escape(found.title), "description": escape(found.description)}
            cell.replace_self(nodes.raw("", FRAME.format(page=page, **words), format="html"))


def copy_pages(app: Any, exception: Exception | None) -> None:
    """Copy the explorables beside the pages."""
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / "book" / "explorables"
        ignored = shutil.ignore_patterns("*.md")
        shutil.copytree(explorables.FOLDER, target, dirs_exist_ok=True, ignore=ignored)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(ShowExplorables)
    app.connect("build-finished", copy_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
