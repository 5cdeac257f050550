"""The built book and a browser, where there are any."""

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.book_pdf import BROWSERS

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
PAGES = sorted(
    p.relative_to(HTML).as_posix()
    for folder in ("book", "notebooks")
    for p in (HTML / folder).rglob("*.html")
    if p.parent.name != "explorables"  # frames of pages: test_explorables.py
)


@pytest.fixture(scope="session")
def html() -> Path:
    """Folder of the built pages."""
    if not (HTML / "index.html").exists():
        pytest.skip("the book is not built: run make book")
    return HTML


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium that is already on the machine; none is downloaded."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--disable-quic"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(html: Path, browser) -> Callable:
    """Return a context that holds a page open, its formulas set: ``with opened(name, width)``."""

    @contextmanager
    def opened_page(name: str, width: int, **options):
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto((html / name).resolve().as_uri())
        set_formulas(page)
        try:
            yield page
        finally:
            context.close()

    return opened_page


def set_formulas(page) -> None:
    """Wait until a page is loaded and its formulas are set."""
    page.wait_for_load_state("load")
    if page.locator("span.math, div.math").count():
        page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        page.evaluate("MathJax.startup.promise")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
