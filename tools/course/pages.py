"""Draw cells as HTML, harmlessly; these functions are called apart (`apart.call`).

A page loads nothing from outside and runs no script but MathJax beside it (and, on the page to mark
on, the one that this module wrote). Answers are shown with the pictures that were pasted into them.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

MATHJAX = "mathjax.js"
MARKDOWN_LIMIT = 20_000  # characters of a text that is drawn; an answer of 300 words has 2,000
PAGE_LIMIT = 30 * 2**20  # characters of a page
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self' file:"
ADDRESSES = (
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "poster",
    "background",
    "data",
    "xlink:href",
)
DANGEROUS = [
    *("script", "link", "iframe", "frame", "object", "embed", "base", "form", "meta", "svg"),
    *("style", "input", "button", "textarea", "select", "template"),
]
STYLE = Path(__file__).with_name("pages.css").read_text("utf8")
CODE_STYLE = HtmlFormatter().get_style_defs("pre")


def harmless(fragment: str) -> str:
    """HTML without scripts, styles of its own, forms, and anything from outside."""
    soup = BeautifulSoup(fragment, "html.parser")
    for tag in soup(DANGEROUS):
        tag.decompose()
    for tag in soup(True):
        for name in list(tag.attrs):
            value = str(tag[name]).strip().lower()
            local = value.startswith(("#", "data:image/png;", "data:image/jpeg;"))
            style = name.lower() in ("style", "id", "class")
            if name.lower().startswith("on") or style or (name.lower() in ADDRESSES and not local):
                del tag[name]
    return str(soup)


def markdown(source: str, pictures: dict[str, dict[str, str]] | None = None) -> str:
    """Markdown as HTML, formulas left for MathJax, pasted pictures in their places.

    What is too long or too deep to be read as Markdown is shown as it stands.
    """
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True, attachments=pictures or {})
    try:
        short = len(source) <= MARKDOWN_LIMIT  # the time grows with the square of the length
        shown = MarkdownWithMath(renderer=renderer).render(source) if short else plain(source)
    except (RecursionError, ValueError, TypeError):
        shown = plain(source)
    for name, bundle in (pictures or {}).items():  # one that the text does not show is shown too
        if f"attachment:{name}" not in source:
            ((kind, data),) = bundle.items()
            shown += f'<p><img alt="{html.escape(name)}" src="data:{kind};base64,{data}"></p>'
    return harmless(shown)


def plain(text: str) -> str:
    """Text as it stands."""
    return f"<pre>{html.escape(text)}</pre>"


def output(told: dict[str, Any]) -> str:
    """An output of a cell."""
    if told["output_type"] == "stream":
        return plain(told["text"])
    if told["output_type"] == "error":
        return f'<pre class="error">{html.escape(chr(10).join(told["traceback"]))}</pre>'
    data = told["data"]
    if picture := re.sub(r"[^A-Za-z0-9+/=]", "", data.get("image/png", "")):
        return f'<p><img alt="figure" src="data:image/png;base64,{picture}"></p>'
    return plain(data.get("text/plain", ""))


def cell(one: dict[str, Any]) -> str:
    """A cell with its outputs."""
    if one["cell_type"] == "markdown":
        return markdown(one["source"], one.get("attachments"))
    if one["cell_type"] != "code":
        return plain(one["source"])
    code = f"<pre>{highlight(one['source'], PythonLexer(), HtmlFormatter(nowrap=True))}</pre>"
    return code + "".join(map(output, one.get("outputs", [])))


def page(title: str, body: str, scripts: str = "", policy: str = "", wide: str = "") -> str:
    """A whole page; only scripts that stand in its policy run."""
    allowed = f"{POLICY} {policy}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
        f"<title>{html.escape(title)}</title><style>{STYLE}{CODE_STYLE}</style>{scripts}</head>"
        f'<body class="{wide}">{body}</body></html>\n'
    )


def said(score: dict[str, Any]) -> str:
    """Points of a cell in words."""
    if score["waits"]:
        return (
            f'<p class="waits">{score["name"]}: waits to be read, up to {score["of"]:g} points.</p>'
        )
    points = f"{score['points']:g} of {score['of']:g}"
    kind = "good" if score["points"] == score["of"] else "bad"
    comment = f'<p class="comment">{html.escape(score["comment"])}</p>' if score["comment"] else ""
    return f'<p class="score {kind}">{score["name"]}: {points}</p>{comment}'


def head(told: dict[str, Any]) -> str:
    """Name, points, and a line for each question."""
    lines = [f"<h1>{html.escape(told['title'])}</h1><p>{html.escape(told['student'])}</p>"]
    lines += [f'<p class="error">{html.escape(text)}</p>' for text in told["troubles"]]
    waits = f", and {told['waiting']:g} points wait to be read" if told["waiting"] else ""
    lines.append(f'<p class="score">{told["points"]:g} of {told["of"]:g} points{waits}</p><table>')
    for name, points, of, waiting in told["questions"]:
        note = "waits to be read" if waiting else ""
        lines.append(
            f"<tr><td>{html.escape(name)}</td><td>{points:g} of {of:g}</td><td>{note}</td></tr>"
        )
    return "".join(lines) + "</table>"


def feedback(notebook: str | None, target: str, told: dict[str, Any]) -> dict[str, str]:
    """Write the page of a student; give the written answers as HTML, by their cells."""
    body, answers = [head(told)], {}
    cells = json.loads(Path(notebook).read_text("utf8"))["cells"] if notebook else []
    for one in cells:
        score = told["cells"].get(one["id"])
        if one["cell_type"] == "code" and score and score["hidden"]:
            one["source"] = score["hidden"]
        drawn = cell(one)
        if score and score["written"]:
            answers[one["id"]] = drawn
        body.append(drawn + (said(score) if score else ""))
    text = "\n".join(body)
    if len(text) > PAGE_LIMIT:
        raise ValueError(f"the page has {len(text)} characters (limit {PAGE_LIMIT})")
    script = f'<script src="../../{MATHJAX}"></script>'
    Path(target).write_text(page(told["title"], text, script), "utf8")
    return answers if sum(map(len, answers.values())) < 4 * 2**20 else _without_pictures(answers)


def _without_pictures(answers: dict[str, str]) -> dict[str, str]:
    """Answers that are small enough to hand over; their pictures stand on the feedback page."""
    note = "<p>[a large picture: see the feedback page]</p>"
    return {c: re.sub(r"<img [^>]*>", note, text)[: 2**20] for c, text in answers.items()}
