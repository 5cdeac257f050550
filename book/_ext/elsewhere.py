"""What a chapter has computed or written, shown on another page.

``{number}`NN-name` `` is a number that chapter NN glues. ``{boxes} page`` with the option
``:titled:`` repeats the boxes of a page whose titles begin with these words.
"""

from __future__ import annotations

import json
from ast import literal_eval
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def number(key: str) -> str:
    """A number as its chapter prints it; the chapter's notebook keeps it, with its code's hash."""
    (path,) = NOTEBOOKS.glob(f"{key.partition('-')[0]}_*.ipynb")
    numbers = json.loads(path.read_text("utf8"))["metadata"]["amgd"]["numbers"]
    if key not in numbers:
        raise KeyError(f"{path.name} glues no {key!r}")
    return str(literal_eval(numbers[key]))


class Number(SphinxRole):
    """The number with this key."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Read it from the notebook."""
        if self.env.app.builder.name == "notebook":  # it is writing the notebooks
            return [nodes.inline("", "")], []
        self.env.note_dependency(
            str(next(NOTEBOOKS.glob(f"{self.text.partition('-')[0]}_*.ipynb")))
        )
        text = number(self.text)
        return [nodes.inline(text, text, classes=["pasted-text"])], []


class boxes(nodes.General, nodes.Element):
    """The place of the boxes of another page."""


class Boxes(SphinxDirective):
    """Repeat boxes of another page."""

    required_arguments = 1
    option_spec = {"titled": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Mark the place."""
        return [boxes("", page=self.arguments[0], titled=self.options["titled"])]


class RepeatBoxes(SphinxPostTransform):
    """Copy them, before references are resolved: these lead on from here as from there."""

    default_priority = 1

    def run(self, **options: Any) -> None:
        """Fill the places of the page that is written."""
        for place in list(self.document.findall(boxes)):
            page = self.env.get_doctree(place["page"])
            found = [
                box.deepcopy()
                for box in page.findall(nodes.admonition)
                if box.astext().startswith(place["titled"])
            ]
            if not found:
                raise ValueError(f"{place['page']} has no box titled {place['titled']!r}")
            for box in found:
                for node in box.findall(nodes.Element):
                    if "refdoc" in node:
                        node["refdoc"] = self.env.docname
            place.replace_self(found)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(boxes)
    app.add_role("number", Number())
    app.add_directive("boxes", Boxes)
    app.add_post_transform(RepeatBoxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
