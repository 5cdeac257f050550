"""What a reader meets, by the text of the chapters: pictures, predictions, quiz, names, proofs."""

import ast
import builtins
import math
import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {p.stem: p.read_text("utf8") for p in sorted((ROOT / "notebooks" / "src").glob("*.md"))}
DRAWS = re.compile(r"plt\.(subplots|figure)\(|\.subplots\(")


def code(name: str) -> list:
    """Code cells of a chapter, each with its tags and its source."""
    cells = jupytext.reads(TEXTS[name], fmt="md:myst").cells
    return [(c.metadata.get("tags", []), c) for c in cells if c.cell_type == "code"]


def part(text: str, heading: str) -> str:
    """Text under a heading, to the next one of its level."""
    found = re.search(rf"^## {heading}$(.*?)(?=^(?:\(\S+\)=\n)?## |\Z)", text, re.M | re.S)
    assert found, heading
    return found[1]


@pytest.mark.parametrize("name", TEXTS)
def test_a_chapter_begins_with_its_picture(name):
    """A sentence or more, and no code before the first figure but what is hidden from the page."""
    for tags, cell in code(name):
        if "figure" in cell.metadata.get("mystnb", {}):
            return
        assert {"remove-cell", "remove-input"} & set(tags), cell.source[:200]
    raise AssertionError("no figure")


@pytest.mark.parametrize("name", TEXTS)
def test_code_that_draws_is_folded(name):
    folded = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
    for tags, cell in code(name):
        if DRAWS.search(cell.source):
            assert folded & set(tags), cell.source[:200]


@pytest.mark.parametrize("name", TEXTS)
def test_headings_say_what_a_section_says(name):
    headings = re.findall(r"^##+ (.+)$", TEXTS[name], re.M)
    empty = {"The setting", "The exact answer first", "The algorithm", "A live experiment"}
    empty |= {"The theorem", "Bound and measurement", "As printed", "Corrected"}
    assert empty & set(headings) == set()


def numbers(text: str) -> set[str]:
    """Numbers from 3 on, with their signs, and the names of numbers that a run gives."""
    given = set(re.findall(r"\{glue[^}]*\}`([^`:]+)", text))
    text = re.sub(r"\{[\w:]+\}`[^`]*`|\b(?:Theorem|Chapter|Algorithm|Figure) \d+", "", text)
    text = re.sub(r"^\(\S+\)=$|fig-[\w-]+", "", text, flags=re.M)
    text = re.sub(r"(?<=\d)(?:\\,|\s)(?=\d{3}\b)", "", text)  # 10 000
    found = re.findall(r"(?<![\w.^_{/])[-−]?\d+(?:\.\d+)?(?![\w^])", text)
    return given | {n for n in found if n not in ("0", "1", "2")}


def items(text: str) -> list[str]:
    return re.split(r"^\d\. ", text, flags=re.M)[1:]


@pytest.mark.parametrize("name", TEXTS)
def test_answers_of_predictions_do_not_stand_above_them(name):
    """The numbers of the first sentence of an answer, but those that its question names."""
    text = TEXTS[name]
    above = text[: text.index("\n## Predict before you see\n")]
    told = numbers("\n".join(prose_and_captions(above)))
    section = part(text, "Predict before you see")
    asked, answered = section.split("```{admonition}", 1)
    pairs = list(zip(items(asked), items(answered), strict=True))
    assert pairs
    for question, answer in pairs:
        first = re.split(r"(?<=[.:;]) ", answer.strip(), maxsplit=1)[0]
        assert (numbers(first) - numbers(question)) & told == set(), answer


def prose_and_captions(text: str) -> list[str]:
    """Lines of a text without the code of its cells."""
    kept, inside, options = [], False, False
    for line in text.splitlines():
        if line.startswith("```{code-cell}"):
            inside, options = True, False
        elif inside and line == "```":
            inside = False
        elif inside and line == "---":
            options = not options
        elif not inside or options:
            kept.append(line)
    return kept


@pytest.mark.parametrize("name", TEXTS)
def test_words_about_a_figure_hold_in_the_dark(name):
    """There a drawing is turned inside out: colours and grey stay, black becomes white."""
    lines = [x for x in prose_and_captions(TEXTS[name]) if not x.lstrip().startswith("alt:")]
    turned = re.compile(r"\b(?:black|white|bright\w*|dark\w*|light(?:er)? \w+s)\b", re.I)
    assert [line for line in lines if turned.search(line)] == []


def quiz() -> list[tuple[str, dict[str, str]]]:
    """Key and options of every question of the book."""
    questions = []
    for text in TEXTS.values():
        for question in re.split(r"^\*\*\d\.\*\*", part(text, "Quiz"), flags=re.M)[1:]:
            asked, answer = question.split("{admonition} Answer", 1)
            key = re.search(r"\*\*\((\w)\)", answer)
            assert key, question
            questions.append((key[1], dict(re.findall(r"^- \((\w)\) (.*)", asked, re.M))))
    return questions


def test_no_letter_is_a_good_guess():
    keys = Counter(key for key, _ in quiz())
    assert max(keys.values()) <= 0.45 * keys.total(), keys


def test_the_longest_option_is_no_good_guess():
    """Right no more often than by chance, up to two standard deviations of chance."""
    chances = [1 / len(options) for _, options in quiz()]
    right = sum(
        all(len(options[key]) > len(o) for k, o in options.items() if k != key)
        for key, options in quiz()
    )
    spread = math.sqrt(sum(p * (1 - p) for p in chances))
    assert right <= sum(chances) + 2 * spread


def bound(tree: ast.AST) -> set[str]:
    """Names that a cell defines at its top level or in a comprehension."""
    names = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    names |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return names | {n.name for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.name}


def imported(tree: ast.AST) -> set[str]:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    return {(a.asname or a.name).split(".")[0] for n in found for a in n.names}


def shown(text: str) -> set[str]:
    """Names that a page defines in hidden cells and shows the code of, from its own text."""
    names: set[str] = set()
    lines = text.splitlines()
    for box in re.findall(r"^```\{literalinclude\} src/\S+\n(.*?)^```$", text, re.M | re.S):
        options = re.findall(r"^:(start-at|end-at|end-before): (.*)$", box, re.M)
        (_, start), (kind, end) = [(option, words.strip("'\"")) for option, words in options]
        first = next(i for i, line in enumerate(lines) if start in line)
        last = next(i for i, line in enumerate(lines) if i >= first and end in line)
        names |= bound(ast.parse("\n".join(lines[first : last + (kind == "end-at")])))
    return names


@pytest.mark.parametrize("name", TEXTS)
def test_visible_code_uses_names_that_the_page_defines(name):
    """In a visible cell, or in a hidden one whose code a box of the page shows."""
    known = {*dir(builtins), *shown(TEXTS[name])}
    for tags, cell in code(name):
        tree = ast.parse(cell.source)
        known |= imported(tree)
        if {"remove-cell", "remove-input"} & set(tags):
            continue
        known |= bound(tree)
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        assert used <= known, (sorted(used - known), cell.source[:200])


LABELS = {
    label: path
    for path in [*(ROOT / "notebooks" / "src").glob("*.md"), *(ROOT / "book").rglob("*.md")]
    for label in re.findall(r"^:label: (\S+)$", path.read_text("utf8"), re.M)
}
STATEMENT = re.compile(r"thm|lem|prop|cor")


@pytest.mark.parametrize("name", TEXTS)
def test_proofs_list_what_they_need_from_other_pages(name):
    text = TEXTS[name]
    for proof in re.finditer(r"^(`{3,})\{prf:proof\}\n(.*?)^\1$", text, re.M | re.S):
        needed = {
            label
            for label in re.findall(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`", proof[2])
            if STATEMENT.match(label) and LABELS[label].stem != name
        }
        card = re.search(
            r"\{admonition\} Needed from earlier\n(?:(?!^```$).)*^```$\n\n\Z",
            text[: proof.start()],
            re.M | re.S,
        )
        assert not needed or card, (needed, proof[2][:200])
        assert all(label in card[0] for label in needed), needed
