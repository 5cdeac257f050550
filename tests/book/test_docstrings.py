"""The small extension that lets docstrings use the mathematics and references of the chapters."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "book" / "_ext" / "docstrings.py"
spec = importlib.util.spec_from_file_location("docstrings", SOURCE)
docstrings = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docstrings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"Row s is $\phi(s)$.", r"Row s is :math:`\phi(s)`."),
        ("$a$, $b$", ":math:`a`, :math:`b`"),
        ("a $x +\n    y$ b", "a :math:`x + y` b"),
        ("costs 3$ or 4$", "costs 3$ or 4$"),
        ("``$HOME and $PATH``", "``$HOME and $PATH``"),
        (">>> print('$a$')", ">>> print('$a$')"),
        (":math:`d(k)` stays", ":math:`d(k)` stays"),
        ("See {prf:ref}`thm-1`.", "See :prf:ref:`thm-1`."),
        ("See {prf:ref}`thm-9`.", "See ``thm-9``."),
        ("  $$a\n  = b.$$\nend", "\n  .. math::\n\n     a\n     = b.\n\nend"),
        ("no mathematics", "no mathematics"),
    ],
)
def test_conversion(text, expected):
    assert docstrings.converted(text, {"thm-1"}) == expected


def test_labels_come_from_text_and_notebooks_and_refresh_the_api_page(tmp_path):
    (tmp_path / "a.md").write_text("```{prf:theorem}\n:label: thm-1\n```\n", "utf8")
    (tmp_path / "b.ipynb").write_text('["```{prf:lemma}\\n", ":label: lem-2\\n"]', "utf8")
    env = SimpleNamespace(
        found_docs={"a.md", "b.ipynb"}, doc2path=lambda name: tmp_path / name, amgd_labels={"thm-1"}
    )
    docnames: list[str] = []
    docstrings.collect_labels(None, env, docnames)
    assert env.amgd_labels == {"thm-1", "lem-2"}
    assert docnames == [docstrings.API]
    docstrings.collect_labels(None, env, docnames)
    assert docnames == [docstrings.API]
