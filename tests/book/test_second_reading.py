"""Two paths through a chapter: what stands open, what is folded, and how long each path is."""

import re
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, NavigableString, Tag
from conftest import set_formulas
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import second_reading as paths  # noqa: E402

CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks" / "src").glob("*.md"))
FOLDED = "notebooks/04_nonconvex.html", "thm-1-poisson"  # a statement in a second reading
STATEMENTS = ["theorem", "lemma", "proposition", "corollary", "remark"]


@pytest.fixture(params=CHAPTERS)
def article(request, html: Path) -> Tag:
    """The text of a chapter as it is built."""
    page = BeautifulSoup(
        (html / f"notebooks/{request.param}.html").read_text("utf8"), "html.parser"
    )
    found = page.find("article")
    assert found
    return found


def is_open(tag: Tag) -> bool:
    return not tag.find_parent("details", class_="second-reading")


def count(node, folded: bool) -> float:
    """Seconds, from the page instead of its tree."""
    if isinstance(node, NavigableString):
        return len(node.split()) * paths.SECONDS["word"] if type(node) is NavigableString else 0
    classes = node.get("class", [])
    if node.name in ("script", "style", "button", "summary", "iframe") or "headerlink" in classes:
        return 0
    if node.name == "details" and not ("second-reading" in classes and folded):
        return 0
    if {"dropdown", "toggle"} & set(classes):
        title = node.find(class_="admonition-title")
        if not folded or not title or paths.ANSWER.match(title.get_text().strip()):
            return 0
    for name, kind, look in [
        ("span", "formula", "math"),
        ("div", "displayed", "math"),
        ("img", "figure", None),
    ]:
        if node.name == name and (look is None or look in classes):
            return paths.SECONDS[kind]
    if node.name == "pre":
        return paths.SECONDS["line"] * len(node.get_text().rstrip("\n").split("\n"))
    return sum(count(child, folded) for child in node.children)


def test_the_first_reading_takes_at_most_25_minutes(article: Tag):
    told = article.find(class_="reading-time")
    first, both = int(told["data-first"]), int(told["data-both"])
    assert 5 < first <= 25
    assert first < both
    assert f"{first} minutes" in told.get_text()
    assert f"{both} minutes" in told.get_text()
    for told_minutes, folded in [(first, False), (both, True)]:
        assert told_minutes == pytest.approx(count(article, folded) / 60, rel=0.05, abs=1)


def test_what_a_first_reading_needs_stands_open(article: Tag):
    headings = {h.get_text(): h for h in article.find_all(["h2", "h3"]) if is_open(h)}
    for word in ["What you will be able to do", "Predict before you see", "Quiz", "Take-aways"]:
        assert [h for h in headings if word in h], word
    assert [f for f in article.find_all("figure") if is_open(f)]
    statements = article.find_all(class_=STATEMENTS)
    assert [s for s in statements if "proof" in s["class"] and is_open(s)]
    assert len([e for e in article.find_all(class_="exercise") if is_open(e)]) == 1
    bugs = [b for b in article.find_all(string=re.compile(r"\bbug\b", re.I)) if is_open(b)]
    assert [b for b in bugs if b.find_parent("section")]
    proofs = article.select("div.admonition.proof")
    open_proofs = [
        p
        for p in proofs
        if p["class"].count("proof") and is_open(p) and "Proof." in p.get_text()[:8]
    ]
    assert [p for p in open_proofs if "dropdown" not in p["class"]] == []


def section(*children: nodes.Node) -> nodes.section:
    return nodes.section("", *children)


def test_a_fold_ends_with_its_section_or_before():
    def mark():
        return paths.second_reading("", title=[])

    for after, kept in [([], 1), ([paths.first_reading(""), nodes.paragraph("", "c")], 2)]:
        first = mark()
        whole = section(first, nodes.paragraph("", "a"), nodes.paragraph("", "b"), *after)
        paths.gather(first, "page")
        assert [p.astext() for p in first.children] == ["a", "b"]
        assert len(whole.children) == kept
    last = mark()
    section(last, paths.first_reading(""))
    with pytest.raises(ValueError, match="page: nothing follows"):
        paths.gather(last, "page")


@pytest.mark.parametrize(
    ("node", "first", "both"),
    [
        (nodes.paragraph("", "one two"), 2 * 60 / 220, 2 * 60 / 220),
        (nodes.paragraph("", "", nodes.math("x", "x")), 2, 2),
        (nodes.math_block("x", "x"), 15, 15),
        (nodes.literal_block("", "a\nb"), 4, 4),
        (nodes.image(), 20, 20),
        (nodes.raw("", "<table><td>one</td><td>two</td></table>"), 2 * 60 / 220, 2 * 60 / 220),
        (nodes.comment("", "nothing"), 0, 0),
        (paths.second_reading("", nodes.math_block("x", "x"), title=[]), 0, 15),
        (nodes.admonition("", nodes.title("", "Hint"), classes=["dropdown"]), 0, 0),
        (nodes.admonition("", nodes.title("", "Code"), classes=["dropdown"]), 0, 60 / 220),
    ],
)
def test_what_is_counted(node: nodes.Node, first: float, both: float):
    assert paths.seconds(section(node), folded=False) == pytest.approx(first)
    assert paths.seconds(section(node), folded=True) == pytest.approx(both)


def test_a_link_opens_the_fold_it_leads_into(opened):
    name, place = FOLDED
    seen = f"document.getElementById('{place}').checkVisibility({{visibilityProperty: true}})"
    top = f"document.getElementById('{place}').getBoundingClientRect().top"
    with opened(name, 1280) as page:
        assert not page.evaluate(seen)
        page.evaluate(
            "place => document.querySelector('article').append("
            "Object.assign(document.createElement('a'), {href: '#' + place, id: 'there'}))",
            place,
        )
        page.evaluate("document.getElementById('there').click()")
        assert page.evaluate(seen)
        page.goto(page.url.split("#")[0].replace("04_nonconvex", "05_convex"))
        page.goto(page.url.replace("05_convex", "04_nonconvex") + f"#{place}")
        set_formulas(page)
        assert page.evaluate(seen)
        assert -50 < page.evaluate(top) < 800


@pytest.mark.parametrize("width", [390, 1280])
def test_one_button_opens_all_folds_and_the_browser_remembers(width: int, opened):
    state = "[...document.querySelectorAll('details.second-reading')].map(fold => fold.open)"
    with opened("notebooks/05_convex.html", width) as page:
        assert page.evaluate(state)
        assert not any(page.evaluate(state))
        page.get_by_role("button", name="Open the second reading").click()
        assert all(page.evaluate(state))
        page.wait_for_timeout(500)  # Chromium writes what a page stores in its own time
        page.goto(page.url.replace("05_convex", "08_td_as_descent"))
        assert all(page.evaluate(state))
        page.get_by_role("button", name="Close the second reading").click()
        assert not any(page.evaluate(state))


def test_paper_has_both_readings(opened, tmp_path: Path):
    from pypdf import PdfReader

    with opened("notebooks/06_strongly_convex.html", 1280) as page:
        words = page.evaluate(
            "[...document.querySelectorAll('details.second-reading > p')].map(p => "
            "[...p.childNodes].filter(n => n.nodeType === 3).map(n => n.data)).flat()"
            ".filter(words => words.trim().length > 40)"
        )
        page.pdf(path=tmp_path / "chapter.pdf", prefer_css_page_size=True)
        assert page.locator("details.second-reading[open]").count() == 0
    sheets = PdfReader(tmp_path / "chapter.pdf").pages
    printed = "".join("".join(sheet.extract_text() for sheet in sheets).split())
    assert len(words) > 5
    assert [w for w in words if "".join(w.split()) not in printed] == []
