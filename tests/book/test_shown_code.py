"""What a page shows of its code: the picture first, and no name that it does not define.

Cells that are hidden from a page may define what its open code uses, if a listing shows them
(``literalinclude`` of the chapter's own text, folded).
"""

import ast
import builtins
import re
from pathlib import Path

import jupytext
import pytest

SOURCES = Path(__file__).resolve().parents[2] / "notebooks" / "src"
# The chapters before do not list all that their first cells define.
TEXTS = [path for path in sorted(SOURCES.glob("*.md")) if path.stem >= "08"]


@pytest.fixture(params=TEXTS, ids=lambda p: p.stem)
def text(request) -> str:
    return request.param.read_text("utf8")


def code_cells(text: str) -> list:
    cells = jupytext.reads(text, fmt="md:myst").cells
    return [(c, set(c.metadata.get("tags", []))) for c in cells if c.cell_type == "code"]


def parsed(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(re.sub(r"^%.*", "", source, flags=re.M))))


def defined(nodes: list[ast.AST]) -> set[str]:
    """Names that code makes, arguments of its functions included."""
    names = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    names |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    names |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names | {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}


def imported(nodes: list[ast.AST]) -> set[str]:
    found = [a for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names]
    return {(a.asname or a.name).split(".")[0] for a in found}


def listings(text: str) -> str:
    """Code of the chapter that its folded listings show."""
    shown, lines = [], text.split("\n")
    for options in re.findall(r"^```\{literalinclude\} src/.*\n((?::.*\n)+)", text, re.M):
        told = {k: v.strip("'\"") for k, v in re.findall(r"^:([\w-]+): (.*)$", options, re.M)}
        start = next(i for i, line in enumerate(lines) if told["start-at"] in line)
        last = told.get("end-at") or told["end-before"]
        end = next(i for i in range(start, len(lines)) if last in lines[i])
        shown.append("\n".join(lines[start : end + ("end-at" in told)]))
    return "\n".join(shown)


def test_the_picture_is_the_first_of_the_cells_that_show(text):
    cell = next(c for c, tags in code_cells(text) if "remove-cell" not in tags)
    assert "figure" in cell.metadata.get("mystnb", {}), cell.source[:200]


def test_open_code_uses_no_name_that_the_page_does_not_define(text):
    cells = code_cells(text)
    imports = set().union(*(imported(parsed(c.source)) for c, _ in cells))
    hidden = set().union(*(defined(parsed(c.source)) for c, t in cells if "remove-cell" in t))
    known = imports | set(dir(builtins)) | defined(parsed(listings(text)))
    for cell, tags in cells:
        if "remove-cell" in tags:
            continue
        nodes = parsed(cell.source)
        known |= defined(nodes)
        if not tags & {"hide-input", "remove-input"}:
            used = {n.id for n in nodes if isinstance(n, ast.Name)}
            assert (used & hidden) - known == set(), cell.source[:200]
