"""A new kind of experiment is one module: here is one, run, grown, tabled, drawn and checked."""

import ast
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import amgd.reinforce.simulators
from amgd.experiments.experiment import Experiment, Outcome, Quantity, from_toml, to_toml
from amgd.experiments.figures import record_figure
from amgd.experiments.records import Record
from amgd.experiments.repair import merge
from amgd.experiments.reruns import first_difference, rerun
from amgd.experiments.runner import record
from amgd.experiments.summaries import FORMATS, summarise, to_text
from amgd.reinforce.simulators import Simulator


# --- the new kind ---------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Walk(Experiment):
    """A walk that is pulled to 0, with a pull of its own for each variant."""

    kind: ClassVar[str] = "walk"
    column: ClassVar[str] = "distance"
    counter: ClassVar[str] = "step"
    quantities: ClassVar = {"distance": Quantity("distance from 0", "smaller", least=0.0)}

    steps: int = 20
    noise: float = 0.1
    pulls: tuple[float, ...] = (0.1, 0.5)
    variants: tuple[str, ...] = ("weak", "strong", "tuned")
    seeds: int = 8
    tuning_seeds: int = 2
    task = "a walk"

    @property
    def rows(self):
        return self.steps + 1

    def grid(self, variant):
        return self.pulls if variant == "tuned" else ()

    def run(self, variant, seeds, rate, checkpoints):
        pull = rate or {"weak": 0.05, "strong": 0.3}[variant]
        for seed in seeds:
            noise, x = np.random.default_rng(seed).normal(size=self.steps) * self.noise, [1.0]
            for push in noise:
                x.append((1 - pull) * x[-1] + push)
            yield Outcome(seed, {"k": np.arange(self.rows), "distance": np.abs(x)}, 0.1)


# --- what it can do without an edit elsewhere -----------------------------------------------------
@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return record(Walk(), tmp_path_factory.mktemp("walk") / "r")


def test_it_is_written_and_read() -> None:
    spec = Walk(noise=0.2)
    assert from_toml(to_toml(spec)) == spec
    assert from_toml('kind = "test_new_kind:walk"\nsteps = 3').rows == 4
    with pytest.raises(ValueError, match=r"kind must be one of .*'test_new_kind:walk': got 'walk'"):
        from_toml('kind = "walk"')


def test_it_runs_and_tunes(made) -> None:
    assert all(made.seeds(variant) == tuple(range(8)) for variant in Walk().variants)
    assert made.tuning["tuned"]["best"] in ("0.1", "0.5")
    assert len(made.files) == 3 * 8 + 2 * 2
    made.verify()


def test_it_grows_and_refuses_other_runs(tmp_path, made) -> None:
    few = record(replace(Walk(), seeds=2), tmp_path / "r")
    more = record(Walk(), few.path)
    assert more.digest == made.digest
    with pytest.raises(Exception, match=r"noise was 0\.1, is 0\.3"):
        record(Walk(noise=0.3), few.path)


@pytest.mark.parametrize("form", FORMATS)
def test_it_has_tables(made, form: str) -> None:
    table = to_text({"walk": summarise(made)}, form)
    assert "strong" in table
    assert "better" in table


def test_it_is_drawn(made) -> None:
    figure = record_figure(made)
    main = figure.axes[0]
    assert (main.get_title(), main.get_xlabel()) == ("a walk", "step")
    assert main.get_ylabel() == "distance from 0"
    plt.close(figure)


@pytest.mark.parametrize("variant", Walk().variants)
def test_it_is_checked(made, variant: str) -> None:
    again = rerun(made, variant, [3], rows=4)[3]
    assert first_difference(made.read(variant, 3), again) is None


def test_its_jobs_are_merged(tmp_path, made) -> None:
    for seeds in (range(3), range(3, 8)):
        record(Walk(), tmp_path / f"job{seeds[0]}", seeds=list(seeds))
    assert merge(tmp_path / "all", [tmp_path / "job0", tmp_path / "job3"]).digest == made.digest


def test_another_process_knows_it_by_its_module(tmp_path, made) -> None:
    """From the command, with worker processes; the record says where its kind is."""
    (tmp_path / "mine.toml").write_text(to_toml(Walk()))
    program = [sys.executable, "-P", "-c", "from amgd.experiments.cli import app; app()"]
    for command in (["run", str(tmp_path / "mine.toml"), "--jobs", "2"], ["check", "mine"]):
        done = subprocess.run(
            [*program, *command, "--out", str(tmp_path)],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert Record(tmp_path / "mine").digest == made.digest
    assert "mine: tuned-seed00 is equal, 21 rows" in done.stdout


# --- no module knows a kind -----------------------------------------------------------------------
PACKAGE = Path(amgd.__file__).parent
OWN = {"GridWorldSpec": "gridworld.py", "ReinforceSpec": "reinforce.py"}
# Manifests of format 1 had these two kinds and no other.
OWN |= {"'gridworld'": "repair.py"}
SIMULATORS = {
    name
    for name, one in vars(amgd.reinforce.simulators).items()
    if isinstance(one, type) and issubclass(one, Simulator) and one is not Simulator
}


def kind_switches(tree: ast.AST) -> list[str]:
    """What is asked about the kind of an experiment or simulator, by line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and "instance" in ast.unparse(node.func):
            names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            found += [(node.lineno, name) for name in names & (OWN.keys() | SIMULATORS)]
        elif isinstance(node, ast.Compare):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            found += [
                (node.lineno, name) for name in sides if name in ("'gridworld'", "'reinforce'")
            ]
    return [f"{line}: {name}" for line, name in sorted(found)]


def test_the_search_finds_switches() -> None:
    text = """
isinstance(spec, GridWorldSpec)
check.instance("spec", spec, ReinforceSpec)
isinstance(simulator, CartPole | Acrobot)
spec.kind == "gridworld"
isinstance(spec, Experiment), spec.kind != other.kind
"""
    assert kind_switches(ast.parse(text)) == [
        "2: GridWorldSpec", "3: ReinforceSpec", "4: Acrobot", "4: CartPole", "5: 'gridworld'"
    ]  # fmt: skip


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_no_module_asks_for_a_kind(path: Path) -> None:
    own = [name for name, module in OWN.items() if path == PACKAGE / "experiments" / module]
    found = kind_switches(ast.parse(path.read_text()))
    assert [place for place in found if place.partition(": ")[2] not in own] == []
