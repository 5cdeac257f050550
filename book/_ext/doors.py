"""What the theme's pages lack: a description, a preview, a way to the repository and the notebook.

Besides, punctuation stays on the line of the formula before it, and a figure says where its panels
lie, so that ``book.js`` can stack them on a narrow screen.
"""

from __future__ import annotations

import os
import re
import subprocess
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
PUNCTUATION = re.compile(r"[.,;:!?)\]’”…–-]+")
BAR = 40.0  # points: what is narrower is the colour bar of the panels beside it
GAP = 4.0  # points between the letters of one panel and the cut before the next
LETTERS = 12.0  # points: the height of a title
Box = tuple[float, float, float, float, float]


class KeepPunctuation(SphinxPostTransform):
    """Put a formula and the punctuation after it into one span that does not break."""

    default_priority = 900

    def run(self, **options: Any) -> None:
        """Walk over the formulas that stand in a line."""
        for formula in list(self.document.findall(nodes.math)):
            place = formula.parent.index(formula)
            after = formula.next_node(descend=False, siblings=True)
            mark = isinstance(after, nodes.Text) and PUNCTUATION.match(after.astext())
            if not mark:
                continue
            rest = nodes.Text(after.astext()[mark.end() :])
            kept = nodes.inline(
                "", "", formula.deepcopy(), nodes.Text(mark[0]), classes=["nobreak"]
            )
            formula.parent[place : place + 2] = [kept, rest]


def repository() -> str:
    """Address of the repository, as the build server or git's remote gives it; else empty."""
    server = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    if all(server):
        return "/".join(map(str, server))
    command = ["git", "-C", str(ROOT), "config", "--get", "remote.origin.url"]
    try:
        remote = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:  # no git
        return ""
    return public_address(remote)


def public_address(remote: str) -> str:
    """Return the page of a repository on the web; empty for one that only a machine knows."""
    remote = re.sub(r"^(?:ssh://)?git@([\w.-]+\.\w+)[:/]", r"https://\1/", remote)
    match = re.fullmatch(r"https://(?:[^/@]*@)?([\w-]+(?:\.[\w-]+)+/.+?)(?:\.git)?/?", remote)
    return f"https://{match[1]}" if match else ""


def description(doctree: nodes.document) -> str:
    """First sentences of a page that have no formula, as plain text of at most 200 letters."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section) and (text := plain(paragraph)):
            return text if len(text) <= 200 else text[:199].rsplit(" ", 1)[0] + "…"
    return ""


def plain(paragraph: nodes.paragraph) -> str:
    """Return the text of a paragraph, up to the sentence in which its first formula stands."""
    words = ""
    for node in paragraph.findall(lambda node: isinstance(node, nodes.math | nodes.Text)):
        if isinstance(node, nodes.math):
            words = re.sub(r"[^.:?!]*$", "", words)
            break
        words += node.astext()
    return " ".join(words.split())


def panels(drawing: Path) -> list[tuple[float, float, float, float]]:
    """Views (x, y, width, height) of the panels of a drawing by Matplotlib.

    Empty unless each row holds several panels side by side that a straight cut parts.
    """
    root = ElementTree.parse(drawing).getroot()
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    axes = [g for g in root.iter(f"{SVG}g") if re.fullmatch(r"axes_\d+", g.get("id", ""))]
    if not all(map(frame, axes)):  # pictures without axes
        return []
    boxes = [box for box in map(extent, axes) if box[2] - box[0] > BAR]
    if not boxes:
        return []
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda b: (round(b[1] / 20), b[0])):
        if rows and box[1] < rows[-1][0][3] - 1 and box[3] > rows[-1][0][1] + 1:
            rows[-1].append(box)
        else:
            rows.append([box])
    above, below = legend(root, rows, height)
    views = [(0.0, 0.0, width, above)] if above else []
    tops = [above, *(between(a, b) for a, b in pairwise(rows)), below]
    for row, top, bottom in zip(rows, tops, tops[1:], strict=False):
        # a frame that nearly touches the next panel's words stays whole
        inner = [max(b[0] - GAP, min(a[2] + 1.0, b[0])) for a, b in pairwise(row)]
        cuts = [0.0, *inner, width]
        if any(b[0] < a[2] for a, b in pairwise(row)):
            return []
        views += [(x, top, end - x, bottom - top) for x, end in pairwise(cuts)]
    if below < height:
        views.append((0.0, below, width, height - below))
    return views if any(len(row) > 1 for row in rows) else []


def legend(root: ElementTree.Element, rows: list[Any], height: float) -> tuple[float, float]:
    """Where a legend of all panels ends above them, and where one below them starts."""
    above, below = 0.0, height
    for group in root.findall(f"{SVG}g/{SVG}g"):
        if group.get("id", "").startswith("legend"):
            moves = [word.get("transform", "") for word in group.iter(f"{SVG}g")]
            heights = [
                float(m[1]) for t in moves if (m := re.match(r"translate\(\S+ ([\d.]+)\)", t))
            ]
            if heights and max(heights) < rows[0][0][1]:
                above = max(heights) + GAP
            elif heights and min(heights) > rows[-1][0][3]:
                below = min(heights) - 3 * GAP
    return above, below


def frame(group: ElementTree.Element) -> str:
    """Path around the axes of a group; empty for a picture that has none."""
    path = group.find(f"{SVG}g/{SVG}path")
    return "" if path is None else path.attrib["d"]


def between(row: list[Box], below: list[Box]) -> float:
    """Where to cut between two rows: above the titles of the lower one, else in the middle."""
    bottom, top = row[0][3], below[0][1]
    title = min(box[4] for box in below)
    return max(bottom, title - 1.0) if title < top else (bottom + top) / 2


def extent(group: ElementTree.Element) -> Box:
    """Left, top, right, bottom of a group: its frame, and the places where its words start.

    The last number is the top of its title, that of the frame if there is none.
    """
    numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", frame(group))]
    x, y = numbers[::2], numbers[1::2]
    left, title = min(x), min(y)
    for word in group.iter(f"{SVG}g"):
        move = re.match(
            r"translate\((-?[\d.]+) (-?[\d.]+)\)( rotate\(-90)?", word.get("transform", "")
        )
        if move and min(y) - 30 < float(move[2]) < max(y) + 60:
            left = min(left, float(move[1]) - (11 if move[3] else 0))
            title = min(title, float(move[2]) - LETTERS) if float(move[2]) < min(y) - 2 else title
    return left, min(y), max(x), max(y), title


def finish_page(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Fill in what the templates and the head of a page want to know."""
    context["repository"] = app.config.doors_repository
    if doctree is None:
        return
    source = Path(app.env.doc2path(pagename)).relative_to(app.srcdir)
    context["notebook"] = source.as_posix() if source.suffix == ".ipynb" else ""
    words = description(doctree) or app.config.project
    preview = context["pathto"]("_static/preview.png", 1)
    if app.config.html_baseurl:
        preview = f"{app.config.html_baseurl.rstrip('/')}/_static/preview.png"
    title = re.sub("<[^>]*>", "", context["title"])
    tags = {
        "description": words,
        "og:title": unescape(title),
        "og:description": words,
        "og:type": "article",
        "og:image": preview,
        "og:image:alt": app.config.doors_preview_alt,
    }
    context["metatags"] += "\n".join(
        f'<meta {"property" if ":" in name else "name"}="{name}" content="{escape(value)}" />'
        for name, value in tags.items()
    )
    context["body"] = mended(with_panels(app, context["body"]))


def mended(body: str) -> str:
    """Mend what docutils writes: cells of a head without words, roles that no longer are."""
    body = re.sub(r'<th class="head([^"]*)"><p></p></th>', r'<td class="head\1"></td>', body)
    return body.replace('role="doc-biblioentry"', 'role="listitem"')


def with_panels(app: Any, body: str) -> str:
    """Tell each drawing of several panels where they lie."""
    sources = {name: source for source, name in app.builder.images.items()}

    def told(match: re.Match[str]) -> str:
        source = sources.get(match[1])
        views = panels(Path(app.srcdir) / source) if source else []
        data = ";".join(",".join(f"{n:.1f}" for n in view) for view in views)
        return f'{match[0]} data-panels="{data}"' if views else match[0]

    return re.sub(r'<img\b[^>]*? src="[^"]*?_images/([^"/]+\.svg)"', told, body)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("doors_repository", repository(), "html")
    app.add_config_value("doors_preview_alt", "", "html")
    app.add_post_transform(KeepPunctuation)
    app.connect("html-page-context", finish_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
