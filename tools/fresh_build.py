"""Forget the executed pages when what they were computed with has changed.

jupyter-cache decides by the text of a page's code cells alone whether to run it again. Results also
come from the package, from the installed versions and from the recorded runs. Their fingerprint is
kept in the build folder; when it differs the folder goes, and every page runs again.

A build that was stopped while it wrote its pages has read them all and has no search index. Sphinx
would go on with the pages it has not written and warn of the index, so what was read goes as well;
the results of the pages stay.
"""

import hashlib
import platform
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
SOURCES = (
    "amgd/**/*",
    "tools/*.py",
    "book/*.csv",
    "book/results/*/*.csv",
    "book/results/*/manifest.json",
    "notebooks/coursework/pass_rates.json",
    "constraints.txt",
    "pyproject.toml",
    "_config.yml",
)


def fingerprint(root: Path = ROOT) -> str:
    """Hash of all that a page's results depend on besides the page."""
    digest = hashlib.sha256(platform.python_version().encode())
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(root).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_stale(root: Path = ROOT, build: Path = BUILD) -> bool:
    """Say whether ``build`` was made with other sources."""
    mark = build / "fingerprint"
    return build.exists() and (not mark.exists() or mark.read_text() != fingerprint(root))


def forget_stale(root: Path = ROOT, build: Path = BUILD) -> bool:
    """Remove ``build`` when it was made with other sources; say whether it was.

    Of a build that was stopped half-way only the executed pages are kept.
    """
    stale = is_stale(root, build)
    if stale:
        shutil.rmtree(build)
    build.mkdir(parents=True, exist_ok=True)
    (build / "fingerprint").write_text(fingerprint(root))
    if not (build / "html" / "searchindex.js").exists():
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
    return stale


if __name__ == "__main__":
    if forget_stale():
        print("The package, a version or a record has changed: every page runs again.")
