"""What a reader meets, by the text of the chapters: pictures, predictions, quiz."""

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
def test_code_that_draws_is_folded(name):
    folded = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
    for tags, cell in code(name):
        if DRAWS.search(cell.source):
            assert folded & set(tags), cell.source[:200]


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
