"""The build's own tools, on small trees."""

from pathlib import Path

import pytest

from tools import fresh_build
from tools.sync_notebooks import differing, notebook_json

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


def test_an_edit_changes_the_ids_of_the_edited_cells_only() -> None:
    import json

    before, after = (
        json.loads(notebook_json(t))["cells"] for t in (TEXT, TEXT.replace("A sentence", "Two"))
    )
    assert [a["id"] == b["id"] for a, b in zip(before, after, strict=True)] == [False, True, True]
    assert notebook_json(TEXT) == notebook_json(TEXT)


def test_a_pair_that_differs_is_named(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "01_a.md").write_text(TEXT)
    assert differing(tmp_path) == ["01_a"]
    (tmp_path / "01_a.ipynb").write_text(notebook_json(TEXT))
    assert differing(tmp_path) == []
    (tmp_path / "01_a.ipynb").write_text(notebook_json(TEXT).replace("x = 1", "x = 2"))
    assert differing(tmp_path) == ["01_a"]
    (tmp_path / "02_b.ipynb").write_text(notebook_json(TEXT))
    assert differing(tmp_path) == ["01_a", "02_b"]
