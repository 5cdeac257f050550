"""A page shows what the package says now: change a constant there, and the page changes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.notebooks import text

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
title: Small book
only_build_toc_files: true
exclude_patterns: ["notebooks/src/**", "amgd/**", "tools/**"]
execute: {execute_notebooks: cache, cache: _build/.jupyter_cache}
repository: {url: ""}
"""
PAGE = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Page

```{code-cell} ipython3
import runpy

print("shown:", runpy.run_path("../amgd/constants.py")["VALUE"])
```
"""


def make_book(folder: Path) -> str:
    """What the target `book` of the Makefile does, and what the page then shows."""
    command = (ROOT / "Makefile").read_text("utf8").split("\nbook:")[1].split("\n\n")[0]
    assert command.index("fresh_build.py") < command.index("jupyter-book build . -W")
    run = [sys.executable, "tools/fresh_build.py"]
    build = [
        str(Path(sys.executable).with_name("jupyter-book")),
        "build",
        ".",
        "-W",
        "--keep-going",
    ]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for step in (run, build):
        done = subprocess.run(
            step, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    html = (folder / "_build" / "html" / "notebooks" / "page.html").read_text("utf8")
    return re.search(r"shown: (\w+)", html).group(1)


def test_a_change_in_the_package_reaches_the_page(tmp_path: Path) -> None:
    (tmp_path / "amgd").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "fresh_build.py", tmp_path / "tools")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: notebooks/page\n")
    (tmp_path / "notebooks" / "page.ipynb").write_text(text.as_json(text.cells_of(PAGE)))
    constants = tmp_path / "amgd" / "constants.py"

    constants.write_text("VALUE = 'before'\n")
    assert make_book(tmp_path) == "before"
    executed = sorted((tmp_path / "_build" / ".jupyter_cache").rglob("*.ipynb"))
    stamps = [p.stat().st_mtime_ns for p in executed]
    assert executed
    assert make_book(tmp_path) == "before"
    assert [p.stat().st_mtime_ns for p in executed] == stamps, "nothing changed, nothing ran"

    constants.write_text("VALUE = 'after'\n")
    assert make_book(tmp_path) == "after"
