"""The built pages, opened as a reader without a network opens them."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import HTML, PAGES

# What TeX leaves behind when it is not typeset.
RAW_TEX = re.compile(
    r"\\\(|\\\[|\\begin\{|\\frac|\\mathbb|\$|\{prf:|\{glue|\{eq\}|\{ref\}|\{numref\}"
)
COLLECT = """async () => {
  for (const image of document.images) image.loading = 'eager'; // also panels for a narrow window
  const article = document.querySelector('article') || document.body;
  const visible = article.cloneNode(true);
  const count = (query) => document.querySelectorAll(query).length;
  const bare = ':not(:has(mjx-container))';
  const pieces = [...visible.querySelectorAll('pre')].map(e => e.textContent);
  const fences = pieces.filter(text => text.includes('```')).length;
  const code = 'pre, code, .sig, script, style, mjx-container';
  visible.querySelectorAll(code).forEach(e => e.remove());
  return {
    text: visible.textContent,
    fences,
    mathErrors: count('[data-mjx-error], mjx-merror'),
    unset: count(`span.math${bare}, div.math${bare}`),
    images: await Promise.all([...document.images].map(async i => ({
      src: i.currentSrc || i.src, ok: await i.decode().then(() => i.naturalWidth > 0, () => false),
      alt: i.getAttribute('alt'), inArticle: article.contains(i)}))),
    links: [...document.querySelectorAll('a[href]')].map(a => a.href),
    undefinedMacros: count(
      'mjx-container [data-mml-node="mtext"][fill="red"], mjx-container g[fill="red"]'),
  };
}"""

# Words of cells that hold a sentence and are narrow; words of tables of twenty windows or more.
TABLES = """() => {
  const seen = (query) => [...document.querySelectorAll(query)].filter(e => e.checkVisibility());
  const words = (element) => element.innerText.trim().slice(0, 60);
  const sentences = seen('article :is(td, th)').filter(e => e.innerText.trim().length > 40);
  return [sentences.filter(e => e.clientWidth < 100).map(words),
          seen('article table').filter(e => e.clientHeight > 16000).map(words)];
}"""
EVERY_PAGE = PAGES + sorted(p.name for p in HTML.glob("*.html") if p.name != "index.html")


def test_there_are_pages(html: Path) -> None:
    assert PAGES


@pytest.fixture(scope="module")
def ids(html: Path) -> dict[Path, set[str]]:
    """Targets of links: the ids of every page."""
    pages = [p for p in html.rglob("*.html")]
    return {p.resolve(): set(re.findall(r'\bid="([^"]+)"', p.read_text("utf8"))) for p in pages}


@pytest.mark.parametrize("name", PAGES)
def test_page_in_a_browser(name: str, html: Path, browser, ids: dict[Path, set[str]]) -> None:
    requests: list[str] = []
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: errors.append(f"not loaded: {request.url}"))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto((html / name).resolve().as_uri())
    if page.locator("span.math, div.math").count():
        page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        page.evaluate("MathJax.startup.promise")
    page.wait_for_load_state("load")
    found = page.evaluate(COLLECT)
    page.close()

    outside = [url for url in requests if urlsplit(url).scheme not in ("file", "data", "blob")]
    assert not outside, "the page asks for something from outside"
    assert not errors
    assert found["mathErrors"] == 0
    assert found["unset"] == 0, "formulas were left untypeset"
    assert found["undefinedMacros"] == 0, "a formula shows an undefined macro in red"
    assert found["fences"] == 0, "a directive was left as it stands in the source"
    raw = RAW_TEX.search(found["text"])
    assert raw is None, found["text"][max(0, raw.start() - 60) : raw.end() + 60]
    assert [i["src"] for i in found["images"] if not i["ok"]] == []
    assert [
        i["src"] for i in found["images"] if i["inArticle"] and not (i["alt"] or "").strip()
    ] == []
    assert broken_links(found["links"], ids) == []


def broken_links(links: list[str], ids: dict[Path, set[str]]) -> list[str]:
    """Links to a file or an id that is not there."""
    bad = []
    for link in links:
        parts = urlsplit(link)
        if parts.scheme != "file":
            continue
        target = Path(unquote(parts.path))
        fragment = unquote(parts.fragment)
        if not target.exists() or (
            fragment and target.suffix == ".html" and fragment not in ids[target.resolve()]
        ):
            bad.append(link)
    return bad


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", EVERY_PAGE)
def test_page_fits_its_window(name: str, width: int, html: Path, browser) -> None:
    """Wide formulas, tables and code scroll inside their box; the page itself does not.

    A table that scrolls leaves its sentences wide enough, and one that never ends is folded.
    """
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((html / name).resolve().as_uri())
    if page.locator("span.math, div.math").count():
        page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        page.evaluate("MathJax.startup.promise")
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    narrow, high = page.evaluate(TABLES)
    page.close()
    assert overflow <= 0
    assert narrow == []
    assert high == []


def test_nothing_shows_that_should_not(html: Path) -> None:
    """No warning, progress bar or path of one machine in what the pages print."""
    pattern = re.compile(
        r"Warning:|Traceback \(most recent|\d+%\|[█ ]|/home/|/root/|/tmp/|site-packages"
    )
    output = re.compile(r'<div class="cell_output.*?</div>\s*</div>', re.S)
    bad = {
        name: match.group(0)
        for name in PAGES
        for block in output.findall((html / name).read_text("utf8"))
        if (match := pattern.search(block))
    }
    assert bad == {}


def test_tables_are_drawn(html: Path) -> None:
    """A table that nothing has understood is a paragraph that starts with a bar."""
    assert [n for n in PAGES if re.search(r"<p>\s*\|", (html / n).read_text("utf8"))] == []


def test_build_has_no_foreign_scripts(html: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*"""
    )
    allowed = re.compile(r'rel="(?:canonical|license)"')
    found = [
        (name, tag)
        for name in PAGES
        for tag in loads.findall((html / name).read_text("utf8"))
        if not allowed.search(tag)
    ]
    assert found == []


def test_search_finds_the_first_chapter(html: Path, browser) -> None:
    page = browser.new_page()
    page.goto((html / "search.html").resolve().as_uri() + "?q=stationary")
    page.wait_for_selector("#search-results li a", timeout=10_000)
    assert page.locator("#search-results li a").count() >= 1
    page.close()
