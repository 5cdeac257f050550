"""The buttons of the errata page, as a reader uses them."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = Counter(
    re.findall(
        r"^\*\*E\d+\. .*\*\* \((\w+)\)$", (ROOT / "book" / "errata.md").read_text("utf8"), re.M
    )
)


@pytest.fixture
def page(html: Path, browser):
    page = browser.new_page()
    page.goto((html / "book" / "errata.html").as_uri())
    yield page
    page.close()


def shown(page) -> int:
    """Titles that can be seen."""
    titles = page.locator(
        "dl[id^=erratum-] > dt:visible, details:has(dl[id^=erratum-]) > summary:visible"
    )
    return titles.count()


def test_a_button_shows_its_kind_and_says_how_many(page):
    assert shown(page) == KINDS.total()
    for kind, count in KINDS.items():
        button = page.get_by_role("button", name=f"{kind} ({count})", exact=True)
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert shown(page) == count
    page.get_by_role("button", name=f"all ({KINDS.total()})", exact=True).click()
    assert shown(page) == KINDS.total()


def test_slips_are_folded_and_a_link_opens_one(page):
    slip, other = page.locator("#erratum-3"), page.locator("#erratum-4")
    assert other.is_visible()
    assert not slip.is_visible()
    page.locator("summary", has_text="E3.").click()
    assert slip.is_visible()
    page.get_by_role("button", name=re.compile("^gap")).click()
    page.evaluate("location.hash = 'erratum-5'")  # a slip, hidden now
    page.locator("#erratum-5").wait_for(state="visible")
