"""The drawings that the repository keeps are those that the code draws."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from amgd.descent import steps
from amgd.descent.algorithms import amgd_convex, amgd_nonconvex
from amgd.descent.problems import Quadratic
from amgd.markov import iid
from tools import drawings

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(("name", "text"), drawings.drawings().items())
def test_a_drawing_is_fresh_and_shown_with_words(name: str, text: str):
    assert (drawings.FOLDER / name).read_text("utf8") == text
    root = ElementTree.fromstring(text)
    assert len((root.find(f"{SVG}title").text or "").split()) > 8
    shown = re.compile(rf"\{{image\}} (?:../book/)?_static/drawings/{name}\n:alt: (.+)")
    pages = [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks" / "src").glob("*.md")]
    found = [m for p in pages if (m := shown.search(p.read_text("utf8")))]
    assert len(found) == 1
    assert len(found[0][1].split()) > 12


COLUMN = 688  # of the text, in pixels, in a window of 1280


@pytest.mark.parametrize(("name", "text"), drawings.drawings().items())
def test_the_words_of_a_drawing_are_large_enough_where_it_is_shown(name: str, text: str):
    pages = [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks" / "src").glob("*.md")]
    option = re.compile(rf"_static/drawings/{name}\n:alt: .+\n:width: (?:(\d+)px|100%)\n")
    (shown,) = [m for p in pages if (m := option.search(p.read_text("utf8")))]
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', text)[1])
    smallest = min(float(size) for size in re.findall(r'font-size="([\d.]+)"', text))
    assert smallest * int(shown[1] or COLUMN) / width >= 10


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


@pytest.mark.parametrize(
    ("arrows", "run", "rule"),
    [
        (drawings.ALGORITHM_1, amgd_nonconvex, steps.ghadimi_lan(0.5)),
        (drawings.ALGORITHM_2, amgd_convex, steps.theorem2(1.0, 0.0)),
    ],
)
def test_the_arrows_of_an_algorithm_are_its_step(arrows, run, rule):
    problem, k, rng = Quadratic([1.0, 0.1]), 5, np.random.default_rng(0)
    found = run(problem, iid([1.0]), rule, k, x0=[-2.0, 2.4], rng=rng, record=1)
    x, mean, y = (np.array(values)[:, 0] for values in (found.x, found.x_bar, found.y))
    alpha, gamma = float(rule.alpha(k)), float(rule.gamma(k))
    beta = alpha if run is amgd_convex else float(rule.beta(k))  # a weight there, mu is 0
    weights = {"": 1, "αₖ": alpha, "1−αₖ": 1 - alpha, "βₖ": beta, "1−βₖ": 1 - beta}
    weights |= {"−βₖ": -beta, "−γₖ": -gamma}
    known = {"xₖ₋₁": x[-2], "x̄ₖ₋₁": mean[-2]}
    for target in ("yₖ", "Gₖ", "xₖ", "x̄ₖ"):
        into = [(a, w) for a, b, w in arrows if b == target]
        known[target] = (
            problem.gradient(known["yₖ"])
            if target == "Gₖ"
            else sum(weights[w] * known[a] for a, w in into)
        )
    assert ("yₖ", "Gₖ", "") in arrows
    for target, value in (("yₖ", y[-1]), ("xₖ", x[-1]), ("x̄ₖ", mean[-1])):
        np.testing.assert_allclose(known[target], value, rtol=1e-12)


def test_a_walk_has_the_steps_of_the_grid():
    grid, states = drawings.grid_walk()
    text = drawings.walk()
    line = re.search(r'polyline points="([^"]+)"', text)[1]
    points = np.array([[float(v) for v in point.split(",")] for point in line.split()])
    assert len(points) == len(states) == 10 * grid.n + 1
    slide = np.linspace(-8, 8, len(states))[:, None]
    cells = np.round((points - slide - 25) / 30).astype(int)
    assert (cells @ [1, grid.n] == states).all()
    at_walls = int((np.diff(states) == 0).sum())
    assert text.count('r="3"') == at_walls
    assert f"{at_walls} of them against a wall" in text
    chapter = (ROOT / "notebooks" / "src" / "09_gridworld.md").read_text("utf8")
    assert at_walls == 9
    assert len(set(states)) < grid.n**2 / 2
    assert grid.goal_state not in states
    for words in ("into the walls nine times", "fewer than half of the cells", "goal is not among"):
        assert words in chapter


def test_the_ladder_has_an_arrow_for_each_move_of_the_chapter():
    known, text = drawings.chapter_ladder(), drawings.ladder()
    climbs = int((known["move"][:, known["CLIMB"]] > 0).sum())
    assert text.count("marker-end") == climbs + known["STATES"]
    labels = re.findall(r'fill="#0072B2">([+.\d]+)<', text)
    pays = sorted(float(label) for label in labels if label[0] == "+")
    assert pays == sorted(known["reward"][:, known["STOP"]])
    assert sum(float(label) for label in labels if label[0] != "+") == known["STATES"]


def test_the_map_has_every_chapter_once():
    numbers = sorted((n for *_, chapters in drawings.MAP for n, *_ in chapters), key=int)
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
