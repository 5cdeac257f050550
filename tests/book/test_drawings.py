"""The drawings that the repository keeps are those that the code draws."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import drawings

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(("name", "text"), drawings.drawings().items())
def test_a_drawing_is_fresh_and_shown_with_words(name: str, text: str):
    assert (drawings.FOLDER / name).read_text("utf8") == text
    root = ElementTree.fromstring(text)
    assert len((root.find(f"{SVG}title").text or "").split()) > 8
    shown = re.compile(rf"\{{image\}} _static/drawings/{name}\n:alt: (.+)")
    found = [m for p in (ROOT / "book").glob("*.md") if (m := shown.search(p.read_text("utf8")))]
    assert len(found) == 1
    assert len(found[0][1].split()) > 12


@pytest.mark.parametrize(("name", "chain"), drawings.chains().items())
def test_a_graph_has_an_arrow_for_each_possible_step(name: str, chain):
    parts = list(drawings.graph(chain, 0, 0))
    steps = int((chain.transition > 0).sum())
    assert sum("marker-end" in part for part in parts) == steps
    labels = [re.search(r">(\d+(?:/\d+)?)</text>", part)[1] for part in parts if "#0072B2" in part]
    total = sum(int(a) / int(b or 1) for a, _, b in (text.partition("/") for text in labels))
    assert len(labels) == steps
    assert total == pytest.approx(chain.n_states)
    assert sum("<circle" in part for part in parts) == chain.n_states


def test_the_map_has_every_chapter_once():
    numbers = [n for _, chapters in drawings.MAP for n, *_ in chapters]
    texts = sorted((ROOT / "notebooks" / "src").glob("*.md"))
    assert [f"{int(n):02}" for n in numbers] == [text.stem[:2] for text in texts]
