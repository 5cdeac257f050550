"""The drawings that the repository keeps are those that the code draws."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
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


@pytest.mark.parametrize(("name", "make"), drawings.REFUTED.items())
def test_a_refuted_bound_is_below_the_truth_by_the_numbers_of_its_erratum(name: str, make):
    case = make()
    (i,) = np.flatnonzero(case.k == case.at)
    true, printed = float(case.true[i]), float(case.printed[i])
    assert printed < true
    assert len(case.k) == len(case.true) == len(case.printed) > 3
    text = (ROOT / "book" / "errata.md").read_text("utf8")
    entry = re.search(rf"\n\*\*E{case.erratum}\..*?(?=\n\(erratum-|\n## |\Z)", text, re.DOTALL)[0]
    told = re.sub(r"(\d)\\,(\d)", r"\1\2", entry).replace("{,}", "").replace("−", "-")
    told = re.sub(
        r"\\times10\^\{?(-?\d+)\}?|\\cdot10\^\{?(-?\d+)\}?", lambda m: f"e{m[1] or m[2]}", told
    )
    numbers = [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", told)]
    assert any(np.isclose(true, number, rtol=0.01) for number in numbers), true
    assert any(np.isclose(printed, number, rtol=0.01) for number in numbers), printed
