"""The page on which a reader in Jupyter starts: the chapters in the order of the book."""

import json
import re
from pathlib import Path

import yaml

HEAD = """# Accelerated Markov gradient descent: the notebooks

Read them in this order; each runs on its own, in about a minute.

- A grey bar folds code that draws or checks: click it to open.
- Hints, answers and solutions are folded: guess first.
- *Run > Run All Cells* computes every number and figure anew.
- A link into another chapter opens its notebook.
  Follow it again if it stays at the top: the place was not drawn yet.
"""
FOOT = """The same text as pages: `make book`.
Beside the chapters: [notation](../book/notation.md), [glossary](../book/glossary.md),
[errata of the paper](../book/errata.md).
"""


def page(toc: Path, notebooks: dict[str, str]) -> str:
    """Title and question of each chapter, part by part."""
    lines = [HEAD]
    for part in yaml.safe_load(toc.read_text("utf8"))["parts"]:
        names = [chapter["file"].removeprefix("notebooks/") for chapter in part["chapters"]]
        items = [entry(name, notebooks[name]) for name in names if name in notebooks]
        if items:
            lines += [f"## {part['caption']}\n", *items, ""]
    return "\n".join([*lines, FOOT])


def entry(name: str, notebook: str) -> str:
    """A link with the chapter's title, and its question: the first two blocks of the notebook."""
    source = "".join(json.loads(notebook)["cells"][0]["source"])
    title, question, *_ = source.split("\n\n")
    title = re.sub(r"<a .*?</a>|^# ", "", title)
    question = question.split("\n")[0].strip("*")
    return f"- [{title}]({name}.ipynb): {question}"
