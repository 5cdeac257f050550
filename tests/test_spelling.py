"""The spell checker reads what is English in a page, and nothing else."""

import pytest
from hunspell import Hunspell

from tools.spelling import WORDS, docstrings, prose, unknown

PAGE = """---
jupytext: frontt
---

(ch-labell)=
# A headingg

A wrod, {term}`a terrm`, {ref}`shwon <ref-labell>`, [linkk](http://targett.org) and Markov's chian.
Nothing here: `codde`, {ref}`labell`, $\\mathcall{A}$, AMGDD, amgd/filee.py, {cite:p}`keyy`.

$$
\\alphaa
$$ (eq-labell)

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-labell
    caption: |
      A captoin.
  image:
    alt: A pictuer.
---
codde = "wrnog"
```

````{prf:theorem} A titel
:label: thm-labell

It holsd.

```{admonition} Answr
:class: dropdownn

- Becuase.
```
````

```python
codde
```
"""
MODULE = '''"""A modul of ``codde``."""


def nothing(argg: int) -> None:  # a commment
    """It dose :math:`\\\\alphaa` nothng.

    argg : intt
        A numbr.

    >>> nothingg(1)
    """
    codde = "wrnog"
'''


@pytest.fixture
def dictionary() -> Hunspell:
    return Hunspell("en_US")


@pytest.mark.parametrize(
    ("text", "english", "wrong"),
    [
        (
            PAGE,
            prose,
            "headingg wrod terrm shwon linkk chian captoin pictuer titel holsd Answr Becuase",
        ),
        (MODULE, docstrings, "modul nothng numbr"),
    ],
)
def test_slips_are_found_on_their_lines(text, english, wrong, dictionary):
    found = list(unknown(english(text), dictionary))
    assert [word for _, word in found] == wrong.split()
    lines = text.split("\n")
    assert all(word in lines[number - 1] for number, word in found)


def test_the_word_list_is_in_order_and_holds_what_the_dictionary_lacks(dictionary):
    words = WORDS.read_text("utf8").split()
    assert words == sorted(set(words), key=str.lower)
    assert [word for word in words if dictionary.spell(word)] == []
