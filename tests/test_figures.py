"""What the drawing functions put on the axes."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from amgd import figures
from amgd.experiments.gridworld import METHODS
from amgd.experiments.named import named
from amgd.statistics import mean_band


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_curve_draws_mean_band_and_runs(ax, runs: bool, scale: str) -> None:
    samples = np.random.default_rng(0).exponential(size=(4, 5))
    ax.set_yscale(scale)
    band = figures.curve(ax, np.arange(5), samples, label="a", runs=runs, level=0.8)
    assert np.array_equal(ax.lines[0].get_ydata(), band.mean)
    assert np.array_equal(band.high, mean_band(samples, 0.8).high)
    assert len(ax.lines) == 1 + 4 * runs
    drawn = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert drawn.max() == pytest.approx(band.high.max())
    assert (drawn.min() > 0) or scale == "linear"


def test_curve_refuses_what_does_not_fit(ax) -> None:
    with pytest.raises(ValueError, match="one row a run"):
        figures.curve(ax, np.arange(3), np.ones((2, 4)), label="a")


def test_style_has_a_line_style_for_each_colour() -> None:
    with plt.rc_context():
        figures.use_style()
        cycle = plt.rcParams["axes.prop_cycle"].by_key()
        assert len(set(cycle["color"])) == len(set(map(str, cycle["linestyle"]))) == 7


def test_a_band_on_a_log_axis_ends_a_decade_below_the_mean_at_most(ax) -> None:
    ax.set_yscale("log")
    band = figures.curve(ax, [0, 1], [[1e-9, 1.0], [1.0, 1.1]], label="a")
    assert band.low[0] < 0
    bottom = ax.collections[0].get_paths()[0].vertices[:, 1].min()
    assert bottom == pytest.approx(band.mean[0] / 10)


def test_one_run_is_a_line_without_a_band(ax) -> None:
    band = figures.curve(ax, [0, 1], [[1.0, 2.0]], label="a", runs=True)
    assert (len(ax.lines), len(ax.collections), band.n) == (1, 0, 1)
    assert ax.get_legend_handles_labels()[1] == ["a (n = 1)"]


def test_the_legend_of_a_curve_counts_diverged_runs(ax) -> None:
    figures.curve(ax, [0, 1], [[1.0, 2.0], [2.0, 3.0]], label="a", diverged=3)
    assert ax.get_legend_handles_labels()[1] == ["a (n = 2, 3 diverged)"]
    with pytest.raises(ValueError, match="diverged must be at least 0"):
        figures.curve(ax, [0, 1], [[1.0, 2.0], [2.0, 3.0]], label="a", diverged=-1)


def test_variants_that_meet_in_a_figure_look_different_without_their_colours() -> None:
    with plt.rc_context():
        figures.use_style()
        cycle = [(c["color"], str(c["linestyle"])) for c in plt.rcParams["axes.prop_cycle"]]
    for variants in (METHODS, named("figure2-cartpole").variants):
        styles = [figures.line_style(v) for v in variants]
        assert len({str(s["linestyle"]) for s in styles}) == len(variants)
        assert len({s["color"] for s in styles}) == len(variants)
        assert {(s["color"], str(s["linestyle"])) for s in styles} <= set(cycle)
    with pytest.raises(ValueError, match="variant must be one of"):
        figures.line_style("adam")
