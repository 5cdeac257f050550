"""The notebooks that people open: what the texts give, plain Markdown, readable in Jupyter."""

import ast
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import unquote

import pytest

from tools.notebooks import text

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"\]\(([^()\s]+)\)")
STATEMENT = re.compile(
    r"\[((?:Algorithm|Corollary|Lemma|Proposition|Theorem) [\d.]+)\]"
    r"\((\w+\.ipynb)#cell-id=([^)]+)\)"
)
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
# Markup of MyST, names of roles and directives, and TeX outside of formulas
RAW = re.compile(
    r"\{(?:prf|glue|py|cite)?:?[a-z]+\}`|^\s*:{3,}|^\(\S+\)=$|`{3,}\{|\\begin\{|\\frac", re.M
)


def cells(path: Path) -> list[dict]:
    found = json.loads(path.read_text("utf8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in found]


def markdown(path: Path) -> str:
    return "\n\n".join(c["source"] for c in cells(path) if c["cell_type"] == "markdown")


def without_code_and_formulas(words: str) -> str:
    words = re.sub(r"^(> ?)*```.*?^(> ?)*```$", "", words, flags=re.M | re.S)
    words = re.sub(r"\$\$.*?\$\$|(?<!\\)\$[^$]*(?<!\\)\$", "", words)
    return re.sub(r"``.*?``|`[^`\n]*`", "", words)


def test_notebooks_are_what_the_texts_give() -> None:
    command = [sys.executable, "tools/sync_notebooks.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_every_number_that_is_told_is_there(path: Path) -> None:
    source = (ROOT / "notebooks" / "src" / f"{path.stem}.md").read_text("utf8")
    kept = json.loads(path.read_text("utf8"))["metadata"]["amgd"]["numbers"]
    told = text.told(source)
    assert told <= set(kept)
    words = re.sub("[‘’]", "'", markdown(path).replace("\\", ""))
    assert [key for key in told if str(ast.literal_eval(kept[key])) not in words] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_only_plain_markdown(path: Path) -> None:
    """No role, directive or target, no formula over several lines, no macro of the book."""
    words = markdown(path)
    plain = without_code_and_formulas(words)
    found = RAW.search(plain)
    assert found is None, plain[max(0, found.start() - 80) : found.end() + 80]
    assert "$" not in plain.replace("\\$", "")
    macros = re.findall(r"\\(?:R|E|Prob|TV|tmix|norm|inner|xbar)\b", words)
    assert macros == []


# TeX that KaTeX, with which VS Code draws, knows as MathJax does.
TEX = """
Big Bigl Bigr Delta Gamma Im Lambda Omega Phi Pi Psi Re Rightarrow Sigma Theta Vert Xi alpha
approx arg asymp bar begin beta big bigl bigr binom cap cdot cdots chi circ cos cup delta det
dfrac displaystyle dot dots ell emptyset end epsilon equiv eta exists exp forall frac gamma ge geq
gg hat iff implies in inf infty int kappa lVert lambda langle lceil ldots le left leftarrow leq
lesssim lfloor lim liminf limsup ll ln log lvert mapsto mathbb mathbf mathcal mathrm mathsf max
mid middle min mp mu nabla ne neq notin nu odot omega operatorname oplus otimes overbrace overline
partial phi pi pm preceq prime prod propto psi qquad quad rVert rangle rceil rfloor rho right
rightarrow rvert setminus sigma sim sin sqrt subset subseteq succeq sum sup tag tan tanh tau text
textstyle tfrac theta tilde times to top underbrace underline varepsilon varphi varrho vec widehat
xi zeta
"""


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_every_viewer_draws_the_formulas(path: Path) -> None:
    """No macro, label or reference of TeX; a command that is new here is first tried in KaTeX."""
    prose = re.sub(r"^(> ?)*```.*?^(> ?)*```$", "", markdown(path), flags=re.M | re.S)
    formulas = re.findall(r"\$\$.*?\$\$|(?<![\\$])\$[^$]+\$", re.sub(r"`[^`\n]*`", "", prose))
    assert len(formulas) > 20
    assert set(re.findall(r"\\([A-Za-z]+)", " ".join(formulas))) - set(TEX.split()) == set()
    environments = set(re.findall(r"\\begin\{(.*?)\}", " ".join(formulas)))
    assert environments <= {"aligned", "align*", "pmatrix"}


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_folds_and_anchors_are_all_the_html(path: Path) -> None:
    """No class or style of one viewer."""
    tags = re.findall(r"</?[a-z][^<>]*>", without_code_and_formulas(markdown(path)))
    assert tags
    folds = {"<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>", "<br>", "</a>"}
    assert [
        tag for tag in tags if tag not in folds and not re.fullmatch(r'<a id="[\w-]+">', tag)
    ] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_links_arrive(path: Path) -> None:
    """At an anchor, at a cell of another notebook, or at a file of the repository."""
    links = LINK.findall(markdown(path))
    assert links
    bad = []
    for link in links:
        place, _, fragment = unquote(link).partition("#")
        if place.startswith(("https://", "attachment:")):
            continue
        target = path.parent / place if place else path
        if not target.exists():
            bad.append(link)
        elif fragment and target.suffix == ".ipynb":
            ids = {f"cell-id={cell['id']}" for cell in cells(target)}
            if fragment not in (ids if place else ANCHOR.findall(markdown(path))):
                bad.append(link)
    assert bad == []


def test_a_link_to_a_statement_arrives_at_its_cell() -> None:
    found = [link for path in PATHS for link in STATEMENT.findall(markdown(path))]
    assert len(found) > 50
    cell = {(path.name, c["id"]): c["source"] for path in PATHS for c in cells(path)}
    bad = [link for link in found if f"</a>**{link[0]}**" not in cell[link[1:]].split("\n")[0]]
    assert bad == []


def test_no_two_notebooks_have_the_same_anchor() -> None:
    """JupyterLab goes to the first of the whole window."""
    anchors = [anchor for path in PATHS for anchor in ANCHOR.findall(markdown(path))]
    assert len(anchors) == len(set(anchors)) > 500


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_what_gives_answers_away_is_folded(path: Path) -> None:
    source = (ROOT / "notebooks" / "src" / f"{path.stem}.md").read_text("utf8")
    words = markdown(path)
    folds = len(re.findall(r"^:class: .*dropdown", source, re.M))
    assert words.count("<details>") == words.count("</details>") >= folds
    assert "<details open" not in words
    solutions = re.findall(r"\{solution-start\}.*?\{solution-end\}", source, re.S)
    code = [s for s in solutions if "{code-cell}" in s]
    heads = [c for c in cells(path) if c["metadata"].get("jp-MarkdownHeadingCollapsed")]
    assert len(heads) == len(code)
    hidden = [c for c in cells(path) if c["metadata"].get("jupyter", {}).get("outputs_hidden")]
    assert len(hidden) == sum(s.count("{code-cell}") for s in code)


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_drawing_and_checking_code_is_folded(path: Path) -> None:
    written = text.cells_of((ROOT / "notebooks" / "src" / f"{path.stem}.md").read_text("utf8"))
    code = [cell for cell in written.cells if cell.cell_type == "code"]
    made = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    for cell, other in zip(code, made, strict=True):
        assert other["source"] == cell.source
        if {"hide-input", "remove-cell"} & set(
            cell.metadata.get("tags", [])
        ) or "mystnb" in cell.metadata:
            assert other["metadata"]["jupyter"]["source_hidden"]


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_numbers_of_the_page_are_those_of_the_notebook(path: Path, html: Path) -> None:
    """Theorems, exercises, figures, sections and equations count as on the page."""
    page = (html / "notebooks" / f"{path.stem}.html").read_text("utf8")
    page = page[page.index("<article") : page.index("</article>")]
    shown = re.findall(r'<span class="caption-number">\s*(\w+\.? [\d.]+)', page)
    shown += [f"{n}. " for n in re.findall(r'<span class="section-number">([\d.]+)\. ', page)]
    shown += [rf"\tag{{{n}}}" for n in re.findall(r'<span class="eqno">\(([\d.]+)\)', page)]
    assert len(shown) > 20
    words = markdown(path)
    assert [number for number in shown if number not in words] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_the_download_of_a_page_is_its_notebook(path: Path, html: Path) -> None:
    source = f"_sources/notebooks/{path.name}"
    assert source in (html / "notebooks" / f"{path.stem}.html").read_text("utf8")
    assert (html / source).read_bytes() == path.read_bytes()


# In JupyterLab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab as `make lab` starts it, for a reader who has never used it; the address."""
    home = tmp_path_factory.mktemp("home")
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Cells outside the window are drawn too.
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "w",
    }
    folders |= {f"JUPYTER_{kind}_DIR": home / kind for kind in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "jupyterlab", "--config=tools/lab/jupyter_lab_config.py"]
    command += [
        "--LabApp.expose_app_in_browser=True",
        "--no-browser",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--allow-root",
    ]
    command += ["--IdentityProvider.token=", "--ServerApp.password="]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,  # it would ask a terminal before it ends
            stdout=log,
            stderr=log,
            env={**os.environ, **{name: str(folder) for name, folder in folders.items()}},
        )
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(240):
                assert server.poll() is None, (home / "log").read_text()
                try:
                    urllib.request.urlopen(f"{address}/api").close()
                    break
                except OSError:
                    time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            server.wait(30)


@pytest.fixture(scope="module")
def app(lab, browser):
    """The window of JupyterLab on its first screen."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(120_000)
    page.goto(lab)  # as a reader who follows the address that `make lab` prints
    page.wait_for_selector(".jp-MarkdownViewer li a")
    yield page
    page.close()


def test_lab_starts_on_the_list_of_chapters(app) -> None:
    app.wait_for_timeout(3000)  # pop-ups come late
    assert app.locator(".Toastify__toast, .jp-Dialog").count() == 0
    links = app.locator(".jp-MarkdownViewer li a").all_inner_texts()
    titles = [text.removeprefix("# ") for path in PATHS for text in [heading(path)]]
    assert [link for link in links if link in titles] == titles


def heading(path: Path) -> str:
    return re.sub(r"<a .*", "", cells(path)[0]["source"].split("\n")[0])


OPEN = """async (path) => {
  await window.jupyterapp.commands.execute('docmanager:open', {path});
  await window.jupyterapp.shell.currentWidget.context.ready;
}"""
PLACE = """(anchor) => {
  const widget = window.jupyterapp.shell.currentWidget;
  const goal = widget.node.querySelector(`[data-jupyter-id="${anchor}"]`);
  const top = goal?.getBoundingClientRect().top;
  return 0 < top && top < window.innerHeight;
}"""
CLOSE = """async () => {
  const widget = window.jupyterapp.shell.currentWidget;
  await widget.sessionContext.shutdown();
  widget.dispose();
}"""
LOOK = """() => {
  const panel = window.jupyterapp.shell.currentWidget.node;
  const seen = (selector) =>
    [...panel.querySelectorAll(selector)].filter(e => e.getClientRects().length);
  const shown = seen('.jp-RenderedMarkdown');
  const all = (selector) => shown.flatMap(c => [...c.querySelectorAll(selector)]);
  const words = shown.map(c => {
    const copy = c.cloneNode(true);
    copy.querySelectorAll('pre, code, mjx-container').forEach(n => n.remove());
    return copy.textContent;
  });
  return {
    words: words.join('\\n'),
    formulas: all('mjx-container').length,
    errors: all('mjx-merror, [data-mjx-error]').length,
    red: all('mjx-container [mathcolor="red"], mjx-container [style*="color: red"]').length,
    open: all('details[open], details > :not(summary)')
      .filter(e => e.localName === 'details' || e.checkVisibility()).length,
    boxes: all('blockquote').length,
    code: seen('.jp-CodeCell .jp-InputArea-editor').length,
  };
}"""


def look(app) -> dict:
    """What the open notebook shows, once it stands still."""
    before, now = None, app.evaluate(LOOK)
    for _ in range(120):
        if before == now and now["formulas"]:
            return now
        app.wait_for_timeout(1000)
        before, now = now, app.evaluate(LOOK)
    raise AssertionError(f"after two minutes the notebook is still being drawn: {now}")


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_a_notebook_reads_like_its_page(path: Path, app) -> None:
    """Nothing raw, no error, answers folded; then the same with every solution opened."""
    app.evaluate(OPEN, f"notebooks/{path.name}")
    closed = look(app)
    app.evaluate("window.jupyterapp.commands.execute('notebook:expand-all-headings')")
    opened = look(app)
    app.evaluate(CLOSE)
    for seen in (closed, opened):
        assert seen["errors"] == seen["red"] == seen["open"] == 0
        assert seen["boxes"] > 5
        assert "$" not in seen["words"]
        assert RAW.search(seen["words"]) is None
    made = cells(path)
    folded = [c for c in made if c["metadata"].get("jupyter", {}).get("source_hidden")]
    code = sum(c["cell_type"] == "code" for c in made)
    assert closed["code"] == opened["code"] == code - len(folded), (
        "code that should be folded shows"
    )
    assert opened["formulas"] >= closed["formulas"] > 20


def click(app, path: str, link: str) -> None:
    """Open a file, and click on the first link that is seen and leads there."""
    app.evaluate(OPEN, path)
    if path.endswith(".ipynb"):
        look(app)
    app.locator(f".jp-RenderedMarkdown a[href*='{link}']:visible").first.click()


def test_a_link_within_a_notebook_arrives(app) -> None:
    click(app, "notebooks/05_convex.ipynb", "#ex-05-refute")
    app.wait_for_timeout(1000)
    assert app.evaluate(PLACE, "ex-05-refute")
    app.evaluate(CLOSE)


def test_a_link_opens_another_notebook_at_the_place(app) -> None:
    """The first time the notebook may still be drawn when JupyterLab looks for the place."""
    click(app, "notebooks/README.md", "09_gridworld.ipynb")
    look(app)
    for _ in range(2):
        click(app, "notebooks/09_gridworld.ipynb", "#cell-id=thm-3")
        app.wait_for_function(
            "window.jupyterapp.shell.currentWidget.title.label == '06_strongly_convex.ipynb'"
        )
        look(app)
    app.wait_for_timeout(1000)
    assert app.evaluate(PLACE, "thm-3")
    app.evaluate(CLOSE)
