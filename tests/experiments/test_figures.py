"""What the drawing functions put on the axes."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from amgd.experiments import figures
from amgd.experiments.statistics import mean_band


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
