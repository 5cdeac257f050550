"""The command ``amgd``, where what it needs may not be installed."""

from __future__ import annotations

import sys

from amgd import __version__


def main() -> None:
    """Run the command, or say which extra brings it."""
    try:
        from amgd.experiments.cli import app
    except ModuleNotFoundError as error:
        if f"{error.name}.".startswith("amgd."):
            raise
        sys.exit(
            f"amgd {__version__}: the command needs {error.name}, which is not installed; "
            'run: pip install "amgd[experiments]"'
        )
    app()
