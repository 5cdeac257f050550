"""A reader walks through the built book: opens, closes, follows, searches, prints."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import PAGES, set_formulas
from pypdf import PdfReader

CHAPTER = "notebooks/01_markov_gradients.html"
WALKED = [CHAPTER, "notebooks/05_convex.html", "notebooks/09_gridworld.html", "book/errata.html"]
WIDTHS = [390, 768, 1280]
DRAWERS = {"Chapters": "#pst-primary-sidebar", "Contents of this page": "#pst-secondary-sidebar"}
FOLDS = ".admonition.toggle > .admonition-title, article details:not(.second-reading) > summary"


def shows(page, sidebar: str) -> bool:
    """Whether the column, or the drawer that takes its content, is on the screen, once at rest."""
    page.evaluate("Promise.allSettled(document.getAnimations().map(a => a.finished))")
    return page.evaluate(
        """id => [id, id + '-modal'].some(which => {
             const e = document.querySelector(which), box = e.getBoundingClientRect();
             return e.childElementCount > 0 && box.width > 50 && box.right > 0
               && box.left < innerWidth && getComputedStyle(e).visibility === 'visible';
           })""",
        sidebar,
    )


@pytest.mark.parametrize("hand", ["mouse", "touch", "keyboard"])
@pytest.mark.parametrize("width", [390, 768, 950, 1100, 1280, 1600])
def test_lists_open_and_close_and_the_focus_comes_back(width: int, hand: str, opened) -> None:
    def use(button) -> None:
        button.focus()
        {
            "mouse": button.click,
            "touch": button.tap,
            "keyboard": lambda: page.keyboard.press("Enter"),
        }[hand]()
        page.wait_for_timeout(50)

    # A page without formulas: what is tried here does not depend on them.
    with opened("book/how_to_use.html", width, has_touch=hand == "touch") as page:
        for name, sidebar in DRAWERS.items():
            button = page.get_by_role("button", name=name, exact=True)
            modal = width < (992 if name == "Chapters" else 1200)
            before = shows(page, sidebar)
            assert before is not modal
            assert button.get_attribute("aria-expanded") == str(before).lower()
            use(button)
            assert shows(page, sidebar) is not before
            if modal:
                focused = f"document.activeElement.closest('{sidebar}-modal') !== null"
                assert page.evaluate(focused), "the focus is in the drawer"
                if hand == "keyboard":
                    page.keyboard.press("Escape")
                else:  # beside the drawer
                    left, top = (width - 10, 400) if name == "Chapters" else (10, 400)
                    (page.mouse.click if hand == "mouse" else page.touchscreen.tap)(left, top)
                page.wait_for_timeout(50)
            else:
                assert button.get_attribute("aria-expanded") == str(not before).lower()
                use(button)
            assert shows(page, sidebar) is before
            assert button.get_attribute("aria-expanded") == str(before).lower()
            assert button.evaluate("e => e === document.activeElement"), "the focus is back"


def test_a_drawer_leads_to_another_chapter_and_a_folded_list_stays_folded(opened) -> None:
    with opened("book/how_to_use.html", 390) as page:
        page.get_by_role("button", name="Chapters", exact=True).click()
        page.locator("dialog[open] a", has_text="The convex theorem").click()
        page.wait_for_url("**/05_convex.html")
    with opened("book/how_to_use.html", 1280) as page:
        page.get_by_role("button", name="Chapters", exact=True).click()
        page.goto(page.url.replace("how_to_use", "notation"))
        assert not shows(page, "#pst-primary-sidebar")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["book/intro.html", CHAPTER])
def test_every_button_does_something(name: str, width: int, opened) -> None:
    """What a click changes: a dialog, an open part, the colour mode, a tick, what is said."""
    state = """() => document.querySelectorAll('dialog[open]').length
      + [...document.querySelectorAll('[aria-expanded]')].map(e => e.ariaExpanded).join()
      + [...document.querySelectorAll('[aria-pressed]')].map(e => e.ariaPressed).join()
      + [...document.querySelectorAll('[aria-live]')].map(e => e.textContent).join()
      + document.documentElement.dataset.mode + document.documentElement.className
      + [...document.querySelectorAll('button.copybtn')].map(b => b.className).join()
      + window.printed"""
    with opened(name, width) as page:
        page.evaluate("window.printed = 0; window.print = () => { window.printed += 1; }")
        buttons = page.locator("button:visible").all()
        assert len(buttons) >= 5
        for i, button in enumerate(buttons):
            before = page.evaluate(state)
            button.evaluate("e => e.click()")
            page.wait_for_function(f"before => ({state})() !== before", arg=before)
            assert (button.get_attribute("aria-label") or button.text_content()).strip(), i
            for _ in range(page.locator("dialog[open]").count()):
                page.keyboard.press("Escape")
            assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", WALKED)
def test_every_fold_opens_and_closes(name: str, width: int, opened) -> None:
    body = """title => [...title.parentElement.children].some(
      e => e !== title && e.checkVisibility({visibilityProperty: true}))"""
    with opened(name, width) as page:
        for button in page.locator("button.all-folds").all():
            button.click()  # of the second reading, which has a test file of its own
        folds = page.locator(FOLDS).all()
        assert folds or name == "book/errata.html"
        for fold in folds:
            if not fold.evaluate("e => e.checkVisibility({visibilityProperty: true})"):
                continue  # within a closed one
            assert not fold.evaluate(body), "it starts closed"
            # Formulas and words in the title open it as well.
            fold.evaluate(
                "e => (e.querySelector('mjx-container, .caption-number') || e)"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
            )
            assert fold.evaluate(body), fold.inner_text()
            fold.evaluate("e => e.click()")
            assert not fold.evaluate(body), fold.inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_folds_open_by_keyboard(width: int, opened) -> None:
    with opened("notebooks/05_convex.html", width) as page:
        button = page.locator("button.toggle-button").first
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Space")
        assert button.get_attribute("aria-expanded") == "false"


def test_next_goes_through_the_whole_book_and_previous_back(html: Path) -> None:
    """Each page's links, read from its text: every page is passed, once."""
    link = r'class="{}"\s+href="([^"]+)"'
    name, passed = "book/intro.html", ["book/intro.html"]
    while match := re.search(link.format("right-next"), (html / name).read_text("utf8")):
        after = (html / name).parent.joinpath(match[1]).resolve().relative_to(html.resolve())
        back = re.search(link.format("left-prev"), (html / after).read_text("utf8"))
        assert back
        assert (html / after).parent.joinpath(back[1]).resolve() == (html / name).resolve()
        name = after.as_posix()
        passed.append(name)
    assert sorted(passed) == PAGES


@pytest.mark.parametrize("width", WIDTHS)
def test_next_and_previous_by_click(width: int, opened) -> None:
    with opened("book/how_to_use.html", width) as page:
        page.locator("a.right-next").click()
        page.wait_for_url("**/notation.html")
        page.locator("a.left-prev").click()
        page.wait_for_url("**/how_to_use.html")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("word", ["stationary", "Lipschitz", "eigenvalue"])
def test_a_search_lands_near_the_word(word: str, width: int, opened) -> None:
    with opened("book/intro.html", width) as page:
        page.get_by_role("button", name="Search", exact=True).click()
        page.keyboard.type(word)
        page.keyboard.press("Enter")
        hit = page.locator("#search-results li a").first
        hit.wait_for()
        hit.click()
        page.wait_for_url(re.compile("/(book|notebooks)/(?!intro)"), wait_until="commit")
        set_formulas(page)
        marked = page.locator("article .highlighted")
        marked.first.wait_for(state="attached")
        assert word.lower()[:5] in marked.first.inner_text().lower()
        page.wait_for_function(
            """() => [...document.querySelectorAll('article .highlighted')].some(e => {
                 const box = e.getBoundingClientRect();
                 return box.bottom > 0 && box.top < innerHeight && e.checkVisibility(); })""",
        )


@pytest.mark.parametrize("width", WIDTHS)
def test_the_dark_is_kept_from_page_to_page(width: int, opened) -> None:
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    with opened("book/how_to_use.html", width) as page:
        button = page.get_by_role("button", name="Color mode", exact=True)
        seen = {}
        for _ in range(3):
            button.click()
            mode = page.evaluate("document.documentElement.dataset.mode")
            seen[mode] = max(page.evaluate(ground))
        assert set(seen) == {"light", "dark", "auto"}
        assert seen["dark"] < 60 < 200 < seen["light"]
        while page.evaluate("document.documentElement.dataset.mode") != "dark":
            button.click()
        page.wait_for_timeout(500)  # Chromium writes what a page stores in its own time
        page.goto(page.url.replace("how_to_use", "notation"))
        assert max(page.evaluate(ground)) < 60


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["book/how_to_use.html", CHAPTER])
def test_tab_goes_through_the_page_and_is_seen(name: str, width: int, opened) -> None:
    """First the skip link, then on: all that is focused can be seen, no formula that fits is."""
    look = """async () => {
      await Promise.allSettled(document.getAnimations().map(a => a.finished));
      const e = document.activeElement, box = e.getBoundingClientRect();
      const style = getComputedStyle(e);
      return {tag: e.tagName, end: e === document.body,
              formula: e.matches('mjx-container, .math'), scrolls: e.scrollWidth > e.clientWidth,
              inside: box.width > 0 && box.bottom > 0 && box.top < innerHeight
                && box.right > 0 && box.left < innerWidth,
              ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none'
                || e.tagName === 'IFRAME',  // its own page shows it: test_explorables.py
              what: e.outerHTML.slice(0, 120)};
    }"""
    with opened(name, width) as page:
        stops = []
        for _ in range(400):
            page.keyboard.press("Tab")
            stop = page.evaluate(look)
            if stop["end"]:
                break
            stops.append(stop)
        assert "skip" in stops[0]["what"] or "main-content" in stops[0]["what"]
        assert len(stops) >= 10
        assert stop["end"], "the tab key goes round"
        assert [s["what"] for s in stops if not s["inside"]] == []
        assert [s["what"] for s in stops if not s["ring"]] == []
        assert [s["what"] for s in stops if s["formula"] and not s["scrolls"]] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_figure_opens_large_and_closes(width: int, opened) -> None:
    with opened(CHAPTER, width) as page:
        link = page.locator("a.enlarges").first
        link.focus()
        page.keyboard.press("Enter")
        large = page.locator("dialog.large-figure[open] img")
        large.wait_for()
        small = link.locator("img:visible").first
        assert large.bounding_box()["width"] > 1.2 * small.bounding_box()["width"]
        page.keyboard.press("Escape")
        assert page.locator("dialog.large-figure").count() == 0
        assert link.evaluate("e => e === document.activeElement")


def test_the_notebook_of_a_page_can_be_had(html: Path, opened) -> None:
    root = html.parents[1]
    with opened(CHAPTER, 1280) as page:
        page.get_by_role("button", name="Notebook of this page").click()
        dialog = page.locator("dialog[open]")
        command = dialog.locator("pre").inner_text()
        path = re.fullmatch(r"\.venv/bin/jupyter lab (\S+)", command.strip())
        assert path
        assert (root / path[1]).exists()
        given = dialog.get_by_role("link").evaluate("a => a.href")
        download = Path(unquote(urlsplit(given).path))
        assert download.name == Path(path[1]).name
        assert download.read_bytes() == (root / path[1]).read_bytes()


def test_one_search_field_and_no_empty_bar(opened) -> None:
    with opened(CHAPTER, 1280) as page:
        assert page.locator("input[type=search]:visible").count() == 0
        assert page.locator("input[type=search]").count() == 1
        assert page.locator("article h1").first.bounding_box()["y"] < 130
        bar = page.locator("header.bd-header")
        assert not bar.count() or (bar.bounding_box() or {"height": 0})["height"] == 0


def test_a_printed_chapter(opened, tmp_path: Path) -> None:
    """At most 20 sheets; answers stay folded, code is whole, the lists of pages are left out."""
    with opened(CHAPTER, 1280) as page:
        page.pdf(path=tmp_path / "chapter.pdf", prefer_css_page_size=True)
        answers = page.evaluate(
            """() => [...document.querySelectorAll(
                   'article .toggle-hidden p:not(.admonition-title), '
                 + 'article details:not([open], .second-reading) > :not(summary) p')]
               .map(p => [...p.childNodes].filter(n => n.nodeType === 3).map(n => n.data))
               .flat().filter(text => text.trim().length > 40)"""
        )
        lines = page.evaluate(
            """() => [...document.querySelectorAll('article div.cell_input pre')]
               .filter(e => e.checkVisibility({visibilityProperty: true}))
               .flatMap(e => e.textContent.split('\\n'))"""
        )
        chapters = page.locator("#pst-primary-sidebar a").all_text_contents()
    read = PdfReader(tmp_path / "chapter.pdf")
    printed = "".join("".join(sheet.extract_text() for sheet in read.pages).split())
    assert len(read.pages) <= 20
    assert len(answers) > 20
    assert [a for a in answers if "".join(a.split()) in printed] == []
    assert len(lines) > 50
    assert [line for line in lines if "".join(line.split()) not in printed] == []
    assert sum("".join(c.split()) in printed for c in chapters) < len(chapters) / 2
