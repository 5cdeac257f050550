"""The language of docstrings and comments: one for all files."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    p for d in ("amgd", "tests", "tools", "benchmarks", "book") for p in (ROOT / d).rglob("*.py")
]
PACKAGE = [path for path in FILES if path.is_relative_to(ROOT / "amgd")]
EXAMPLE = re.compile(r"\s*(>>>|\.\.\.)\s")
WIDE = re.compile(r"[.:?!][\"'`*)\]]* {2,}[A-Za-z$`(*:]")
FOREIGN = re.compile(r"(?<![\w\\`$])\$(?!\s)[^$\n`]+(?<!\s)\$(?!\w)|\$\$|\{[\w:]+\}`")
STATEMENT = re.compile(r":prf:ref:`([\w-]+)`")
LABEL = re.compile(r":label:\s*([\w-]+)")


def docstrings(path: Path) -> Iterator[str]:
    """Docstrings of a module and of everything in it."""
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def comments(path: Path) -> Iterator[str]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf8")).readline)
    return (token.string for token in tokens if token.type == tokenize.COMMENT)


def wide(text: str) -> list[str]:
    """Lines with two blanks after a sentence, examples left out."""
    return [line for line in text.splitlines() if WIDE.search(line) and not EXAMPLE.match(line)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One.  Two.", True),
        ("(One.)  Two.", True),
        ("*One.*  `two` is", True),
        ("One. Two.", False),
        (">>> print('One.  Two.')", False),
        ("array([1.  , 0.5 ])", False),
        ("a  b", False),
    ],
)
def test_what_counts_as_wide(text, found):
    assert bool(wide(text)) == found


def test_one_blank_stands_after_a_sentence():
    found = {
        str(path.relative_to(ROOT)): lines
        for path in FILES
        if (lines := [line for text in (*docstrings(path), *comments(path)) for line in wide(text)])
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"Row s is $\phi(s)$.", True),
        ("$$a = b$$", True),
        ("See {prf:ref}`thm-1`.", True),
        (r"Row s is :math:`\phi(s)`.", False),
        ("costs 3$ or 4$", False),
    ],
)
def test_what_counts_as_the_language_of_pages(text, found):
    assert bool(FOREIGN.search(text)) == found


def test_docstrings_of_the_package_are_restructured_text():
    """The pages are written in MyST, but Sphinx reads docstrings as reStructuredText."""
    found = {path.name for path in PACKAGE for text in docstrings(path) if FOREIGN.search(text)}
    assert found == set()


def test_docstrings_refer_to_statements_that_the_book_has():
    pages = [*(ROOT / "book").rglob("*.md"), *(ROOT / "notebooks" / "src").glob("*.md")]
    labels = {label for page in pages for label in LABEL.findall(page.read_text("utf8"))}
    used = {label for p in PACKAGE for text in docstrings(p) for label in STATEMENT.findall(text)}
    assert used
    assert used <= labels
