"""Put MathJax into the build, so that pages show their mathematics without a network.

The package sphinx-mathjax-offline carries MathJax; its own extension copies 24 MB of fonts, of
which the SVG output needs none. One file is enough.
"""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

NAME = "tex-svg-full.js"


def copy_mathjax(app: Any, exception: Exception | None) -> None:
    """Copy the single-file SVG build of MathJax beside the pages."""
    if exception is None and app.builder.format == "html":
        # The package's folder name has hyphens, so it is found by its list of files, not by import.
        (source,) = (f for f in files("sphinx-mathjax-offline") or [] if f.name == NAME)
        target = Path(app.outdir) / "_static" / "mathjax" / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.locate(), target)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
