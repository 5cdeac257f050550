"""A chapter as Sphinx understands it, written in Markdown that every viewer of notebooks shows.

Sphinx has resolved numbers, references and citations. What is left to say in plain Markdown are
boxes (block quotes), folds (``<details>``), captions, and anchors for the links.
"""

import posixpath
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import nbformat
from docutils import nodes
from sphinx.util.math import get_node_equation_number
from sphinxcontrib.bibtex.transforms import BibliographyTransform

from tools import explorables
from tools.notebooks import tex

if TYPE_CHECKING:
    from tools.notebooks.builder import NotebookBuilder

FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
# The last one is Colab's.
HIDE_CODE = {"jupyter": {"source_hidden": True}, "cellView": "form"}
HIDE_ALL = {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "cellView": "form"}
FOLD_BELOW = {"jp-MarkdownHeadingCollapsed": True}
# Blocks that have an anchor only where a target stands before them in the text.
PLAIN = {"paragraph", "bullet_list", "enumerated_list", "definition_list", "literal_block"}
NOTHING = {"comment", "substitution_definition", "index", "target", "meta"}


@dataclass
class Block:
    """A block of Markdown."""

    text: str
    opens: bool = False  # a new cell begins with it
    metadata: dict[str, Any] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)


@dataclass
class Code:
    """The place of a code cell."""

    index: int
    in_solution: bool = False


class Chapter:
    """The cells of a chapter.

    Parameters
    ----------
    builder : NotebookBuilder
        It knows the numbers of the page that is written.
    doctree : nodes.document
        The page, all references resolved.
    source : nbformat.NotebookNode
        The page's cells as they are written; code is taken from here.
    """

    def __init__(
        self, builder: "NotebookBuilder", doctree: nodes.document, source: nbformat.NotebookNode
    ) -> None:
        self.builder = builder
        self.doctree = doctree
        self.source = source
        self.docname = builder.current_docname
        self.macros: tex.Macros = builder.config.mathjax3_config["tex"]["macros"]
        self.citations = {c.citation_id: c for c in builder.env.get_domain("cite").citations}  # type: ignore[attr-defined]
        self.cited: dict[str, Any] = {}
        self.level = 0

    def cells(self) -> list[nbformat.NotebookNode]:
        """All cells: each piece of code in its place, Markdown between."""
        cells: list[nbformat.NotebookNode] = []
        below_fold = False
        for part in [*self.blocks(self.doctree), *self.references()]:
            if isinstance(part, Code):
                cells.append(self.code_cell(part))
                continue
            opens = part.opens or not cells or cells[-1].cell_type == "code"
            if part.text.startswith("#"):
                below_fold = bool(part.metadata)
            elif below_fold and not part.text.startswith("<details>"):
                raise ValueError(f"{self.docname}: this would be folded away: {part.text[:200]!r}")
            if opens:
                cell = nbformat.v4.new_markdown_cell(part.text, metadata=part.metadata)
                if part.attachments:
                    cell.attachments = part.attachments
                cells.append(cell)
            else:
                cells[-1].source += "\n\n" + part.text
        code = [c.source for c in self.source.cells if c.cell_type == "code"]
        if [c.source for c in cells if c.cell_type == "code"] != code:
            raise ValueError(f"{self.docname}: its code cells are not those of its text")
        return cells

    def code_cell(self, place: Code) -> nbformat.NotebookNode:
        """The code of the text; what the page hides or only draws with is folded."""
        cell = self.source.cells[place.index]
        tags = cell.metadata.get("tags", [])
        metadata: dict[str, Any] = {"tags": tags} if tags else {}
        if place.in_solution:
            metadata |= HIDE_ALL
        elif FOLDED & set(tags) or "figure" in cell.metadata.get("mystnb", {}):
            metadata |= HIDE_CODE
        made: nbformat.NotebookNode = nbformat.v4.new_code_cell(cell.source, metadata=metadata)
        return made

    # Blocks

    def blocks(self, node: nodes.Element) -> Iterator[Block | Code]:
        """The blocks of all children."""
        for child in node.children:
            yield from self.block(child)

    def block(self, node: nodes.Node) -> Iterator[Block | Code]:
        """The blocks of one node, by the name of its class."""
        name = type(node).__name__
        if name in NOTHING:
            return
        if name.endswith("_node") and isinstance(node, nodes.Element) and "realtype" in node:
            name = "statement"  # theorem_node, lemma_node, ...
        method: Callable[[Any], Iterator[Block | Code]] | None = getattr(
            self, f"block_{name}", None
        )
        if method is None:
            raise NotImplementedError(f"{self.docname}: a {name} has no form in Markdown: {node}")
        if name in PLAIN and (anchors := self.anchors(node)):
            yield Block(anchors)
        yield from method(node)

    def inside(self, node: nodes.Element) -> str:
        """The children of a node as one text; code that runs cannot stand there."""
        parts = list(self.blocks(node))
        texts = [part.text for part in parts if isinstance(part, Block)]
        if len(texts) < len(parts):
            raise ValueError(f"{self.docname}: a code cell stands within a box: {node.astext()}")
        return "\n\n".join(texts)

    def block_section(self, node: nodes.section) -> Iterator[Block | Code]:
        """A section with a title opens a cell; the body of a directive has none."""
        if not isinstance(node.children[0], nodes.title):
            yield from self.blocks(node)
            return
        self.level += 1
        title = self.inline(node.children[0])
        numbers = self.builder.secnumbers
        number = numbers.get(f"#{node['ids'][0]}") or (numbers.get("") if self.level == 1 else None)
        if number:
            title = f"{'.'.join(map(str, number))}. {title}"
        anchors = self.anchors(node, skip=nodes.make_id(node.children[0].astext()))
        yield Block(f"{'#' * self.level} {title}{anchors}", opens=True)
        for child in node.children[1:]:
            yield from self.block(child)
        self.level -= 1

    def block_paragraph(self, node: nodes.paragraph) -> Iterator[Block]:
        """Running text, line by line as it is written."""
        lines = self.inline(node).split("\n")
        yield Block(
            "\n".join(re.sub(r"^(\d+)([.)] )|^([-+#>] )", _escaped, line) for line in lines)
        )

    def block_math_block(self, node: nodes.math_block) -> Iterator[Block]:
        """A formula on its own, with its number."""
        number = get_node_equation_number(self, node) if node.get("number") else ""  # type: ignore[arg-type]
        formula = tex.displayed(tex.expand(node.astext(), self.macros), number)
        anchors = self.anchors(node)
        yield Block(f"{anchors}\n\n{formula}" if anchors else formula)

    def block_literal_block(self, node: nodes.literal_block) -> Iterator[Block]:
        """Code that is shown and not run."""
        language = node.get("language", "")
        if language in ("ipython3", "default") or str(node.get("source")).endswith(".py"):
            language = "python"
        yield Block(f"```{language}\n{node.astext().rstrip()}\n```")

    def block_bullet_list(self, node: nodes.bullet_list) -> Iterator[Block]:
        """A list."""
        yield Block(self.listed(node, ["- "] * len(node.children)))

    def block_enumerated_list(self, node: nodes.enumerated_list) -> Iterator[Block]:
        """A list with numbers."""
        start = node.get("start", 1)
        yield Block(self.listed(node, [f"{start + i}. " for i in range(len(node.children))]))

    def listed(self, node: nodes.Element, marks: list[str]) -> str:
        """Items of a list, loose when one of them has several blocks."""
        texts = [self.inside(item) for item in node.children if isinstance(item, nodes.Element)]
        items = [
            mark
            + text.replace("\n", "\n" + " " * len(mark)).replace(
                "\n" + " " * len(mark) + "\n", "\n\n"
            )
            for mark, text in zip(marks, texts, strict=True)
        ]
        return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)

    def block_definition_list(self, node: nodes.definition_list) -> Iterator[Block]:
        """Terms in bold, each with what it means below."""
        for item in node.findall(nodes.definition_list_item):
            for part in item.children:
                assert isinstance(part, nodes.Element)
                bold = isinstance(part, nodes.term)
                yield Block(f"**{self.inline(part)}**" if bold else self.inside(part))

    def block_block_quote(self, node: nodes.block_quote) -> Iterator[Block]:
        """A quotation."""
        yield Block(quoted(self.inside(node)))

    def block_transition(self, node: nodes.transition) -> Iterator[Block]:
        """A rule."""
        yield Block("---")

    def block_table(self, node: nodes.table) -> Iterator[Block]:
        """A table; its first row is the head."""
        rows = [[self.table_cell(entry) for entry in row] for row in node.findall(nodes.row)]
        if not list(node.findall(nodes.thead)):
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        title = node.next_node(nodes.title)
        if title is not None:
            yield Block(f"{self.anchors(node)}{self.numbered(node, 'table')} {self.inline(title)}")
        yield Block("\n".join(f"| {' | '.join(row)} |" for row in rows))

    def table_cell(self, entry: nodes.Element) -> str:
        """Contents of a cell on one line; a bar would end the cell."""
        text = self.inside(entry).replace("\n\n", "<br>").replace("\n", " ")
        formulas = re.split(r"(\$[^$]+\$)", text)
        bars = (r"\Vert ", r"\vert ")
        formulas[1::2] = [f.replace(r"\|", bars[0]).replace("|", bars[1]) for f in formulas[1::2]]
        formulas[::2] = [f.replace("|", r"\|") for f in formulas[::2]]
        return "".join(formulas)

    def block_container(self, node: nodes.container) -> Iterator[Block | Code]:
        """A code cell, with the caption of its figure below; or a plain container."""
        if node.get("nb_element") != "cell_code":
            yield from self.blocks(node)
            return
        if found := explorables.named(self.source.cells[node["cell_index"]].source):
            yield self.picture(found)
        yield Code(node["cell_index"])
        for figure in node.findall(nodes.figure):
            yield from self.block_figure(figure)

    def picture(self, found: explorables.Explorable) -> Block:
        """The picture of an explorable, kept in the notebook, above the cell that shows it."""
        page = posixpath.relpath(f"book/explorables/{found.name}", posixpath.dirname(self.docname))
        picture = b64encode((explorables.FOLDER / f"{found.name}.png").read_bytes()).decode()
        text = f"![{escape(found.description)}](attachment:{found.name}.png)\n\n"
        text += f"Run the next cell to move it, or open [{found.title}]({page}.html) in a browser."
        attachments = {f"{found.name}.png": {"image/png": picture}}
        return Block(text, opens=True, attachments=attachments)

    def block_second_reading(self, node: nodes.Element) -> Iterator[Block | Code]:
        """What the page folds: open here, as code that runs stands in no fold."""
        if not node.get("written"):  # proofs, exercises: boxes and headings say it
            yield from self.blocks(node)
            return
        title = self.inline(nodes.inline("", "", *(part.deepcopy() for part in node["title"])))
        yield Block(f"*Second reading{': ' if title else ''}{title}*")
        yield from self.blocks(node)
        if node.next_node(descend=False, siblings=True) is not None:
            yield Block("*End of the second reading.*")

    def block_reading_time(self, node: nodes.Element) -> Iterator[Block | Code]:
        """It speaks of what the page folds."""
        yield from ()

    def block_figure(self, node: nodes.figure) -> Iterator[Block | Code]:
        """A picture from a file, if it is one, and the caption."""
        for image in node.findall(nodes.image):
            yield from self.block_image(image)
        for child in node.children:
            if isinstance(child, nodes.caption):
                caption = f"{self.numbered(node, 'figure')} {self.inline(child)}"
                yield Block(f"{self.anchors(node)}{caption}")
            elif isinstance(child, nodes.legend):
                yield from self.blocks(child)

    def block_image(self, node: nodes.image) -> Iterator[Block]:
        """A picture of the repository."""
        yield Block(self.text_image(node))

    # Boxes and folds

    def block_statement(self, node: nodes.Element) -> Iterator[Block]:
        """A theorem, a definition, ...: a box with kind, number and name.

        It opens a cell, where links from other notebooks arrive.
        """
        title, *body = node.children
        assert isinstance(title, nodes.Element)
        name = f"{node['realtype'].title()} {self.number(node, node['countertype'])}"
        if "dropdown" in node["classes"]:
            folded = fold(
                f"{name} {title.astext().strip()}", self.inside(nodes.container("", *body))
            )
            yield Block(f"{self.anchors(node)}\n\n{folded}".lstrip(), opens=True)
            return
        head = f"{self.anchors(node)}**{name}** {self.inline(title).strip()}".rstrip()
        for block in self.box(node, head, body):
            yield Block(block.text, opens=True)

    def block_proof_node(self, node: nodes.Element) -> Iterator[Block]:
        """A proof; it begins with that word."""
        (box,) = node.children
        assert isinstance(box, nodes.Element)
        text = self.inside(box).removeprefix("Proof. ")
        if "dropdown" in box["classes"]:
            yield Block(fold("Proof", text))
        else:
            yield Block(quoted(f"*Proof.* {text}"))

    def block_admonition(self, node: nodes.Element) -> Iterator[Block]:
        """A titled box."""
        title, *body = node.children
        assert isinstance(title, nodes.Element)
        yield from self.box(node, f"**{self.inline(title)}**", body)

    def block_note(self, node: nodes.Element) -> Iterator[Block]:
        """A box whose kind is its title."""
        yield from self.box(node, f"**{type(node).__name__.title()}**", node.children)

    block_important = block_warning = block_tip = block_seealso = block_note

    def box(self, node: nodes.Element, head: str, body: list[nodes.Node]) -> Iterator[Block]:
        """A block quote, or a fold where the page has one."""
        text = self.inside(nodes.container("", *body))
        if "dropdown" in node["classes"]:
            summary = node.children[0].astext() if isinstance(node.children[0], nodes.title) else ""
            yield Block(fold(summary, text))
        else:
            yield Block(quoted(f"{head}\n\n{text}"))

    def block_exercise_enumerable_node(self, node: nodes.Element) -> Iterator[Block]:
        """An exercise: a heading, which ends the fold of the solution before it, and a box."""
        title, *body = node.children
        assert isinstance(title, nodes.Element)
        name = self.inline(title).strip().removeprefix("(").removesuffix(")")
        mark = "#" * (self.level + 1)
        head = f"{mark} Exercise {self.number(node, 'exercise')} {name}{self.anchors(node)}"
        yield Block(head, opens=True)
        yield Block(quoted(self.inside(nodes.container("", *body))))

    def block_solution_node(self, node: nodes.Element) -> Iterator[Block | Code]:
        """A solution: folded; one with code stands below a folded heading."""
        title, *body = node.children
        name = re.sub(r" \(.*", "", title.astext(), flags=re.S)
        parts = list(self.blocks(nodes.container("", *body)))
        if any(isinstance(part, Code) for part in parts):
            head = f"{'#' * (self.level + 2)} {name}"
            yield Block(f"{head}{self.anchors(node)}", opens=True, metadata=dict(FOLD_BELOW))
            summary = "In words"
        else:
            yield Block(self.anchors(node))
            summary = name
        words = list[str]()
        for part in [*parts, None]:
            if isinstance(part, Block):
                words.append(part.text)
                continue
            if words:
                yield Block(fold(summary, "\n\n".join(words)))
                summary, words = "More words", []
            if part is not None:
                yield Code(part.index, in_solution=True)

    # Text within a line

    def inline(self, node: nodes.Element) -> str:
        """The text of a node."""
        texts = [self.text(child) for child in node.children]
        for before, after in pairwise(texts):
            if before.endswith("$") and re.match(r"[$\w]", after):
                raise ValueError(f"{self.docname}: a formula touches what follows: {node.astext()}")
        return "".join(texts)

    def text(self, node: nodes.Node) -> str:
        """The text of one node within a line, by the name of its class."""
        if isinstance(node, nodes.Text):
            return escape(node.astext())
        name = type(node).__name__
        if name in NOTHING:
            return ""
        method: Callable[[Any], str] | None = getattr(self, f"text_{name}", None)
        if method is None:
            raise NotImplementedError(f"{self.docname}: a {name} has no form in a line: {node}")
        return method(node)

    def text_emphasis(self, node: nodes.emphasis) -> str:
        """Italics."""
        return f"*{self.inline(node)}*"

    def text_strong(self, node: nodes.strong) -> str:
        """Bold."""
        return f"**{self.inline(node)}**"

    def text_literal(self, node: nodes.literal) -> str:
        """Code."""
        code = node.astext()
        return f"`` {code} ``" if "`" in code else f"`{code}`"

    def text_math(self, node: nodes.math) -> str:
        """A formula."""
        return f"${tex.one_line(tex.expand(node.astext(), self.macros))}$"

    def text_inline(self, node: nodes.inline) -> str:
        """What a role has made."""
        return self.inline(node)

    def text_reference(self, node: nodes.reference) -> str:
        """A link. A citation leads to the list at the end of the notebook."""
        place = node.get("refuri") or f"#{node['refid']}"
        citation = self.citations.get(place.partition("#")[2])
        if citation is not None:
            self.cited[citation.key] = citation
            place = f"#{self.work(citation.key)}"
        label = self.inline(node)
        return f"[{label}]({place})"

    text_number_reference = text_reference

    def text_image(self, node: nodes.image) -> str:
        """A picture of the repository."""
        path = posixpath.relpath(node["uri"], posixpath.dirname(self.docname))
        return f"![{node.get('alt', '')}]({path})"

    def text_download_reference(self, node: nodes.Element) -> str:
        """A link to a file of the repository, which stands as the text has it."""
        return f"[{self.inline(node)}]({node['reftarget']})"

    # Numbers, anchors, references

    def number(self, node: nodes.Element, kind: str) -> str:
        """Number of a statement, an exercise or a figure."""
        return ".".join(map(str, self.builder.fignumbers[kind][node["ids"][0]]))

    def numbered(self, node: nodes.Element, kind: str) -> str:
        """The word and number of a figure or table, as references to it say."""
        if node["ids"] and node["ids"][0] in self.builder.fignumbers.get(kind, {}):
            return f"**{self.builder.config.numfig_format[kind] % self.number(node, kind)}**"
        return ""

    def anchors(self, node: nodes.Element, skip: str = "") -> str:
        """Where links to the node arrive."""
        return "".join(f'<a id="{name}"></a>' for name in node["ids"] if name != skip)

    def references(self) -> Iterator[Block]:
        """The works that the chapter cites."""
        if not self.cited:
            return
        items = []
        for key in sorted(self.cited):
            entry = BibliographyTransform.backend.paragraph(self.cited[key].formatted_entry)
            items.append(f'- <a id="{self.work(key)}"></a>{self.inline(entry)}')
        yield Block("## References", opens=True)
        yield Block("\n".join(items))

    def work(self, key: str) -> str:
        """Anchor of a work; JupyterLab wants other anchors in each open notebook."""
        chapter = posixpath.basename(self.docname).partition("_")[0]
        return f"ref-{chapter}-{key}"


def quoted(text: str) -> str:
    """A block quote: the box that every viewer draws."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def fold(summary: str, text: str) -> str:
    """Text below a line that opens it."""
    return f"<details>\n<summary><b>{summary}</b></summary>\n\n{text}\n\n</details>"


def escape(text: str) -> str:
    """Text in which Markdown sees no markup."""
    text = re.sub(r"[\\*`\[\]$~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\\g<0>", text)
    return text.replace("<", "&lt;")


def _escaped(match: re.Match[str]) -> str:
    number, mark, other = match.groups()
    return f"{number}\\{mark}" if number else f"\\{other}"
