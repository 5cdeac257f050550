"""axe-core on every page, light and dark, on a phone and a desk; formulas, figures, heads."""

import importlib
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import PAGES

AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
# What is inside a formula is MathJax's, tens of thousands of paths a page: axe sees a letter there.
PLAIN = """() => document.querySelectorAll('mjx-container')
  .forEach(formula => formula.replaceChildren('x'))"""
RUN = """async (rules) => {
  const options = rules ? {runOnly: {type: 'rule', values: rules}} : {};
  options.resultTypes = ['violations'];
  const found = await axe.run(document, options);
  return found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200),
                                    v.nodes[0].failureSummary.slice(0, 300)]);
}"""
COLOURS = ["color-contrast", "link-in-text-block"]  # all that the dark can change
DARK = "document.documentElement.dataset.theme = document.documentElement.dataset.mode = '{}'"
# Wider than the place it stands in, and not to be scrolled to.
CUT = """() => {
  const bad = [];
  for (const e of document.querySelectorAll('article mjx-container')) {
    const box = e.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth) continue;
    if (!e.checkVisibility({visibilityProperty: true})) continue;  // kept for paper
    let up = e;
    while (up && !(/auto|scroll/.test(getComputedStyle(up).overflowX)
                   && up.scrollWidth > up.clientWidth)) up = up.parentElement;
    if (!up) bad.push(e.closest('p, div, li, td, h1, h2, h3').textContent.slice(0, 100));
  }
  return bad;
}"""
# Tops of a formula and of the sign after it: a sign below the formula stands alone on its line.
ALONE = """() => {
  const bad = [];
  for (const span of document.querySelectorAll('article span.math')) {
    const next = span.nextSibling;
    if (!next || next.nodeType !== 3 || !/^[.,;:!?)\\]]/.test(next.data)) continue;
    const range = document.createRange();
    range.setStart(next, 0);
    range.setEnd(next, 1);
    const sign = range.getBoundingClientRect(), box = span.getBoundingClientRect();
    if (sign.height && sign.top > box.bottom - 2) bad.push(span.parentElement.textContent);
  }
  return bad;
}"""
STOPS = """() => [...document.querySelectorAll(
    'article mjx-container[tabindex="0"], article .math[tabindex="0"]')]
  .filter(e => e.scrollWidth <= e.clientWidth).length"""


@pytest.mark.parametrize("name", PAGES)
def test_page_for_all_readers(name: str, opened) -> None:
    """One visit a page: it takes a while to set the formulas."""
    with opened(name, 1280) as page:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(100)
            assert page.evaluate(CUT) == [], f"formulas are cut off at {width}"
            assert page.evaluate(ALONE) == [], f"punctuation alone at {width}"
            assert page.evaluate(STOPS) == 0, f"tab stops that do not scroll at {width}"
        page.evaluate(PLAIN)
        page.add_script_tag(path=AXE)
        found = {}
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            for theme, rules in (("light", None), ("dark", COLOURS)):
                page.evaluate(DARK.format(theme))
                found[f"{width} {theme}"] = page.evaluate(RUN, rules)
    assert {where: faults for where, faults in found.items() if faults} == {}


@pytest.mark.parametrize("name", PAGES)
def test_head_of_a_page(name: str, html: Path) -> None:
    head, body = (html / name).read_text("utf8").split("</head>", 1)
    title = re.search(r"<title>(.*?)</title>", head, re.S)
    assert title
    assert len(title[1].strip()) > 10
    words = dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head))
    assert 20 <= len(words["description"]) <= 260, words["description"]
    assert not re.search(r"[\\$`{}]", words["description"])
    assert words["og:title"]
    assert re.search(r'<html[^>]* lang="en"', head)
    icon = re.search(r'<link rel="icon" href="([^"]+)"', head)
    assert icon
    picture = words["og:image"].split("?")[0]
    for file in (icon[1].split("?")[0], picture):
        assert ((html / name).parent / file).exists(), file
    assert body.count("<h1>") == 1


def test_descriptions_differ(html: Path) -> None:
    pattern = re.compile(r'name="description" content="([^"]*)"')
    found = [m[1] for n in PAGES if (m := pattern.search((html / n).read_text("utf8")))]
    assert len(set(found)) == len(PAGES)


def test_figures_are_small_drawings(html: Path) -> None:
    """Bitmaps are those of robots and of clips; a drawing is below 300 kB and has no ground."""
    used = {
        (html / name).parent.joinpath(source).resolve()
        for name in PAGES
        for source in re.findall(r'<img\b[^>]*? src="([^"]+)"', (html / name).read_text("utf8"))
    }
    assert len(used) > 30
    stills = {p.name for p in (html.parents[1] / "book" / "clips").glob("*.webp")}
    assert {p.name for p in used if p.suffix != ".svg"} <= {"robots.png", *stills}
    drawings = [p for p in used if p.suffix == ".svg"]
    assert [p.name for p in drawings if p.stat().st_size > 300_000] == []
    ground = re.compile(r'id="patch_1">\s*<path[^>]*style="fill: none')
    plots = [text for p in drawings if "Matplotlib" in (text := p.read_text("utf8"))]
    assert len(plots) > 30
    assert [text[:200] for text in plots if not ground.search(text)] == []


def test_panels_are_readable_on_a_phone(opened) -> None:
    """The smallest letters of stacked panels are as large as those of a single figure."""
    with opened("notebooks/01_markov_gradients.html", 390) as page:
        panels = page.locator("a.has-panels img.panel:visible")
        assert panels.count() >= 2
        boxes = [panel.bounding_box() for panel in panels.all()]
        assert all(box["width"] > 280 for box in boxes)
        views = page.evaluate(
            "[...document.querySelectorAll('a.has-panels img.panel')]"
            ".map(e => e.src.match(/viewBox\\((.*)\\)\\)/)[1].split(',').map(Number))"
        )
        for (_, _, points, _), box in zip(views, boxes, strict=True):
            assert 8.3 * box["width"] / points > 6.5, "letters of 8.3 points, in pixels"


def test_a_panel_is_in_one_view_with_its_title(html: Path, monkeypatch) -> None:
    """Neither the frame nor the title of a panel is cut."""
    monkeypatch.syspath_prepend(html.parents[1] / "book" / "_ext")
    doors = importlib.import_module("doors")
    seen = 0
    for drawing in (html / "_images").glob("*.svg"):
        views = doors.panels(drawing)
        axes = ElementTree.parse(drawing).getroot().iter(f"{doors.SVG}g") if views else []
        boxes = [doors.extent(g) for g in axes if g.get("id", "").startswith("axes_")]
        for left, _, right, bottom, title in boxes:
            if right - left > doors.BAR:
                seen += 1
                assert any(
                    x <= left + 1 and right <= x + w and y <= title and bottom <= y + h
                    for x, y, w, h in views
                ), drawing.name
    assert seen > 0


def test_a_legend_of_all_panels_is_in_one_view(html: Path, monkeypatch) -> None:
    """Stacked panels have the whole legend in a view of its own."""
    monkeypatch.syspath_prepend(html.parents[1] / "book" / "_ext")
    doors = importlib.import_module("doors")
    seen = 0
    for drawing in (html / "_images").glob("*.svg"):
        views = doors.panels(drawing)
        for group in ElementTree.parse(drawing).getroot().findall(f"{doors.SVG}g/{doors.SVG}g"):
            if not views or not group.get("id", "").startswith("legend"):
                continue
            moves = [word.get("transform", "") for word in group.iter(f"{doors.SVG}g")]
            words = [m for t in moves if (m := re.match(r"translate\((\S+) (\S+)\)", t))]
            seen += 1
            assert any(
                all(x <= float(m[1]) <= x + w and y <= float(m[2]) <= y + h for m in words)
                for x, y, w, h in views
            ), drawing.name
    assert seen > 0
