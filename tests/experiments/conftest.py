"""Records that several files of tests look at."""

import shutil
from pathlib import Path

import pytest
from commands import amgd


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The smoke records of a grid world and of CartPole, made by the command."""
    out = tmp_path_factory.mktemp("records")
    done = amgd("run", "figure1-grid10", "figure2-cartpole", "--preset", "smoke", "--jobs", 1,
                "--out", out)  # fmt: skip
    return out, done


@pytest.fixture
def copy(made, tmp_path):
    """Copies of these records that a test may spoil."""
    return Path(shutil.copytree(made[0], tmp_path / "copy"))
