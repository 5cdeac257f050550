"""Build the wheel and the source distribution, and use both as somebody else would.

    python tools/dist.py [--python python3.13] [--out dist]

In a fresh environment without the extras: what the command and the parts that need PyTorch say, a
typed script under ``mypy --strict``, and from the unpacked source distribution the tests of the
core. With ``--python`` these run under another interpreter.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = ["tests/test_markov.py", "tests/test_checks.py", "tests/descent", "tests/td"]

SCRIPT = """
import numpy as np
from amgd.descent.steps import nesterov
from amgd.markov import MarkovChain, sticky

chain: MarkovChain = sticky(np.full(3, 1 / 3), p=0.1)
gamma: float = nesterov(0.1).gamma(3)
print(chain.mixing_time(0.01), gamma)
"""


def run(*command: str | Path, cwd: Path, fails: bool = False) -> str:
    """Return what a command prints, away from this checkout; end if it fails, or does not."""
    print("$", *command, flush=True)
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=outside, capture_output=True, text=True)
    if bool(done.returncode) != fails:
        sys.exit(f"{done.stdout}{done.stderr}exit code {done.returncode}, of the command above")
    return done.stdout + done.stderr


def expect(words: str, text: str) -> None:
    """End if a message does not have these words."""
    if words not in text:
        sys.exit(f"expected {words!r}, got:\n{text}")


def environment(folder: Path, python: str) -> Path:
    """Make an environment and return its folder of programs."""
    run(python, "-m", "venv", folder, cwd=ROOT)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def build(folder: Path) -> tuple[Path, Path]:
    """Return the paths of wheel and source distribution, alone in a new folder."""
    out = folder / "dist"
    programs = environment(folder / "build", sys.executable)
    install(programs, "hatchling")
    run(programs / "python", "-m", "hatchling", "build", "-d", out, cwd=ROOT)
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, source


def install(programs: Path, *what: str | Path) -> None:
    """Install with the pinned versions."""
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "-c", ROOT / "constraints.txt", *what, cwd=ROOT)


def use(folder: Path, python: str, wheel: Path, source: Path) -> None:
    """Install the wheel and then the source distribution, each alone, and try them."""
    programs = environment(folder / "user", python)
    install(programs, wheel)
    said = run(programs / "amgd", "--version", cwd=folder, fails=True)
    expect('run: pip install "amgd[experiments]"', said)
    for part in ("optim", "reinforce"):
        said = run(programs / "python", "-c", f"import amgd.{part}", cwd=folder, fails=True)
        expect(f'amgd.{part} needs PyTorch, which is not installed; run: pip install "amgd[t', said)

    install(programs, "mypy", "pytest", "hypothesis")
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf8")
    run(programs / "python", "-m", "mypy", "--strict", script, cwd=folder)
    expect("40 0.2", run(programs / "python", script, cwd=folder))

    install(programs, "--force-reinstall", "--no-deps", source)
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.glob("amgd-*")
    run(programs / "python", "-m", "pytest", *CORE, "-p", "no:cacheprovider", cwd=unpacked)


def main() -> None:
    """Build, then use."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter of the user")
    parser.add_argument("--out", type=Path, help="where they stay if they work")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, source = build(folder)
        use(folder, options.python, wheel, source)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            for made in (wheel, source):
                shutil.copy(made, options.out)
        print(f"{wheel.name} and {source.name} work")


if __name__ == "__main__":
    main()
