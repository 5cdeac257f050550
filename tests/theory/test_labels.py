"""Every statement of the book that has a bound is named by a test.

A statement is a {prf:theorem}, {prf:lemma}, {prf:proposition} or {prf:corollary} with a label.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

DIRECTIVE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|:{3,})\{prf:(?:theorem|lemma|proposition|corollary)\}[^\n]*\n"
    r"(?P<options>(?:[ \t]*:[\w-]+:[^\n]*\n)*)",
    re.MULTILINE,
)
LABEL = re.compile(r"^[ \t]*:label:[ \t]*(\S+)[ \t]*$", re.MULTILINE)


def labels_in(text):
    """Labels of the statements in one MyST source."""
    found = []
    for directive in DIRECTIVE.finditer(text):
        found += LABEL.findall(directive["options"])
    return found


def sources():
    pages = [*(ROOT / "notebooks" / "src").glob("*.md"), *(ROOT / "book").rglob("*.md")]
    return sorted(page for page in pages if "_build" not in page.parts)


def stated():
    """label -> pages that state it."""
    pages = {}
    for page in sources():
        for label in labels_in(page.read_text(encoding="utf-8")):
            pages.setdefault(label, []).append(page.relative_to(ROOT).as_posix())
    return pages


def marked():
    """Labels in the marks @pytest.mark.theorem("label") on the tests."""
    labels = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == (
                        "pytest.mark.theorem"
                    ):
                        labels.add(ast.literal_eval(mark.args[0]))
    return labels


def test_labels_are_found():
    text = """
```{prf:theorem} Title
:label: thm-9

Body with :label: no.
```
::::{prf:lemma}
:nonumber:
:label: lem-9
::::
```{prf:definition} Not a statement with a bound
:label: def-9
```
"""
    assert labels_in(text) == ["thm-9", "lem-9"]
    assert {"thm-1", "thm-2", "thm-3"} <= marked()


def test_every_statement_has_a_test():
    known = marked()
    missing = {label: pages for label, pages in stated().items() if label not in known}
    assert not missing, f"no test is marked with these labels: {missing}"


def test_every_label_is_stated_once():
    repeated = {label: pages for label, pages in stated().items() if len(pages) > 1}
    assert not repeated


def test_every_mark_names_a_statement():
    unknown = marked() - set(stated())
    assert not unknown, f"tests are marked with labels that no page states: {sorted(unknown)}"
