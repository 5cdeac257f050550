"""The text of the chapters: pairs, shape, and the habits that CONTRIBUTING.md asks for."""

import ast
import json
import re
from pathlib import Path

import jupytext
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted((ROOT / "notebooks" / "src").glob("*.md"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))

# The sections of every chapter, in order. Those with a label have a heading that says what the
# section finds, below the label (sec-NN-label)=.
LABELS = {
    "exact": "The exact answer first",
    "algorithm": "The algorithm",
    "experiment": "A live experiment",
    "theorem": "The theorem",
    "measured": "Bound and measurement",
}
HEADINGS = [
    "What you will be able to do",
    "Predict before you see",
    *LABELS.values(),
    "When it fails",
    "The equations to keep",
    "Exercises",
    "Quiz",
    "Take-aways",
]


def listed(toc: dict) -> set[str]:
    files = {toc["root"]}
    for part in toc["parts"]:
        files |= {chapter["file"] for chapter in part["chapters"]}
    return files


@pytest.fixture(params=TEXTS, ids=lambda p: p.stem)
def text(request) -> str:
    return request.param.read_text("utf8")


@pytest.fixture(params=TEXTS, ids=lambda p: p.stem)
def cells(request) -> list:
    return jupytext.reads(request.param.read_text("utf8"), fmt="md:myst").cells


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def section(text: str, heading: str) -> str:
    """Text under a heading, to the next heading of its level."""
    match = re.search(rf"^## {re.escape(heading)}.*?$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert match, f"no section '{heading}'"
    return match.group(1)


def test_code_that_is_shown_from_the_package_is_there(text):
    """Sphinx says so too, after many minutes."""
    for path, options in re.findall(r"^```\{literalinclude\} (\S+)\n(.*?)^```", text, re.M | re.S):
        lines = (ROOT / "notebooks" / path).read_text("utf8").splitlines()
        told = {k: v.strip("'\"") for k, v in re.findall(r"^:([\w-]+): (.*?) *$", options, re.M)}
        if name := told.get("pyobject"):
            lines = definition("\n".join(lines), name).splitlines()
        for place in ("start-at", "end-at"):
            found = [i for i, line in enumerate(lines) if told.get(place, "") in line]
            assert found, f"{path} has no line with {told[place]!r}"
            lines = lines[found[0] :]


def definition(code: str, name: str) -> str:
    """Code of a function or class, by its dotted name."""
    node = ast.parse(code)
    for part in name.split("."):
        (node,) = [n for n in node.body if getattr(n, "name", None) == part]
    return ast.get_source_segment(code, node)


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/**/*.ipynb")), ids=lambda p: p.stem)
def test_no_outputs_and_stable_ids(path: Path) -> None:
    cells = json.loads(path.read_text("utf8"))["cells"]
    assert not [c for c in cells if c.get("outputs") or c.get("execution_count")]
    assert len({c["id"] for c in cells}) == len(cells)


def test_every_chapter_and_page_is_in_the_book() -> None:
    chapters = {f"notebooks/{p.stem}" for p in TEXTS}
    texts = [p for p in (ROOT / "book").rglob("*.md") if p.name != "README.md"]
    pages = {p.relative_to(ROOT).with_suffix("").as_posix() for p in texts}
    assert chapters | pages == listed(TOC)


@pytest.mark.parametrize("path", [*TEXTS, *sorted(ROOT.glob("book/**/*.md"))], ids=lambda p: p.stem)
def test_no_page_is_a_placeholder(path: Path) -> None:
    body = path.read_text("utf8")
    assert len(body.split()) > 60 or path.stem == "bibliography"
    assert not re.search(r"\b(TODO|TBD|FIXME|coming soon|lorem ipsum)\b", body, re.I)


def test_sections_in_order(text: str) -> None:
    found = re.findall(r"^(?:\(sec-\d\d-(\w+)\)=\n)?## (.+)$", text, re.M)
    names = [LABELS.get(label, heading) for label, heading in found]
    kept = [h for name in names for h in HEADINGS if name == h or name.startswith(h + ":")]
    assert kept == HEADINGS


def test_goals_match_take_aways_and_exercises(text: str) -> None:
    goals = re.findall(r"^- (.*(?:\n  .*)*)", section(text, "What you will be able to do"), re.M)
    aways = re.findall(r"^- ", section(text, "Take-aways"), re.M)
    assert 3 <= len(goals) <= 5
    assert len(goals) == len(aways)
    assert all("`ex-" in goal for goal in goals), "each goal names the exercise that tests it"


def test_every_exercise_has_a_hint_and_a_solution(text: str) -> None:
    body = section(text, "Exercises")
    exercises = re.findall(r"\{exercise\}.*?\n:label: (\S+)", body)
    solutions = re.findall(r"\{solution(?:-start)?\} (\S+)", body)
    assert len(exercises) >= 5
    assert sorted(exercises) == sorted(solutions) == sorted(set(exercises))
    between = re.split(r"\{exercise\}", body)[1:]
    assert all(":class: hint dropdown" in part for part in between)
    assert all(part.count(":class: dropdown") >= 1 for part in between)
    assert {"★ ", "★★ ", "★★★ "} <= {m + " " for m in re.findall(r"\{exercise\} (★+)", body)}


def test_quiz_has_five_questions_with_reasons(text: str) -> None:
    questions = re.split(r"^\*\*\d\.\*\*", section(text, "Quiz"), flags=re.M)[1:]
    assert len(questions) == 5
    for question in questions:
        asked, answer = question.split("{admonition} Answer", 1)
        options = re.findall(r"^- \((\w)\) ", asked, re.M)
        assert len(options) >= 3
        assert options == re.findall(r"^- (?:\*\*)?\((\w)\)(?:\*\*)? \S", answer, re.M), (
            "a reason each"
        )
        assert len(re.findall(r"^- \*\*\(\w\)\*\* ", answer, re.M)) == 1, "one is right"


def test_predictions_can_be_committed(text: str) -> None:
    """The answer has the right letter in bold, or the number that a reader types."""
    asked, answered = section(text, "Predict before you see").split("```{admonition}", 1)
    questions, answers = (re.split(r"^\d\. ", part, flags=re.M)[1:] for part in (asked, answered))
    assert len(questions) == len(answers) >= 2
    for question, answer in zip(questions, answers, strict=True):
        (key, *_) = re.findall(r"\*\*(.*?)\*\*", answer)
        letters = re.findall(r"^   - \((\w)\) ", question, re.M)
        if letters:
            assert key.strip("()") in letters
        else:
            assert re.fullmatch(r"\{glue:text\}`[\w-]+`|−?\d[\d .]*%?", key), key


def test_planted_bug(text: str) -> None:
    assert re.search(r"bug", section(text, "When it fails"), re.I)


def test_cells_are_short_and_introduced(cells: list) -> None:
    for before, cell in zip([None, *cells], cells, strict=False):
        if cell.cell_type != "code" or "remove-cell" in tags(cell):
            continue
        assert len(cell.source.splitlines()) <= 40, cell.source[:200]
        assert before is not None
        assert before.cell_type == "markdown" or "remove-cell" in tags(before), (
            "a sentence stands before each visible cell:\n" + cell.source[:200]
        )


def test_figures_have_captions_and_alt_text(cells: list) -> None:
    for cell in cells:
        if cell.cell_type == "code" and re.search(
            r"plt\.(subplots|figure)|\.subplots\(", cell.source
        ):
            if "remove-cell" in tags(cell):
                continue
            figure = cell.metadata.get("mystnb", {})
            assert figure.get("figure", {}).get("caption"), cell.source[:200]
            assert figure.get("figure", {}).get("name", "").startswith("fig-"), cell.source[:200]
            assert len(figure.get("image", {}).get("alt", "").split()) >= 8, cell.source[:200]


def test_glued_names_are_used_and_made(text: str) -> None:
    made = re.findall(r"\bglue\(\s*[\"']([^\"']+)", text)
    used = re.findall(r"\{glue(?::\w+)?\}`([^`:]+)", text)
    assert set(used) <= set(made)
    assert sorted(set(made) - set(used)) == [], "glued but never shown"


def test_cells_use_no_global_randomness_and_no_paths(cells: list) -> None:
    for cell in cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source.replace("%", "#"))):
            if isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                assert not re.match(
                    r"np\.random\.(?!default_rng|Generator|SeedSequence)\w+", name
                ), name
                assert name not in ("torch.manual_seed", "random.seed"), name
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.match(r"(/|[A-Z]:\\)\w+", node.value), node.value


def test_proofs_follow_statements(text: str) -> None:
    """Every theorem, lemma, proposition and corollary has a proof, is refuted, or says where."""
    blocks = re.findall(
        r"\{prf:(theorem|lemma|proposition|corollary)\}.*?\n:label: (\S+)\n(.*?)(?=^`{3,}\s*$)",
        text,
        re.M | re.S,
    )
    proofs = len(re.findall(r"\{prf:proof\}", text))
    unproved = [b for b in blocks if b[1].endswith("-printed")]
    assert proofs >= len(blocks) - len(unproved) - text.count("The proof stands")


def test_no_directive_opens_with_a_directive(text: str) -> None:
    """A body whose first line is a fence is taken for options and cut off without a warning."""
    opened = re.findall(
        r"^(`{3,}|:{3,})\{prf:\w+\}[^\n]*\n(?::[^\n]*\n)*(?:`{3,}|:{3,})\{", text, re.M
    )
    assert opened == []
