"""Write the page that a student gets, ``OUT/feedback``: it loads nothing from outside."""

import json
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbgrader import preprocessors as steps
from nbgrader.converters import generate_feedback
from traitlets.config import Config

from tools.course.build import Assignment
from tools.course.gradebook import resources

# The one script is MathJax, from the file beside the pages; scripts in the page do not run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self' file:"
MATHJAX = "mathjax.js"
MATHJAX_OPTIONS = {
    "tex": {"inlineMath": [["$", "$"]]},
    "loader": {"load": []},
    "options": {"enableMenu": False},
}
ADDRESSES = (
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "poster",
    "background",
    "data",
    "xlink:href",
)


def write_feedback(out: Path, student: str, assignment: Assignment) -> Path:
    """Write the page of a student: answers, results, points, comments, and no hidden test."""
    name = f"{assignment.notebook}.ipynb"
    notebook = nbformat.read(out / "autograded" / student / assignment.name / name, as_version=4)
    told = resources(out, student, assignment)
    for step in (steps.GetGrades, steps.ClearHiddenTests):
        notebook, told = step().preprocess(notebook, told)
    config = Config()
    # nbgrader's own template; the options are those of its GenerateFeedback.
    folder = Path(generate_feedback.__file__).parents[1] / "server_extensions" / "formgrader"
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.extra_template_basedirs = [str(folder / "templates")]
    styles = folder / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=told)
    path = out / "feedback" / student / assignment.name / f"{assignment.notebook}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(harmless_page(page), "utf8")
    write_mathjax(out / "feedback" / MATHJAX)
    return path


def write_mathjax(path: Path) -> None:
    """Put MathJax beside the pages; where it is not installed (extra ``book``), TeX shows."""
    with suppress(PackageNotFoundError):
        found = [f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg-full.js"]
        if found and not path.exists():
            code = Path(str(found[0].locate())).read_text("utf8")
            path.write_text(f"window.MathJax = {json.dumps(MATHJAX_OPTIONS)};\n{code}", "utf8")


def harmless_page(page: str) -> str:
    """A page without scripts and without anything from outside, which browsers refuse."""
    soup = BeautifulSoup(page, "html.parser")
    for tag in soup(
        ["script", "link", "iframe", "frame", "object", "embed", "base", "form", "meta", "svg"]
    ):
        tag.decompose()
    for tag in soup(True):
        for name in list(tag.attrs):
            value = str(tag[name]).strip().lower()
            local = value.startswith(("#", "data:image/png;", "data:image/jpeg;"))
            if (
                name.lower().startswith("on")
                or (name.lower() in ADDRESSES and not local)
                or (name.lower() == "style" and ("url" in value or "\\" in value or "@" in value))
            ):
                del tag[name]
    for style in soup("style"):
        if style.string:
            style.string = re.sub(r"@import[^;]*;|url\([^)]*\)", "", style.string)
    assert soup.head is not None  # it is nbgrader's
    for attributes in (
        {"charset": "utf-8"},
        {"http-equiv": "Content-Security-Policy", "content": POLICY},
    ):
        soup.head.insert(0, soup.new_tag("meta", attrs=attributes))
    soup.head.append(soup.new_tag("script", src=f"../../{MATHJAX}"))
    return str(soup)
