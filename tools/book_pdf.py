"""Print the built book into one PDF: contents with page numbers, working links, answers at the end.

``make pdf`` writes ``_build/book.pdf``, and ``_build/sheet.pdf``, the book on one sheet. The pages
become one document, which Chromium prints twice: the first print tells on which page each heading
stands, the second has these numbers in its contents.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from posixpath import join, normpath
from typing import Any

import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfReader

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu"]
FOOTER = (
    '<div style="width: 100%; text-align: center; font-size: 8px">'
    '<span class="pageNumber"></span></div>'
)
ANSWERS = "answers"  # where the folded ones are printed
ANSWER = re.compile(r"^(Hint|Solution|Answer)")
STYLE = """
  .bd-article { padding: 0 !important; max-width: none; }
  article, .front, .contents { break-before: page; }
  .front { text-align: center; padding-top: 35vh; break-before: auto; }
  .contents ol { list-style: none; padding-left: 1.5em; margin: 0; }
  .contents li > a { display: flex; gap: .5em; text-decoration: none; color: inherit; }
  .contents li > a > span:first-child { flex: 1; border-bottom: 1px dotted #999; }
  .contents .part { font-weight: bold; margin-top: 1em; }
"""
SHEET = """
  @page { size: A4 landscape !important; margin: 8mm; }
  html { font-size: 7.5px !important; }
  h1 { margin: 0 0 .4em !important; font-size: 1.6em !important; }
  p, li, td, th { line-height: 1.25 !important; margin-bottom: .2em !important; }
  td, th { padding: .15em .4em !important; }
  .admonition { margin: .6em 0 !important; padding-bottom: .2em !important; }
  .bd-article-container { padding: 0 !important; }
"""


def write_pdf(
    html: Path, pdf: Path, toc: dict[str, Any], only: Sequence[str] | None = None
) -> dict[str, int]:
    """Print the pages of a table of contents.

    Parameters
    ----------
    html : Path
        Folder of the built pages.
    pdf : Path
        File to write.
    toc : dict
        What ``_toc.yml`` says.
    only : sequence of str, optional
        Print these pages alone.

    Returns
    -------
    dict
        Page on which each entry of the contents starts, by the name of its anchor.
    """
    work = html.parent / "pdf"
    work.mkdir(exist_ok=True)
    document = work / "book.html"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed_browser(), args=FLAGS)
        page = chromium.new_page()
        page.set_default_timeout(600_000)
        starts: dict[str, int] = {}
        while True:  # twice; once more should the numbers themselves have moved a heading
            document.write_text(combined(html, toc, only, starts), "utf8")
            page.goto(document.as_uri())
            page.evaluate("MathJax.startup.promise")
            page.pdf(
                path=pdf, format="A4", display_header_footer=True, header_template="<span></span>",
                footer_template=FOOTER, outline=True, tagged=True, print_background=True,
                prefer_css_page_size=True,
            )  # fmt: skip
            found = targets(pdf)
            now = {
                anchor: found[anchor]
                for anchor in found
                if f'href="#{anchor}"' in document.read_text("utf8")
            }
            if now == starts:
                break
            starts = now
        chromium.close()
    return starts


def write_sheet(chromium: Browser, html: Path, pdf: Path) -> None:
    """Print the page ``book/sheet`` alone, small and across, for the two sides of a sheet."""
    page = chromium.new_page()
    page.set_default_timeout(600_000)
    page.goto((html / "book" / "sheet.html").resolve().as_uri())
    page.evaluate("MathJax.startup.promise")
    page.add_style_tag(content=SHEET)
    page.pdf(path=pdf, format="A4", landscape=True, tagged=True, print_background=True)
    page.close()


def installed_browser() -> str:
    """Path of a Chromium on this machine."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        sys.exit(
            f"No Chromium found under {', '.join(BROWSERS)}: install one (apt-get install chromium)"
        )
    return path


def targets(pdf: Path) -> dict[str, int]:
    """Pages, from 1, of all places that links of a PDF lead to."""
    reader = PdfReader(pdf)
    pages = {
        name: reader.get_destination_page_number(destination)
        for name, destination in reader.named_destinations.items()
    }
    return {name.removeprefix("/"): page + 1 for name, page in pages.items() if page is not None}


def combined(
    html: Path, toc: dict[str, Any], only: Sequence[str] | None, starts: dict[str, int]
) -> str:
    """One document of all pages, its contents with the page numbers known so far."""
    parts = [{"caption": "", "chapters": [{"file": toc["root"]}]}, *toc["parts"]]
    known = {
        c["file"] for part in parts for c in part["chapters"] if only is None or c["file"] in only
    }
    entries, bodies, answers = [], [], []
    for part in parts:
        chapters = [c["file"] for c in part["chapters"] if c["file"] in known]
        if chapters and part["caption"]:
            entries.append(f'<li class="part">{escape(part["caption"])}</li>')
        for name in chapters:
            article = printed(html, name, known)
            answers += set_aside(article, name)
            bodies.append(str(article))
            entries.append(entry(article, starts))
    if answers:
        end = f'<article class="bd-article" id="{ANSWERS}"><h1>Hints, answers and solutions</h1>'
        bodies.append(end + "".join(answers) + "</article>")
        entries.append(line(ANSWERS, "Hints, answers and solutions", starts) + "</li>")
    first = BeautifulSoup((html / f"{toc['root']}.html").read_text("utf8"), "html.parser")
    title = escape(str(yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["title"]))
    return f"""<!doctype html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{title}</title>
{head(first, toc["root"])}<style>{STYLE}</style></head><body>
<div class="front"><h1>{title}</h1></div>
<nav class="contents" aria-label="Contents"><h1>Contents</h1><ol>{"".join(entries)}</ol></nav>
{"".join(bodies)}</body></html>"""


def head(page: BeautifulSoup, name: str) -> str:
    """Styles and MathJax of a page, as seen from the folder of the one document."""
    kept = []
    for tag in page.head.find_all(["link", "script"]) if page.head else []:
        address = str(tag.get("href") or tag.get("src") or "")
        if tag.name == "link" and "stylesheet" not in str(tag.get("rel")):
            continue
        if tag.name == "script" and "mathjax" not in address and "window.MathJax" not in tag.text:
            continue
        if address:
            tag["href" if tag.name == "link" else "src"] = moved(address, name)
        kept.append(str(tag))
    return "\n".join(kept)


def moved(address: str, name: str) -> str:
    """Address in the one document of a file that a page names."""
    return "../html/" + normpath(join(name.rsplit("/", 1)[0], address))


def anchor(name: str, fragment: str = "") -> str:
    """Name in the one document of a page, or of a place in it."""
    return name.replace("/", "-") + (f"--{fragment}" if fragment else "")


def printed(html: Path, name: str, known: set[str]) -> Tag:
    """Text of a page, its places and links renamed for the one document."""
    page = BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
    article = page.find("article")
    assert isinstance(article, Tag), f"{name} has no article"
    for gone in article.select("button, .headerlink, details.hide.above-input, script, iframe"):
        gone.decompose()
    for details in article.select("details"):
        details["open"] = ""
    for tag in article.find_all(id=True):
        tag["id"] = anchor(name, str(tag["id"]))
    article["id"] = anchor(name)
    for tag in article.find_all(src=True):
        tag["src"] = moved(str(tag["src"]), name)
    for link in article.find_all("a", href=True):
        link["href"] = led(str(link["href"]), name, known)
    return article


def led(href: str, name: str, known: set[str]) -> str:
    """Where a link of a page leads in the one document."""
    if re.match(r"[a-z]+:", href):
        return href
    path, _, fragment = href.partition("#")
    target = normpath(join(name.rsplit("/", 1)[0], path)).removesuffix(".html") if path else name
    return f"#{anchor(target, fragment)}" if target in known else f"#{anchor(name)}"


def set_aside(article: Tag, name: str) -> list[str]:
    """Take hints and answers out of a page and leave a link to them; return them for the end."""
    taken = []
    for i, box in enumerate(article.select(".dropdown, .toggle")):
        title = box.select_one(".admonition-title")
        words = " ".join(title.get_text().split()) if title else ""
        if (
            title is None
            or not ANSWER.match(words)
            or box.find_parent(class_=["dropdown", "toggle"])
        ):
            continue
        box["id"] = box.get("id") or anchor(name, f"answer-{i}")
        link = BeautifulSoup(
            f'<p><a href="#{box["id"]}">{escape(words)}: at the end</a></p>', "html.parser"
        )
        box.replace_with(link)
        taken.append(str(box))
    heading = article.find("h1")
    words = heading.get_text(" ", strip=True) if heading else name
    return [f"<h2>{escape(words)}</h2>", *taken] if taken else []


def entry(article: Tag, starts: dict[str, int]) -> str:
    """Lines of the contents for a page: its title and its sections."""
    title = article.find("h1")
    text = title.get_text(" ", strip=True) if title else str(article["id"])
    lines = []
    for heading in article.find_all("h2"):
        section = heading.find_parent("section")
        if section and section.get("id"):
            lines.append(
                line(str(section["id"]), heading.get_text(" ", strip=True), starts) + "</li>"
            )
    inner = f"<ol>{''.join(lines)}</ol>" if lines else ""
    return line(str(article["id"]), text, starts) + inner + "</li>"


def line(target: str, text: str, starts: dict[str, int]) -> str:
    """One line of the contents, its item left open."""
    number = starts.get(target, 0)
    return f'<li><a href="#{target}"><span>{escape(text)}</span><span>{number or ""}</span></a>'


def main() -> None:
    """Print the whole book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    pdf = ROOT / "_build" / "book.pdf"
    write_pdf(ROOT / "_build" / "html", pdf, toc)
    sheet = pdf.with_name("sheet.pdf")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed_browser(), args=FLAGS)
        write_sheet(chromium, ROOT / "_build" / "html", sheet)
        chromium.close()
    for file in (pdf, sheet):
        print(f"{file}: {len(PdfReader(file).pages)} pages")


if __name__ == "__main__":
    main()
