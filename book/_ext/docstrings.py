"""Docstrings may speak the language of the chapters: ``$...$`` and ``{prf:ref}``.

The docstrings of the package are read as reStructuredText.
This extension turns, before anything else sees them,

- ``$...$`` into the role ``math`` and ``$$...$$`` into the directive of that name;
- a MyST reference to a theorem into the reStructuredText one.
  A label that no page defines is shown as it stands: the package can state a bound before its chapter exists.

Code between double backquotes and lines of an example (``>>>``) are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

API = "book/api"

DISPLAY = re.compile(r"^([ ]*)\$\$(.+?)\$\$", re.M | re.S)
INLINE = re.compile(r"(?<![\\\w$`])\$(?!\s)([^$`]+?)(?<!\s)\$(?![\w$`])", re.S)
PROOF = re.compile(r"\{prf:ref\}`([\w-]+)`")
LABEL = re.compile(r":label:\s*([\w-]+)")  # in Markdown, and in the JSON of a notebook
LITERAL = re.compile(r"(``.+?``|^[ ]*(?:>>>|\.\.\.).*$)", re.M | re.S)


def converted(text: str, labels: set[str]) -> str:
    """Return a docstring as reStructuredText; `labels` are the theorems that the book defines."""

    def display(match: re.Match[str]) -> str:
        indent, body = match.groups()
        lines = [f"{indent}   {line.strip()}" for line in body.strip().splitlines()]
        return "\n".join(["", f"{indent}.. math::", "", *lines, ""])

    def inline(match: re.Match[str]) -> str:
        return f":math:`{' '.join(match[1].split())}`"

    def proof(match: re.Match[str]) -> str:
        return f":prf:ref:`{match[1]}`" if match[1] in labels else f"``{match[1]}``"

    parts = LITERAL.split(DISPLAY.sub(display, text))
    parts[::2] = [INLINE.sub(inline, PROOF.sub(proof, part)) for part in parts[::2]]
    return "".join(parts)


def collect_labels(app: Any, env: Any, docnames: list[str]) -> None:
    """Find the labels of all pages; when they have changed, the API page is read again."""
    pages = [Path(env.doc2path(name)) for name in env.found_docs]
    labels = {label for page in pages for label in LABEL.findall(page.read_text("utf8"))}
    if labels != getattr(env, "amgd_labels", labels) and API not in docnames:
        docnames.append(API)
    env.amgd_labels = labels


def convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place, as autodoc wants it."""
    lines[:] = converted("\n".join(lines), app.env.amgd_labels).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("env-before-read-docs", collect_labels)
    app.connect("autodoc-process-docstring", convert, priority=100)  # before napoleon, at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
