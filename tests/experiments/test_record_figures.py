"""What the figure of a record shows."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from amgd import figures
from amgd.experiments.experiment import Tuning
from amgd.experiments.figures import record_figure
from amgd.experiments.named import named
from amgd.experiments.records import Record
from amgd.statistics import mean_band


# --- figures of records ---------------------------------------------------------------------------
@pytest.fixture
def record(tmp_path) -> Record:
    """A growing record of made-up curves: n differs, runs diverged, a variant is missing."""
    made = Record.create(tmp_path / "r", named("figure2-cartpole", "smoke"))
    rng = np.random.default_rng(0)
    for variant, seeds in (("plain", 3), ("theorem1", 2), ("nesterov", 1)):
        for seed in range(seeds):
            rows = {
                "k": np.arange(5),
                "evaluation_return": 20 + rng.normal(size=5),
                "distance": k5(),
            }
            made.add(variant, seed, rows, 1.0, places=[{}])
    lost = {
        "k": np.arange(3),
        "evaluation_return": np.array([1.0, 2, np.inf]),
        "distance": k5()[:3],
    }
    for seed in range(2):
        made.add("ghadimi_lan", seed, lost, 1.0, diverged="at iteration 2: return is not finite")
    made.add("matched", 0, lost, 1.0, diverged="at iteration 2: return is not finite")
    made.add("matched", 1, {name: np.arange(5.0) for name in lost} | {"k": np.arange(5)}, 1.0)
    return made


def k5() -> np.ndarray:
    return np.linspace(0.0, 1.0, 5)


BAND = "90% t-band of the mean"
LEGEND = [
    "SGD (n = 3)",
    "AMGD of Theorem 1 (n = 2)",
    r"AMGD with $\gamma_k=k\beta/2$ (n = 0, 2 diverged)",
    "Nesterov (n = 1)",
    "SGD with matched steps (n = 1, 1 diverged)",
    BAND,
    "solved: 195",
]


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def draw(*arguments, **options):
    """Draw and render, since layout and ticks are made then, and close."""
    figure = record_figure(*arguments, **options)
    figure.canvas.draw()
    plt.close(figure)
    return figure


def test_record_figure_says_n_of_every_variant(record: Record) -> None:
    figure = draw(record)
    main, *panels = figure.axes
    assert legend(main) == LEGEND
    assert (main.get_title(), main.get_xlabel()) == ("CartPole-v0", "updates $k$")
    assert (main.get_ylabel(), main.get_yscale()) == ("return", "linear")
    assert [p.get_title() for p in panels] == [name.split(" (n")[0] for name in LEGEND[:-2]]
    # mean, and each seed beside it; a single run is its own mean; two lines for a diverged run
    assert [len(p.lines) for p in panels] == [1 + 3, 1 + 2, 1 + 2 * 2, 1, 1 + 2]
    assert [len(p.collections) for p in panels] == [1, 1, 0, 0, 0]


def test_record_figure_draws_the_mean_and_the_band_of_the_runs(record: Record) -> None:
    [ax] = draw(record, variants=["plain"]).axes
    samples = record.curves("plain", "evaluation_return").samples
    band = mean_band(samples)
    assert ax.lines[0].get_ydata().tolist() == band.mean.tolist()
    assert [line.get_ydata().tolist() for line in ax.lines[1:4]] == samples.tolist()
    drawn = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (drawn.min(), drawn.max()) == (band.low.min(), band.high.max())
    assert {to_hex(line.get_color()).upper() for line in ax.lines[:4]} == {"#0072B2"}


def test_a_diverged_run_is_drawn_up_to_a_cross(record: Record) -> None:
    [ax] = draw(record, variants=["matched"]).axes
    mean, lost, cross, _ = ax.lines
    assert mean.get_ydata().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]  # of the run that got there
    assert lost.get_ydata().tolist() == [1.0, 2.0]  # without the row that is infinite
    assert (cross.get_marker(), cross.get_xydata().tolist()) == ("x", [[1.0, 2.0]])


@pytest.mark.parametrize("runs", [True, False])
def test_record_figure_in_given_axes(record: Record, runs: bool) -> None:
    with plt.rc_context():
        figures.use_style()
        figure, axes = plt.subplots(1, 2)
        assert record_figure(record, ax=axes[1], runs=runs) is figure
        figure.canvas.draw()
        assert legend(axes[1]) == [text for text in LEGEND if text != BAND]
        assert not axes[0].lines
        extra = (3 + 2 + 2 * 2 + 2) * runs
        assert len(axes[1].lines) == 5 + extra + 1
        plt.close(figure)


def test_record_figure_in_a_subfigure(record: Record) -> None:
    figure = plt.figure()
    ax = figure.subfigures(1, 2)[0].subplots()
    assert record_figure(record, ax=ax) is figure
    plt.close(figure)


def test_without_runs_there_are_no_panels(record: Record) -> None:
    [ax] = draw(record, runs=False).axes
    assert legend(ax) == LEGEND
    assert len(ax.lines) == 5 + 1


def test_another_column_has_its_own_label_and_no_threshold(record: Record) -> None:
    main, *_ = draw(record, column="distance").axes
    assert main.get_ylabel() == "distance from the start"
    assert "solved: 195" not in legend(main)


def test_the_grid_world_has_episodes_and_a_log_axis(tmp_path) -> None:
    record = Record.create(tmp_path / "r", named("figure1-grid10", "smoke"))
    empty = {"episode": np.zeros(0, dtype=np.int64), "neu": np.zeros(0)}
    record.add("tuned", 0, empty, 1.0, diverged="in episode 7")
    for seed in range(2):
        rows = {"episode": np.arange(0, 50, 10), "neu": 10.0 ** -np.arange(5.0) * (1 + seed)}
        record.add("plain", seed, rows, 1.0)
    main, *panels = draw(record).axes
    assert (main.get_xlabel(), main.get_ylabel()) == ("episode", "exact NEU")
    assert main.get_title() == "grid world, 4 × 4"
    assert legend(main) == [
        "TD(0) (n = 2)",
        "tuned TD(0) (n = 0, 1 diverged)",
        f"{BAND}, cut at a tenth",
    ]
    assert {ax.get_yscale() for ax in (main, *panels)} == {"log"}


def test_record_figure_leaves_the_style_and_the_open_figures_as_they_were(record: Record) -> None:
    with plt.style.context("default"):
        before, opened = dict(plt.rcParams), plt.get_fignums()
        figure = draw(record)
        assert not figure.axes[0].spines["top"].get_visible()  # it has the book's style
        with pytest.raises(ValueError, match="column"):
            record_figure(record, column="no such")
        assert dict(plt.rcParams) == before
        assert plt.get_fignums() == opened


def test_a_figure_of_nothing_is_refused(tmp_path, record: Record) -> None:
    empty = Record.create(tmp_path / "e", named("figure2-cartpole", "smoke"))
    for one, variants in ((empty, None), (record, ["tuned"]), (record, [])):
        with pytest.raises(ValueError, match="nothing to draw"):
            record_figure(one, variants=variants)
    with pytest.raises(ValueError, match="variant must be one of"):
        record_figure(record, variants=["accelerated"])


@pytest.mark.parametrize("name", ["figure1-grid10", "figure2-cartpole", "figure3-ant"])
def test_seven_curves_of_ten_seeds_fit_into_the_figure(tmp_path, name: str) -> None:
    """No text is cut off at the edge, and the legend hides nothing."""
    record = Record.create(tmp_path / "r", named(name))
    column, k = ("neu", "episode") if name.startswith("figure1") else ("evaluation_return", "k")
    rng = np.random.default_rng(0)
    for variant in record.spec.variants:
        if variant.startswith("tuned"):
            record.set_tuning(variant, Tuning(("delta 0.003",), (1.0,)))
        for seed in range(10):
            rows = {k: np.arange(9), column: rng.exponential(size=9)}
            record.add(variant, seed, rows, 1.0, identity={}, places=[{}])
    figure = record_figure(record)
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height
    main, *panels = figure.axes
    under = main.get_legend().get_window_extent()
    assert under.y1 < main.xaxis.label.get_window_extent().y0
    assert all(under.y0 > panel.title.get_window_extent().y1 for panel in panels)
    plt.close(figure)
