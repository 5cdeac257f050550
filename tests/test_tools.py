"""The build's own tools, on small trees."""

from pathlib import Path

import pytest

from tools import fresh_build
from tools.notebooks import tex, text
from tools.notebooks.markdown import escape, fold, quoted

TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Title

A sentence.

```{code-cell} ipython3
x = 1
```

```{code-cell} ipython3
x = 1
```
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "amgd").mkdir()
    (tmp_path / "book" / "results").mkdir(parents=True)
    (tmp_path / "amgd" / "a.py").write_text("CONSTANT = 1\n")
    (tmp_path / "constraints.txt").write_text("numpy==2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "content", "forgotten"),
    [
        ("amgd/a.py", "CONSTANT = 2\n", True),
        ("amgd/new.py", "", True),
        ("amgd/style.mplstyle", "x", True),
        ("constraints.txt", "numpy==3\n", True),
        ("book/results/figure/a.csv", "1\n", True),
        ("amgd/__pycache__/a.pyc", "x", False),
        ("README.md", "words", False),
        ("amgd/a.py", "CONSTANT = 1\n", False),
    ],
)
def test_executed_pages_are_forgotten_when_sources_change(
    tree: Path, path: str, content: str, forgotten: bool
) -> None:
    build = tree / "_build"
    fresh_build.forget_stale(tree, build)
    (build / "page.html").write_text("executed")
    assert not fresh_build.forget_stale(tree, build), "unchanged sources keep the build"
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(content)
    assert fresh_build.forget_stale(tree, build) is forgotten
    assert (build / "page.html").exists() is not forgotten


def test_a_build_of_unknown_origin_is_forgotten(tree: Path) -> None:
    (tree / "_build").mkdir()
    (tree / "_build" / "page.html").write_text("executed")
    assert fresh_build.forget_stale(tree, tree / "_build")


@pytest.mark.parametrize("written", [False, True])
def test_a_build_that_was_stopped_is_read_again_but_not_run_again(
    tree: Path, written: bool
) -> None:
    build = tree / "_build"
    fresh_build.forget_stale(tree, build)
    for name in (".doctrees/environment.pickle", ".jupyter_cache/result", "html/page.html"):
        (build / name).parent.mkdir(exist_ok=True)
        (build / name).write_text("")
    if written:
        (build / "html" / "searchindex.js").write_text("")
    assert not fresh_build.forget_stale(tree, build)
    assert (build / ".doctrees").exists() is written
    assert (build / ".jupyter_cache" / "result").exists()


def test_an_edit_changes_the_ids_of_the_edited_cells_only() -> None:
    before, after = (text.cells_of(t).cells for t in (TEXT, TEXT.replace("A sentence", "Two")))
    assert [a.id == b.id for a, b in zip(before, after, strict=True)] == [False, True, True]
    assert len({cell.id for cell in before}) == 3
    assert text.as_json(text.cells_of(TEXT)) == text.as_json(text.cells_of(TEXT))


@pytest.mark.parametrize(
    ("changed", "same"),
    [("A sentence", True), ("# Title", True), ("x = 1", False)],
)
def test_numbers_are_as_old_as_the_code(changed: str, same: bool) -> None:
    before, after = (text.cells_of(t) for t in (TEXT, TEXT.replace(changed, "y = 2")))
    assert (text.code_digest(before) == text.code_digest(after)) is same


def test_stand_ins_glue_what_the_run_has_glued() -> None:
    notebook, numbers = text.cells_of(TEXT), {"01-a": "'-0.5'", "01-b": "3"}
    text.add_stand_ins(notebook, numbers)
    assert text.glued(notebook) == numbers


MACROS: tex.Macros = {
    "R": r"\mathbb{R}",
    "E": r"\mathbb{E}",
    "xbar": r"\bar{x}",
    "loud": r"\alpha",
    "tmix": r"t_{\mathrm{mix}}",
    "norm": [r"\lVert #1\rVert", 1],
    "inner": [r"\langle #1, #2\rangle", 2],
}


@pytest.mark.parametrize(
    ("formula", "expanded"),
    [
        (r"x\in\R^d", r"x\in\mathbb{R}^d"),
        (r"\xbar_k", r"\bar{x}_k"),
        (r"\loud x", r"\alpha x"),
        (r"k\ge\tmix", r"k\ge t_{\mathrm{mix}}"),
        (r"\norm{x}^2", r"\lVert x\rVert^2"),
        (r"\norm Q\le2", r"\lVert Q\rVert\le2"),
        (r"\norm\cdot", r"\lVert \cdot\rVert"),
        (r"\norm{\frac{a}{b}}", r"\lVert \frac{a}{b}\rVert"),
        (r"\norm{\{a\}}", r"\lVert \{a\}\rVert"),
        (r"\norm{\xbar-\norm{y}}", r"\lVert \bar{x}-\lVert y\rVert\rVert"),
        (r"\E\inner{a}{b}", r"\mathbb{E}\langle a, b\rangle"),
        (r"\inner{a} b", r"\langle a, b\rangle"),
        (r"a\\R", r"a\\R"),
        (r"\normal\Ran", r"\normal\Ran"),
        (r"x+y", r"x+y"),
    ],
)
def test_macros_are_expanded(formula: str, expanded: str) -> None:
    assert tex.expand(formula, MACROS) == expanded


def test_an_open_brace_is_named() -> None:
    with pytest.raises(ValueError, match=r"a brace is not closed in '.*norm\{x'"):
        tex.expand(r"\norm{x", MACROS)


@pytest.mark.parametrize(
    ("formula", "number", "shown"),
    [
        ("a\n= b", "", "$$ a = b $$"),
        ("a", "5.1", r"$$ a \tag{5.1} $$"),
        ("a\\\\\nb", "", r"$$ \begin{aligned} a\\ b \end{aligned} $$"),
        (r"\begin{cases}a\\b\end{cases}", "", r"$$ \begin{cases}a\\b\end{cases} $$"),
    ],
)
def test_a_displayed_formula_is_one_line(formula: str, number: str, shown: str) -> None:
    assert tex.displayed(formula, number) == shown


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("two * three", r"two \* three"),
        ("snake_case stays", "snake_case stays"),
        ("_private", r"\_private"),
        ("[0, 1]", r"\[0, 1\]"),
        ("costs 3 $", r"costs 3 \$"),
        ("a < b", "a &lt; b"),
        ("a\\b", r"a\\b"),
    ],
)
def test_text_is_no_markup(plain: str, escaped: str) -> None:
    assert escape(plain) == escaped


def test_boxes_and_folds() -> None:
    assert quoted("a\n\nb") == "> a\n>\n> b"
    assert fold("Hint", "a").splitlines() == [
        "<details>",
        "<summary><b>Hint</b></summary>",
        "",
        "a",
        "",
        "</details>",
    ]
