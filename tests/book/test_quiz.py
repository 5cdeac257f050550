"""Quizzes are answered by a click, predictions committed; without a script all of it is text."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT, set_formulas
from pypdf import PdfReader

from tools.book_pdf import printed, set_aside

CHAPTERS = [path.stem for path in sorted((ROOT / "notebooks" / "src").glob("*.md"))]
AXE = ROOT / "tests" / "book" / "vendor" / "axe-4.14.1.min.js"
RUN = """async () => (await axe.run({include: [['#quiz'], ['#predict-before-you-see']]},
  {resultTypes: ['violations']})).violations.map(v => [v.id, v.nodes[0].html.slice(0, 200)])"""
DARK = "document.documentElement.dataset.theme = document.documentElement.dataset.mode = '{}'"


def squeezed(text: str) -> str:
    """Text without white space, which browsers, PDFs and parsers treat differently."""
    return re.sub(r"\s", "", text)


def lettered(item) -> tuple[str, str]:
    """Letter and words of an option or of a reason."""
    match = re.fullmatch(r"\s*\((\w)\)(.*)", item.get_text(), re.S)
    assert match
    return match[1], squeezed(match[2])


def article(html: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((html / "notebooks" / f"{name}.html").read_text("utf8"), "html.parser")


def quiz(html: Path, name: str) -> list[tuple[dict[str, str], str, dict[str, str]]]:
    """Options, right letter and reasons of each question, as the page says without its script."""
    questions = []
    for box in article(html, name).select("section#quiz .admonition"):
        options = dict(lettered(item) for item in box.find_previous_sibling("ul").select("li"))
        reasons = dict(lettered(item) for item in box.select("li"))
        (right,) = [item for item in box.select("li") if item.strong and item.strong.text[0] == "("]
        questions.append((options, lettered(right)[0], reasons))
    return questions


def predictions(html: Path, name: str) -> list[tuple[list[str], str, str]]:
    """Letters to choose from, key and answer of each prediction."""
    section = article(html, name).select_one("section#predict-before-you-see")
    questions = section.select(":scope > ol > li")
    answers = section.select(".admonition ol > li")
    return [
        ([lettered(item)[0] for item in q.select("li")], a.strong.text.strip("()"), a.get_text())
        for q, a in zip(questions, answers, strict=True)
    ]


@pytest.fixture
def bare(html: Path, browser):
    """Return a context that opens a chapter without setting its formulas: that takes a while."""

    @contextmanager
    def bare_page(name: str, width: int):
        context = browser.new_context(viewport={"width": width, "height": 800})
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.route(re.compile("tex-svg-full"), lambda route: route.fulfill(body=""))
        page.goto((html / "notebooks" / f"{name}.html").as_uri())
        page.wait_for_load_state("load")
        yield page
        context.close()
        assert errors == []

    return bare_page


def checked_by_axe(page) -> None:
    page.add_script_tag(path=AXE)
    for theme in ("light", "dark"):
        page.evaluate(DARK.format(theme))
        assert page.evaluate(RUN) == [], theme


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_option_tells_its_reason(name: str, html: Path, bare) -> None:
    """By mouse, by Enter and by the space bar; once more closes it; the page counts."""
    questions = quiz(html, name)
    assert len(questions) == 5
    with bare(name, 390) as page:
        lists = page.locator("section#quiz ul.quiz-options")
        assert lists.count() == len(questions)
        assert page.locator("section#quiz .admonition").count() == 0
        right_first = 0
        for (options, right, reasons), shown in zip(questions, lists.all(), strict=True):
            assert set(options) == set(reasons)
            right_first += next(iter(options)) == right
            uses = ["mouse", "Enter", "Space"]
            for item, letter, use in zip(shown.locator("> li").all(), options, uses, strict=True):
                button = item.get_by_role("button", name=f"({letter}) ")
                assert squeezed(item.locator(".quiz-words").inner_text()) == options[letter]
                assert button.get_attribute("aria-expanded") == "false"
                if use == "mouse":
                    item.locator(".quiz-words").click(position={"x": 4, "y": 10})
                else:
                    button.press(use)
                assert button.get_attribute("aria-expanded") == "true"
                told = item.locator("[aria-live=polite]")
                verdict = "✓Right." if letter == right else "✗Wrong."
                assert squeezed(told.inner_text()) == verdict + reasons[letter]
            button.press("Space")
            assert told.inner_text() == ""
            button.press("Space")
        status = page.locator("section#quiz [role=status]").inner_text()
        assert status == f"5 of 5 answered, {right_first} right at the first click."
        checked_by_axe(page)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_prediction_is_committed_before_its_answer_opens(name: str, html: Path, bare) -> None:
    asked = predictions(html, name)
    with bare(name, 390) as page:
        questions = page.locator("section#predict-before-you-see > ol > li").all()
        for question, (letters, key, answer) in zip(questions, asked, strict=True):
            told = question.locator("[aria-live=polite]")
            assert told.inner_text() == ""
            if letters:
                assert key in letters
                wrong = next(letter for letter in letters if letter != key)
                buttons = {x: question.get_by_role("button", name=f"({x}) ") for x in letters}
                buttons[wrong].press("Enter")
                buttons[key].click()  # too late
                assert buttons[wrong].get_attribute("aria-pressed") == "true"
                assert buttons[key].get_attribute("aria-pressed") == "false"
                verdict = f"({key}) comes too late. You said ({wrong}). ✗ It is ({key})."
            else:
                guess = question.get_by_label("Your guess")
                question.get_by_role("button", name="Commit").click()
                assert told.inner_text() == "Type a number first."
                number = float(re.sub(r"[\s%]", "", key).replace("−", "-"))
                guess.fill(f"{2 * number:g}")
                guess.press("Enter")
                assert not guess.is_editable()
                verdict = f"You said {2 * number:g}: a factor of 2 away from it."
            assert squeezed(told.inner_text()) == squeezed(verdict + answer)
        checked_by_axe(page)


@pytest.mark.parametrize(
    ("name", "guess", "words"),
    [
        ("02_mixing_time", "4.2", "exactly"),
        ("02_mixing_time", "4.1", "2.4% below it"),
        ("02_mixing_time", " 42 ", "a factor of 10 away from it"),
        ("02_mixing_time", ".5", "a factor of 8.4 away from it"),
        ("02_mixing_time", "-4.2", "8.4 below it"),
        ("02_mixing_time", "about 4,2", "exactly"),
        ("02_mixing_time", "0,420", "a factor of 10 away from it"),
        ("02_mixing_time", "21 / 5", "exactly"),
        ("06_strongly_convex", "-21,000", "exactly"),
        ("06_strongly_convex", "−21 000", "exactly"),
        ("06_strongly_convex", "-21,000.0", "exactly"),
        ("06_strongly_convex", "-18900", "10% above it"),
        ("12_mujoco", "45%", "a factor of 2 away from it"),
    ],
)
def test_how_far_off_a_guess_was(name: str, guess: str, words: str, bare) -> None:
    """Chapter 2 asks for 4.2, chapter 6 for minus 21 000, chapter 12 for 89.9%."""
    with bare(name, 1280) as page:
        page.get_by_label("Your guess").first.fill(guess)
        page.get_by_label("Your guess").first.press("Enter")
        told = page.locator("#predict-before-you-see > ol > li [aria-live=polite]").first
        assert told.locator(".quiz-verdict").inner_text() == f"You said {guess.strip()}: {words}."


def test_nothing_a_reader_does_is_stored(bare) -> None:
    with bare("01_markov_gradients", 1280) as page:
        for button in page.locator(".quiz-letter").all():
            button.click()
        kept = "JSON.stringify([Object.keys(localStorage), document.cookie])"
        assert "quiz" not in page.evaluate(kept)
        page.reload()
        assert page.locator(".quiz-letter[aria-expanded=true], .is-right, .is-wrong").count() == 0


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_whole_book_on_paper_has_all_options_and_reasons(name: str, html: Path) -> None:
    page = printed(html, f"notebooks/{name}", set())
    answers = set_aside(page, f"notebooks/{name}")
    text = squeezed(page.get_text())
    kept = squeezed(BeautifulSoup("".join(answers), "html.parser").get_text())
    for options, _, reasons in quiz(html, name):
        assert [o for o in options.values() if o not in text] == []
        assert [r for r in reasons.values() if r not in kept] == []
    assert [a for _, _, a in predictions(html, name) if squeezed(a) not in kept] == []


def test_a_printed_chapter_has_all_options_and_reasons(html: Path, bare, tmp_path: Path) -> None:
    """Clicked or not; an answer that a reader has opened is not printed twice."""
    name = "01_markov_gradients"
    with bare(name, 1280) as page:
        page.locator(".quiz-letter").first.click()
        page.locator("#quiz .quiz-letter").first.click()
        page.pdf(path=tmp_path / "chapter.pdf", prefer_css_page_size=True)
    sheets = PdfReader(tmp_path / "chapter.pdf").pages
    text = squeezed("".join(sheet.extract_text() for sheet in sheets))
    for options, _, reasons in quiz(html, name):
        for said in [*options.values(), *reasons.values()]:
            # Shorter pieces between formulas stand elsewhere on the page, too.
            pieces = [piece for piece in re.split(r"\\\(.*?\\\)", said) if len(piece) > 12]
            assert [piece for piece in pieces if text.count(piece) != 1] == []


def test_reasons_with_formulas_fit_a_phone(html: Path, opened) -> None:
    with opened("notebooks/02_mixing_time.html", 390) as page:
        for button in page.locator(".quiz-letter").all():
            button.click()
        set_formulas(page)
        told = page.locator("[aria-live=polite] mjx-container svg")
        assert told.count() > 5
        assert all(box["height"] > 5 for box in (formula.bounding_box() for formula in told.all()))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
