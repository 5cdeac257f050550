"""JupyterLab as `make lab` opens it: on the chapters in reading order, and without pop-ups."""

from pathlib import Path

HERE = Path(__file__).resolve().parent

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.ServerApp.root_dir = str(HERE.parents[1])  # chapters link to pages beside their folder
c.LabApp.default_url = "/lab/tree/notebooks/README.md"
c.LabApp.app_settings_dir = str(HERE)  # overrides.json
