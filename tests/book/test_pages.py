"""The prose pages: glossary, references, errata, notation, API, example, licence, citation."""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml
from pybtex.database import parse_file

import amgd

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
PAGES = sorted(BOOK.glob("*.md"))
PROSE = PAGES + sorted((ROOT / "notebooks" / "src").glob("*.md"))
ERRATA = (BOOK / "errata.md").read_text("utf8")
REFERENCES = parse_file(str(BOOK / "references.bib")).entries


def lookup(dotted: str) -> object:
    """Object with this dotted name, importing as deep as there are modules."""
    names = dotted.split(".")
    found, module = importlib.import_module(names[0]), names[0]
    for name in names[1:]:
        if not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
        found, module = getattr(found, name), f"{module}.{name}"
    return found


# Glossary


def glossary() -> list[tuple[str, str]]:
    """Each term with its definition."""
    body = re.search(r"```\{glossary\}\n(.*?)```", (BOOK / "glossary.md").read_text("utf8"), re.S)
    assert body
    items = re.split(r"^(?=\S)", body.group(1), flags=re.M)
    return [(first, rest.strip()) for first, _, rest in (i.partition("\n") for i in items) if first]


def test_glossary_has_many_terms_each_once_and_in_order():
    terms = [term.strip() for term, _ in glossary()]
    assert len(terms) >= 40
    assert len({term.lower() for term in terms}) == len(terms)
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.parametrize(("term", "definition"), glossary(), ids=lambda text: text[:25])
def test_glossary_entry_is_one_or_two_sentences(term, definition):
    lines = definition.splitlines()
    assert 1 <= len(lines) <= 2
    assert all(line.strip().endswith(".") for line in lines)


# References


def citations() -> list[tuple[str, str]]:
    found = []
    for page in PROSE:
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text("utf8")):
            found += [(page.name, key.strip()) for key in keys.split(",")]
    return found


def test_every_cited_key_is_a_reference():
    cited = citations()
    assert cited
    assert [(page, key) for page, key in cited if key not in REFERENCES] == []


@pytest.mark.parametrize("key", REFERENCES)
def test_reference_is_complete(key):
    entry = REFERENCES[key]
    assert entry.persons["author"]
    assert entry.fields["title"]
    assert re.fullmatch(r"\d{4}", entry.fields["year"])
    assert {"journal", "booktitle", "publisher", "eprint"} & set(entry.fields)
    text = " ".join(entry.fields.values()).lower()
    assert not re.search(r"not seen|from memory|verified|needs check|anonymous", text)


# Errata


def errata() -> list[dict[str, str]]:
    """Anchor, number, severity and text of each entry."""
    pattern = (
        r"^\(erratum-(?P<anchor>\d+)\)=\n\*\*E(?P<number>\d+)\. .*\*\* "
        r"\((?P<word>\w+)\)\n(?P<text>(?:[: ] .*\n)+)"
    )
    return [match.groupdict() for match in re.finditer(pattern, ERRATA, re.M)]


def test_errata_are_numbered_without_gaps_and_anchored():
    entries = errata()
    numbers = [int(entry["number"]) for entry in entries]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [int(entry["anchor"]) for entry in entries] == numbers
    # nothing that looks like an entry escaped the pattern
    assert len(entries) == len(re.findall(r"^\(erratum-", ERRATA, re.M))
    assert len(entries) == len(re.findall(r"^\*\*E\d+", ERRATA, re.M))


@pytest.mark.parametrize("entry", errata(), ids=lambda entry: f"E{entry['number']}")
def test_erratum_says_printed_problem_correction(entry):
    assert re.findall(r"^: \*(\w+)\.\*", entry["text"], re.M) == [
        "Printed",
        "Problem",
        "Correction",
    ]
    assert re.search(rf"^\| {entry['word']} \|", ERRATA, re.M), "severity is not explained"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_references_to_errata_agree_with_their_text(page):
    text = page.read_text("utf8")
    numbers = {entry["number"] for entry in errata()}
    for shown, target in re.findall(r"\{ref\}`([^`<]*?)\s*<erratum-(\w+)>`", text):
        assert target in numbers
        assert shown == f"E{target}"
    if page.name == "errata.md":
        assert set(re.findall(r"\bE(\d+)\b", text)) <= numbers


# Names in the prose


def instances() -> dict[str, object]:
    """One object of each class whose attributes the notation page names."""
    from amgd.descent.algorithms import amgd_nonconvex
    from amgd.descent.problems import Quadratic
    from amgd.descent.steps import sgd
    from amgd.markov import MarkovChain
    from amgd.td.evaluation import TDProblem
    from amgd.td.gridworld import GridWorld

    fair = [[0.5, 0.5], [0.5, 0.5]]
    chain, steps = MarkovChain(fair), sgd(0.1)
    problem = Quadratic([1.0], noise=[[0.5], [-0.5]])
    run = amgd_nonconvex(problem, chain, steps, 2, x0=np.ones(1), rng=np.random.default_rng(0))
    td = TDProblem(fair, [1.0, 0.0], np.eye(2), 0.5)
    objects = [chain, problem, steps, run, td, GridWorld(2)]
    named = {f"{type(item).__module__}.{type(item).__qualname__}": item for item in objects}
    named["amgd.descent.problems.Problem"] = problem
    return named


def notation_names() -> list[tuple[str, str]]:
    """(class, attribute) for each dotted name of the notation page."""
    found = []
    for section in re.split(r"^## ", (BOOK / "notation.md").read_text("utf8"), flags=re.M)[1:]:
        classes = re.findall(r"\{py:class\}`(amgd[\w.]+)`", section)
        for name in re.findall(r"`\.(\w+)[^`]*`", "\n".join(section.splitlines()[1:])):
            found.append((" ".join(classes), name))
    return found


@pytest.mark.parametrize(
    ("classes", "name"), notation_names(), ids=lambda text: text.split(".")[-1]
)
def test_notation_names_exist(classes, name):
    known = instances()
    assert any(hasattr(known[cls], name) for cls in classes.split())


CHAPTERS = {path.name[:2]: path.read_text("utf8") for path in PROSE if path.parent.name == "src"}
STATEMENT = re.compile(r"^(`{3,})\{prf:(?!proof|algorithm)\w+\}(.*?)^\1$", re.M | re.S)
GREEK = (
    "alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi"
    "|(?:var)?pi|(?:var)?rho|(?:var)?sigma|tau|upsilon|(?:var)?phi|chi|psi|omega"
)


def greek_and_script(text: str) -> set[str]:
    """Letters of its formulas that are hardly ever an index or a helper of one line."""
    formulas = " ".join(re.findall(r"\$([^$]+)\$", text.replace("$$", "$")))
    return set(re.findall(rf"\\(?:mathcal\s?\{{?\w|(?i:{GREEK})(?![a-zA-Z]))", formulas))


def notation_rows() -> list[tuple[str, str]]:
    """(symbols, the other cells) of each row of a table."""
    lines = (BOOK / "notation.md").read_text("utf8").splitlines()
    rows = [line.strip("| ").partition(" | ") for line in lines if line.startswith("| $")]
    return [(symbols, rest) for symbols, _, rest in rows]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_letters_of_statements_have_a_row(chapter):
    known = set().union(*(greek_and_script(symbols) for symbols, _ in notation_rows()))
    stated = "\n".join(body for _, body in STATEMENT.findall(CHAPTERS[chapter]))
    assert sorted(greek_and_script(stated) - known) == []


def test_rows_of_notation_name_chapters_that_use_the_symbols():
    """Up to an argument or a running index, which have other letters here and there."""
    unused = []
    for symbols, rest in notation_rows():
        used = "".join(CHAPTERS[number] for number in re.findall(r"`(\d\d) <", rest))
        wanted = [re.sub(r"\(.*|_[kt]$", "", tex) for tex in re.findall(r"\$([^$]+)\$", symbols)]
        unused += [(tex, rest) for tex in wanted if used and tex not in used]
    assert unused == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_dotted_names_in_prose_exist(page):
    text = re.sub(r"^```(?!\{eval-rst\}).*?^```", "", page.read_text("utf8"), flags=re.M | re.S)
    for name in sorted(set(re.findall(r"`~?(amgd(?:\.\w+)+)(?:\([^`]*\))?`", text))):
        lookup(name)


def test_every_public_module_is_on_the_api_page():
    modules = {
        info.name
        for info in pkgutil.walk_packages(amgd.__path__, "amgd.")
        if not info.ispkg and not any(part.startswith("_") for part in info.name.split("."))
    }
    shown = re.findall(r"^\.\. automodule:: (\S+)$", (BOOK / "api.md").read_text("utf8"), re.M)
    assert len(shown) == len(set(shown))
    assert set(shown) == modules


def test_the_example_runs(capsys):
    text = (BOOK / "how_to_use.md").read_text("utf8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names: dict = {}
    exec(compile(example, "how_to_use.md", "exec"), names)
    (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
    assert capsys.readouterr().out == shown
    start = names["problem"].value(np.array([1.0, -1.0])) - names["problem"].minimum
    assert 0 < names["gap"].mean() < start / 100


# Licence and citation


def test_citation_file():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    assert str(citation["version"]) == project["version"]
    assert citation["license"] == project["license"]
    (paper,) = citation["references"]
    key = REFERENCES["doan2020amgd"]
    assert paper["title"] == key.fields["title"].replace("{", "").replace("}", "")
    assert [author["family-names"] for author in paper["authors"]] == [
        " ".join(person.last_names) for person in key.persons["author"]
    ]
    assert key.fields["eprint"] in paper["identifiers"][0]["value"]


def test_changelog_names_the_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["version"]
    assert version in (ROOT / "CHANGELOG.md").read_text("utf8")


def test_licences_name_their_holder_and_each_other():
    code = (ROOT / "LICENSE").read_text("utf8")
    prose = (ROOT / "LICENSE-prose.md").read_text("utf8")
    assert code.startswith("BSD 3-Clause License")
    for text in (code, prose):
        assert "2026, The AMGD book authors" in text
    assert "creativecommons.org/licenses/by/4.0" in prose
