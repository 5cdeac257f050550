"""Check the English of the book, the coursework and the docstrings against a dictionary.

    python tools/spelling.py

The dictionary is the American one that comes with ``chunspell``; ``tools/words.txt`` adds what it
lacks: names, terms of the field, British forms. Mathematics, code and labels are not read.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from hunspell import Hunspell

ROOT = Path(__file__).resolve().parents[1]
WORDS = ROOT / "tools" / "words.txt"
TEXTS = [
    "*.md",
    "book/**/*.md",
    "notebooks/*.md",
    "notebooks/src/*.md",
    "notebooks/coursework/source/*/*.md",
]
MODULES = ["amgd/**/*.py", "tools/**/*.py"]
# Words with a capital inside (AMGD, NumPy, ValueError) are names.
WORD = re.compile(r"\b[A-Za-z]?[a-z]+(?:['’](?!s\b)[a-z]+)?\b")

CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.M | re.S)
CAPTION = re.compile(r"^    caption: \|\n((?:      .*\n)+)|^    alt: (.*)$", re.M)
# What is no English in a Markdown text, in the order in which it is taken out.
NOT_PROSE = [
    re.compile(pattern, re.M | re.S)
    for pattern in (
        r"\A---\n.*?\n---\n",
        r"^( *)```(?:\{(?:literalinclude|eval-rst|math|code-block|raw|bibliography)\}|\w)"
        r".*?^\1```$",
        r"\$\$.*?\$\$(?: \([\w-]+\))?",
        r"(?<!\\)\$[^$]+\$",
        r"^\([\w-]+\)=$",
        r"^ *:(?!alt:|caption:)[\w-]+:[^\n]*$",  # options of a directive
        r"^ *[`:]{3,}(?:\{[\w:-]+\} *(?:(?:ex|fig)-[\w-]+$)?)?",
        r"\{[\w:]+\}`[^`\n]*`",
        r"``[^\n]+?``|`[^`\n]*`",
        r"(?<=\])\([^)\n]*\)|https?://\S+|</?\w[^>\n]*>|<!--.*?-->|&\w+;|[\w*/-]+\.[a-z]{2,5}\b",
    )
]
# The words that a link shows.
LINK = re.compile(r"\{term\}`([^`<\n]*)`|\{[\w:]+\}`([^`<\n]*)<[^`\n]*>`")
# What is none in a docstring: examples, types, names and formulas.
NOT_WORDS = re.compile(
    r"^( *)\.\. math::.*?\n(?=\1\S|\Z)|^ *(?:>>>|\.\.\.?) [^\n]*$|^ *[\w*, ]+ : [^\n]*$"
    r"|``.*?``|(?::[\w:]+:)?`[^`]*`|[\w*/-]+\.[a-z]{2,5}\b",
    re.M | re.S,
)


def blank(match: re.Match[str]) -> str:
    """Return nothing but the line breaks: lines keep their numbers."""
    return "\n" * match[0].count("\n") or " "


def captions(cell: re.Match[str]) -> str:
    """Return caption and description of a figure, each on its line."""
    kept, end = "", 0
    for found in CAPTION.finditer(cell[0]):
        kept += "\n" * cell[0].count("\n", end, found.start()) + found[0]
        end = found.end()
    return kept + "\n" * cell[0].count("\n", end)


def prose(markdown: str) -> str:
    """Return the English of a text, on the lines where it stands."""
    text = LINK.sub(r"\1\2", CELL.sub(captions, markdown))
    for pattern in NOT_PROSE:
        text = pattern.sub(blank, text)
    return text


def docstrings(code: str) -> str:
    """Return the English of a module, on the lines where it stands."""
    source = code.split("\n")
    lines = [""] * len(source)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            where = slice(node.body[0].lineno - 1, node.body[0].end_lineno)
            lines[where] = NOT_WORDS.sub(blank, "\n".join(source[where])).split("\n")
    return "\n".join(lines)


def unknown(text: str, dictionary: Hunspell) -> Iterator[tuple[int, str]]:
    """Yield line and word of what the dictionary does not have."""
    for number, line in enumerate(text.split("\n"), start=1):
        for word in WORD.findall(line):
            if len(word) > 2 and not dictionary.spell(word.replace("’", "'")):
                yield number, word


def main() -> int:
    """Print what is unknown; return 1 if there is any."""
    dictionary = Hunspell("en_US")
    for word in WORDS.read_text("utf8").split():
        dictionary.add(word)
    found = 0
    for patterns, english in ((TEXTS, prose), (MODULES, docstrings)):
        for path in sorted(p for pattern in patterns for p in ROOT.glob(pattern)):
            for line, word in unknown(english(path.read_text("utf8")), dictionary):
                print(f"{path.relative_to(ROOT)}:{line}: unknown word {word}")
                found += 1
    if found:
        print(f"{found} unknown: mend them, or add them to tools/words.txt in its order")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
