"""A new kind of experiment is one module: here is one, run, grown, tabled, drawn and checked."""

from dataclasses import dataclass, replace
from typing import ClassVar

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from amgd.experiments.experiment import Experiment, Outcome, Quantity, from_toml, to_toml
from amgd.experiments.figures import record_figure
from amgd.experiments.reruns import first_difference, rerun
from amgd.experiments.runner import record
from amgd.experiments.summaries import FORMATS, summarise, to_text


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
    assert from_toml('kind = "walk"\nsteps = 3').rows == 4


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
