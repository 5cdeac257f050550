"""The book on one page: its numbers, its boxes, its two sides."""

import re
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from tools.book_pdf import write_sheet

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import elsewhere  # noqa: E402

PAGE = (ROOT / "book" / "sheet.md").read_text("utf8")
KEYS = re.findall(r"\{number\}`([^`]+)`", PAGE)


def test_its_numbers_are_those_of_the_chapters(html: Path):
    shown = BeautifulSoup((html / "book" / "sheet.html").read_text("utf8"), "html.parser")
    pasted = [tag.get_text() for tag in shown.select("table .pasted-text")]
    assert len(KEYS) > 15
    assert pasted == [elsewhere.number(key) for key in KEYS]


def test_a_number_that_no_chapter_has_is_named():
    with pytest.raises(KeyError, match="glues no '01-nothing'"):
        elsewhere.number("01-nothing")


def test_each_row_says_all_and_no_number_of_a_run_is_typed():
    rows = [row.strip("| ").split(" | ") for row in re.findall(r"^\|.*\|$", PAGE, re.M)][2:]
    assert len(rows) >= 12
    for row in rows:
        assert len(row) == 5, row
        assert re.search(r"\{(?:prf:ref|ref|doc)\}`", row[4]), row
    words = re.sub(
        r"\{[\w:]+\}`[^`]*`|\$[^$]*\$|(?:Figure|Theorem) \d|TD\(0\)",
        "",
        "\n".join(row[3] for row in rows),
    )
    assert set(re.findall(r"\d+(?:\.\d+)?", words)) <= {"0.95"}  # what is asked, not found


def test_its_boxes_are_those_of_chapter_13(html: Path):
    boxes = []
    for name in ("book/sheet", "notebooks/13_reproduction"):
        page = BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
        found = [box.get_text() for box in page.select("div.admonition.important")]
        boxes.append([text for text in found if text.strip().startswith("Should I use it?")])
    assert len(boxes[0]) == 2
    assert boxes[0] == boxes[1]


def test_it_prints_on_one_sheet(html: Path, browser, tmp_path: Path):
    write_sheet(browser, html, tmp_path / "sheet.pdf")
    pages = PdfReader(tmp_path / "sheet.pdf").pages
    assert 1 <= len(pages) <= 2
    printed = "".join("".join(page.extract_text() for page in pages).split())
    assert "Theorem3" in printed
    assert "ShouldIuseit?REINFORCE" in printed
