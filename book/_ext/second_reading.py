"""Two paths through a page: what a first reading needs stands open, the rest is folded.

``{second-reading}`` folds what follows it, to the end of its section or to ``{first-reading}``. In
chapters each proof and all exercises but the first are folded without a word. Only what is shown
changes: numbers, anchors, the order in which code runs, contents and search are those of the whole
page. A page that has folds says at its top how long each path takes to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_enumerable_node
from sphinx_proof.nodes import proof_node

# What a reader who follows the argument needs, in seconds; book/how_to_use.md tells it.
SECONDS = {"word": 60 / 220, "formula": 2, "displayed": 15, "line": 2, "figure": 20}
TAGS = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.S)
ANSWER = re.compile(r"Hint|Solution|Answer|The answers?\b")


class second_reading(nodes.General, nodes.Element):
    """What is folded; before the folds are made, the place where one begins."""


class first_reading(nodes.General, nodes.Element):
    """The place where a fold ends before its section does."""


class reading_time(nodes.General, nodes.Element):
    """Minutes of both paths."""


class SecondReading(SphinxDirective):
    """Fold from here on; the argument says what is in the fold."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Mark the place."""
        title, _ = self.state.inline_text(" ".join(self.arguments), self.lineno)
        return [second_reading("", title=title, written=True)]


class FirstReading(SphinxDirective):
    """End the fold."""

    def run(self) -> list[nodes.Node]:
        """Mark the place."""
        return [first_reading("")]


class FoldSecondReading(SphinxPostTransform):
    """Make the folds, once all numbers and references are known."""

    default_priority = 950

    def run(self, **options: Any) -> None:
        """Fold, and say how long both paths are."""
        if self.env.docname.startswith("notebooks/"):
            mark_exercises(self.document)
        for mark in list(self.document.findall(second_reading)):
            gather(mark, self.env.docname)
        for mark in self.document.findall(first_reading):
            raise ValueError(f"{self.env.docname}: first-reading ends no fold: {mark.parent}")
        if self.env.docname.startswith("notebooks/"):
            fold_proofs(self.document)
        folds = list(self.document.findall(second_reading))
        for fold in folds:
            fold["minutes"] = minutes(seconds(fold, folded=True))
        if folds:
            first, both = (seconds(self.document, folded=f) for f in (False, True))
            told = reading_time("", first=minutes(first), both=minutes(both))
            question = self.document.next_node(nodes.paragraph)
            question.parent.insert(question.parent.index(question) + 1, told)


def mark_exercises(document: nodes.document) -> None:
    """Begin a fold at the second exercise."""
    _, *others = [*document.findall(exercise_enumerable_node), None]
    if others and (second := others[0]) is not None:
        title = [nodes.Text("the other exercises")]
        second.parent.insert(second.parent.index(second), second_reading("", title=title))


def fold_proofs(document: nodes.document) -> None:
    """Fold each proof that stands open in a first reading."""
    for proof in list(document.findall(proof_node)):
        if not within(proof, second_reading) and not dropped(proof.children[0]):
            fold = second_reading("", title=[nodes.Text("the proof")])
            proof.replace_self(fold)
            fold += proof


def gather(mark: second_reading, docname: str) -> None:
    """Move what follows a mark into its fold."""
    parent = mark.parent
    start = parent.index(mark) + 1
    end = next(
        (i for i in range(start, len(parent)) if isinstance(parent[i], first_reading)), len(parent)
    )
    inside = parent[start:end]
    if not inside:
        raise ValueError(f"{docname}: nothing follows second-reading {mark['title']}")
    del parent[start : end + 1]
    mark += inside


def within(node: nodes.Node, kind: type[nodes.Node]) -> bool:
    """Say whether a node stands in one of some kind."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kind):
            return True
    return False


def dropped(node: nodes.Node) -> bool:
    """Say whether a box is folded by a class of its own."""
    return isinstance(node, nodes.Element) and "dropdown" in node.get("classes", [])


def seconds(node: nodes.Node, *, folded: bool) -> float:
    """Time to read what stands open, or also what is folded; answers and hidden code never."""
    counts = Counter(parts(node, folded))
    return sum(SECONDS[kind] * n for kind, n in counts.items())


def parts(node: nodes.Node, folded: bool) -> Iterator[str]:
    """What there is to read, one name for each word, formula, line and figure."""
    if isinstance(node, nodes.Text):
        yield from ["word"] * len(node.split())
    elif isinstance(node, nodes.math):
        yield "formula"
    elif isinstance(node, nodes.math_block):
        yield "displayed"
    elif isinstance(node, nodes.literal_block):
        yield from ["line"] * len(node.astext().splitlines())
    elif isinstance(node, nodes.image):
        yield "figure"
    elif isinstance(node, nodes.raw):  # a table that a cell has made
        yield from ["word"] * len(TAGS.sub(" ", node.astext()).split())
    elif not passed_over(node, folded):
        for child in node.children:
            yield from parts(child, folded)


def passed_over(node: nodes.Node, folded: bool) -> bool:
    """Say whether a path leads past a node."""
    if isinstance(node, nodes.Invisible | HideCodeCellNode):
        return True
    if dropped(node):
        return not folded or bool(ANSWER.match(node.astext().lstrip()))
    return isinstance(node, second_reading) and not folded


def minutes(time: float) -> int:
    """Whole minutes, at least one."""
    return max(1, round(time / 60))


def visit_second_reading(self: Any, node: second_reading) -> None:
    """Open a fold, with a line that says what is in it and how long it takes."""
    self.body.append('<details class="second-reading"><summary><b>Second reading</b>')
    if node["title"]:
        self.body.append(": ")
    for part in node["title"]:
        part.walkabout(self)
    self.body.append(f' <span class="minutes">{node["minutes"]} min</span></summary>\n')


def depart_second_reading(self: Any, node: second_reading) -> None:
    """Close it."""
    self.body.append("</details>\n")


def visit_reading_time(self: Any, node: reading_time) -> None:
    """Tell the minutes; book.js gives the button its work."""
    self.body.append(
        f'<p class="reading-time" data-first="{node["first"]}" data-both="{node["both"]}">'
        f"First reading <b>{node['first']} minutes</b>; "
        f"with the second reading <b>{node['both']} minutes</b>. "
        '<button type="button" class="all-folds" aria-expanded="false" hidden>'
        "Open the second reading</button>"
    )


def depart_reading_time(self: Any, node: reading_time) -> None:
    """Close it."""
    self.body.append("</p>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(second_reading, html=(visit_second_reading, depart_second_reading))
    app.add_node(reading_time, html=(visit_reading_time, depart_reading_time))
    app.add_node(first_reading)
    app.add_directive("second-reading", SecondReading)
    app.add_directive("first-reading", FirstReading)
    app.add_post_transform(FoldSecondReading)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
