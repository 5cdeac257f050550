"""Records that several files of tests look at."""

import shutil
from pathlib import Path

import pytest
from commands import amgd

from amgd.experiments.runner import LOCK, record


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


@pytest.fixture(scope="module")
def whole(request, tmp_path_factory):
    """The record of each of a module's SPECS, made in one go when it is asked for."""
    made = {}

    def of(name):
        if name not in made:
            spec = request.module.SPECS[name]
            made[name] = record(spec, tmp_path_factory.mktemp("whole") / "r")
            (made[name].path / LOCK).unlink()
        return made[name]

    return of
