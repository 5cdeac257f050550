"""What the drawing functions put on the axes."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from amgd import figures
from amgd.descent.steps import SCHEDULES
from amgd.experiments.named import EXPERIMENTS, named
from amgd.statistics import mean_band

ROOT = Path(__file__).resolve().parents[1]


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
        assert len(set(cycle["color"])) == len(set(map(str, cycle["linestyle"]))) == 12


def test_nothing_but_use_style_changes_the_settings_of_matplotlib(ax) -> None:
    before = dict(matplotlib.rcParams)
    figures.curve(ax, [0, 1], [[1.0, 2.0], [2.0, 3.0]], label="a", **figures.line_style("sgd"))
    figures.legend_below(ax)
    figures.reference_slope(ax, [1, 2], -1, at=1.0)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(("kind", "sign"), [("pdf", b"/CIDFontType2"), ("ps", b"/FontType 42")])
def test_letters_of_printed_figures_are_truetype(kind: str, sign: bytes, tmp_path) -> None:
    """Publishers refuse Type 3, Matplotlib's default."""
    with plt.rc_context({"pdf.compression": 0}):
        figures.use_style()
        figure, axes = plt.subplots()
        axes.set_title("a")
        figure.savefig(tmp_path / f"a.{kind}")
        plt.close(figure)
    written = (tmp_path / f"a.{kind}").read_bytes()
    assert sign in written
    assert b"/Type3" not in written
    assert b"/FontType 3" not in written


def test_a_curve_needs_matplotlib_alone() -> None:
    """In a fresh process: drawing a band loads nothing of the experiments."""
    heavy = ("torch", "mujoco", "joblib", "typer", "filelock", "tqdm", "gymnasium.envs.mujoco")
    code = (
        "import sys, matplotlib; matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt\n"
        "from amgd import figures\n"
        "figures.use_style(); ax = plt.subplots()[1]\n"
        "figures.curve(ax, [0, 1], [[1, 2], [2, 3]], label='a', **figures.line_style('sgd'))\n"
        f"assert not set({heavy}) & set(sys.modules), set({heavy}) & set(sys.modules)\n"
        "assert not [name for name in sys.modules if name.startswith('amgd.experiments')]"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


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


# Methods ----------------------------------------------------------------------------------------

SAME = [
    {"sgd", "plain"},
    {"ghadimi_lan", "accelerated", "theorem2_printed", "theorem3_printed"},
    {"matched", "tuned_matched"},
    {"momentum", "tuned_momentum"},
    {"adam", "tuned_adam"},
]
METHODS = sorted({*SCHEDULES, *figures.PLACES})


def look(method: str) -> tuple[str, str]:
    style = figures.line_style(method)
    return style["color"], str(style["linestyle"])


@pytest.mark.parametrize(("one", "other"), list(combinations(METHODS, 2)))
def test_two_methods_differ_in_colour_and_in_line_unless_they_are_one_idea(
    one: str, other: str
) -> None:
    if any({one, other} <= idea for idea in SAME):
        assert look(one) == look(other)
    else:
        assert look(one)[0] != look(other)[0]
        assert look(one)[1] != look(other)[1]


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_a_place_of_the_cycle_and_is_not_grey(method: str) -> None:
    with plt.rc_context():
        figures.use_style()
        cycle = [(c["color"], str(c["linestyle"])) for c in plt.rcParams["axes.prop_cycle"]]
    assert look(method) in cycle
    red, green, blue = to_rgb(look(method)[0])
    assert max(red, green, blue) - min(red, green, blue) > 0.1


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_variants_of_a_figure_of_the_paper_look_different(name: str) -> None:
    variants = named(name).variants
    assert set(variants) <= set(METHODS)
    assert len({look(variant)[0] for variant in variants}) == len(variants)


@given(st.text(max_size=20))
def test_any_name_has_a_style_of_its_own_that_depends_on_nothing_else(name: str) -> None:
    assert look(name) == look(name)
    if name not in METHODS:
        assert look(name) not in {look(method) for method in METHODS}


def test_styles_of_unknown_names_are_the_same_in_every_process() -> None:
    code = "from amgd.figures import line_style; print(line_style('mine'), line_style('yours'))"
    seeds = ("1", "2")
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert printed == {f"{figures.line_style('mine')} {figures.line_style('yours')}\n"}


@pytest.mark.parametrize("place", range(12, 40))
def test_a_new_schedule_has_a_style_by_its_place(place: int, monkeypatch) -> None:
    known = {look(method) for method in METHODS}
    monkeypatch.setitem(SCHEDULES, "new", replace(SCHEDULES["sgd"], place=place))
    assert look("new") not in known


# Chapters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", sorted((ROOT / "notebooks" / "src").glob("0*.md")), ids=lambda p: p.stem
)
def test_parts_one_to_three_stand_on_the_ground(path: Path) -> None:
    """The chapters need the experiments for nothing but the recorded run of Figure 1."""
    imported = re.findall(
        r"^ *(?:from|import) (amgd\.experiments[\w.]*)", path.read_text("utf8"), re.M
    )
    assert bool(imported) == (path.stem == "09_gridworld")
