"""Run the core tests with another interpreter, or with the lowest versions of the dependencies.

    python -m tools.try_versions --python python3.13
    python -m tools.try_versions --lowest

The core is all that needs neither PyTorch nor the command: chains, descent, temporal differences,
statistics. An environment is made in a temporary folder; without ``--lowest`` the versions are
those of constraints.txt.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.dist import CORE, ROOT, environment

BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def lowest() -> list[str]:
    """Return the lower bounds of what the core needs, as exact versions.

    >>> lowest()[0]
    'numpy==2.0'
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    found = [BOUND.fullmatch(one) for one in project["dependencies"]]
    return [f"{bound[1]}=={bound[2]}" for bound in found if bound]


def main() -> None:
    """Make the environment, install, test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter to try")
    parser.add_argument("--lowest", action="store_true", help="lowest versions of the dependencies")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        python = str(environment(Path(name) / "tried", options.python) / "python")
        # Test tools are the pinned ones; what is tried is what a user has.
        pinned = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
        tried = {re.split("[=>]", one)[0] for one in lowest()}
        if options.lowest:
            pinned = [one for one in pinned if one.split("==")[0].lower() not in tried]
            pinned += lowest()
        constraints = Path(name) / "constraints.txt"
        constraints.write_text("\n".join(pinned), encoding="utf8")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        what = [*sorted(tried), "pytest", "hypothesis"]
        subprocess.run([*install, "-c", str(constraints), *what], check=True)
        subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check"], check=True)
        tests = [*CORE, "tests/test_statistics.py", "-p", "no:cacheprovider"]
        sys.exit(subprocess.run([python, "-m", "pytest", *tests], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
