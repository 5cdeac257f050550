"""The explorables: pages of ``book/explorables`` that a reader moves, without kernel or network.

    python -m tools.explorables [NAME ...]  # keep their pictures, for print and for notebooks

Needs an installed Chromium. Each drawing carries a digest of what it was made from, so that a test
without a browser sees when it is old.
"""

from __future__ import annotations

import json
import re
import sys
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "book" / "explorables"
CALL = re.compile(r'^figures\.explorable\("(\w+)"\)$', re.M)


class Explorable(NamedTuple):
    """What the book says of one."""

    name: str
    title: str
    description: str


def named(code: str) -> Explorable | None:
    """Return the one that a cell shows, if it shows one."""
    call = CALL.search(code)
    if call is None:
        return None
    path = FOLDER / f"{call[1]}.html"
    if not path.exists():
        raise ValueError(
            f"a cell shows {call[1]!r}, but {path.relative_to(FOLDER.parents[1])} is missing"
        )
    page = path.read_text("utf8")
    title = re.search(r"<title>(.*?)</title>", page)
    description = re.search(r'<meta name="description" content="(.*?)">', page)
    if not (title and description):
        raise ValueError(f"{path.name} needs a title and a description")
    return Explorable(call[1], unescape(title[1]), unescape(description[1]))


def inputs(name: str, folder: Path = FOLDER) -> str:
    """Return a digest of all files that a page loads, and of those records that it names."""
    page = (folder / f"{name}.html").read_text("utf8")
    texts = {
        f: (folder / f).read_text("utf8")
        for f in re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', page)
    }
    if records := texts.pop("records.js", None):
        panels = json.loads(records[records.index("{") : records.rindex("}") + 1])
        named = {n: panel for n, panel in panels.items() if f'"{n}"' in texts[f"{name}.js"]}
        texts["records.js"] = json.dumps(named or panels)  # a page that names none shows all
    return sha256("\0".join([page, *texts.values()]).encode()).hexdigest()


def pictured(name: str, folder: Path = FOLDER) -> str:
    """Return the digest that a page's drawing carries, of what it was made from."""
    found = re.search(r' data-inputs="(\w+)"', (folder / f"{name}.svg").read_text("utf8"))
    return found[1] if found else ""


def keep_pictures(names: list[str]) -> None:
    """Write what each page shows first: a drawing for print, a small bitmap for notebooks."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from tools.book_pdf import FLAGS, installed_browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed_browser(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 900, "height": 700}, reduced_motion="reduce")
        for name in names:
            page.goto((FOLDER / f"{name}.html").as_uri() + "?theme=light")
            page.wait_for_timeout(300)
            drawing = page.evaluate("still()").replace(
                "<svg", f'<svg data-inputs="{inputs(name)}"', 1
            )
            (FOLDER / f"{name}.svg").write_text(drawing, "utf8")
            bitmap = Image.open(BytesIO(page.locator(".boards").screenshot()))
            bitmap.convert("RGB").quantize(64).save(FOLDER / f"{name}.png", optimize=True)
        chromium.close()


if __name__ == "__main__":
    keep_pictures(sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.html")))
