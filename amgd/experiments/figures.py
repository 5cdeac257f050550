"""The pictures of the book: one style, and one function that draws every curve.

Needs matplotlib (``pip install "amgd[experiments]"``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from importlib.resources import files
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd.experiments.records import Curves, Record
from amgd.experiments.specs import GridWorldSpec
from amgd.experiments.statistics import Band, mean_band
from amgd.experiments.summaries import (
    default_column,
    describe,
    quantity,
    task_name,
    until_divergence,
    variant_name,
)

__all__ = ["curve", "describe", "line_style", "record_figure", "reference_slope", "use_style"]

STYLE = str(files("amgd.experiments") / "amgd.mplstyle")
WIDTH, PANEL = 6.4, 1.35  # inches: of a figure, and the height of a small panel
MOST_COLUMNS = 4  # of small panels
# The k-th place of the style's cycle belongs to the same idea in every figure; TD(0)-Acc and
# gamma = k beta / 2 are what the paper calls accelerated, and never meet.
_PLACES = (
    ("plain",),
    ("ghadimi_lan", "accelerated"),
    ("matched",),
    ("tuned",),
    ("tuned_accelerated",),
    ("nesterov",),
    ("theorem1",),
)


def use_style() -> None:
    """Use the book's style for all figures drawn from now on.

    Examples
    --------
    >>> use_style()
    >>> plt.rcParams["axes.grid"]
    True
    """
    plt.style.use(STYLE)


def line_style(variant: str) -> dict[str, Any]:
    """Return colour and line style of a variant, the same in every figure.

    Examples
    --------
    >>> line_style("plain")
    {'color': '#0072B2', 'linestyle': '-'}
    """
    known = [name for names in _PLACES for name in names]
    check.choice("variant", variant, known)
    place = next(i for i, names in enumerate(_PLACES) if variant in names)
    cycle = rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"]
    return dict(list(cycle)[place])


def curve(
    ax: Axes,
    k: ArrayLike,
    samples: ArrayLike,
    *,
    label: str,
    level: float = 0.9,
    runs: bool = False,
    diverged: int = 0,
    **line: Any,
) -> Band:
    """Draw the mean of runs over k, with its Student-t band.

    A single run is drawn as a line without a band.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw. On a logarithmic axis, if it is one already, the band goes down to a tenth of
        the mean at most.
    k : array_like, shape (m,)
        Iteration, episode or time.
    samples : array_like, shape (n, m)
        One row for each run, at least one.
    label : str
        Name of the curve; the number of runs is appended.
    level : float
        Nominal coverage of the band.
    runs : bool
        Draw each run faintly as well.
    diverged : int
        Number of runs that are not among the samples because they diverged; the legend says it.
    **line
        Passed to ``ax.plot`` for the mean.

    Returns
    -------
    Band
        What is drawn.

    Raises
    ------
    ValueError
        If the runs and k do not fit, or a value is not finite.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> band = curve(ax, [1, 2], [[1.0, 2.0], [3.0, 4.0]], label="error")
    >>> band.mean
    array([2., 3.])
    >>> ax.get_legend_handles_labels()[1]
    ['error (n = 2)']
    >>> plt.close(figure)
    """
    x, y = np.asarray(k), np.asarray(samples, dtype=np.float64)
    if y.ndim != 2 or x.shape != y.shape[1:]:
        raise ValueError(
            f"samples must have one row a run and one column a k: got shape {y.shape} for {x.shape[0]} values of k"
        )
    band = mean_band(y, level, least=1)
    diverged = check.integer("diverged", diverged, 0, "it counts runs")
    (mean,) = ax.plot(x, band.mean, label=f"{label} ({_count(band.n, diverged)})", **line)
    if runs and band.n > 1:
        ax.plot(x, y.T, color=mean.get_color(), alpha=0.3, linewidth=0.5, linestyle="-", zorder=1)
    if band.n == 1:
        return band
    # An interval that reaches down to zero has no end on a logarithmic axis.
    low = np.maximum(band.low, band.mean / 10) if ax.get_yscale() == "log" else band.low
    ax.fill_between(x, low, band.high, color=mean.get_color(), alpha=0.2, linewidth=0)
    return band


def _count(n: int, diverged: int) -> str:
    return f"n = {n}, {diverged} diverged" if diverged else f"n = {n}"


def record_figure(
    record: Record,
    *,
    column: str | None = None,
    variants: Sequence[str] | None = None,
    runs: bool = True,
    ax: Axes | None = None,
) -> Figure:
    """Draw the learning curves of a record, finished or growing.

    For each variant the mean over its seeds, a 90% Student-t band and every seed faintly. The
    seeds have a small panel for each variant below the common one, unless `ax` is given or there is
    one variant.
    The legend says n and how many runs diverged; those are drawn faintly up to a cross and are in
    no mean.

    Parameters
    ----------
    record : Record
    column : str, optional
        What to draw; default is the exact NEU in the grid world and the evaluation's return in
        REINFORCE.
    variants : sequence of str, optional
        Which to draw; default is all. One without a run is left out.
    runs : bool
        Draw every seed.
    ax : matplotlib Axes, optional
        Where to draw, in the style in force; default is a new figure in the book's style.

    Returns
    -------
    matplotlib Figure
        Without a call of ``plt.show``; close it when done.

    Raises
    ------
    ValueError
        For an unknown variant or column, or if nothing is recorded.
    RecordError
        If a file is missing, torn or edited.

    Examples
    --------
    >>> import tempfile
    >>> from amgd.experiments.specs import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure1-grid10", "smoke"))
    ...     for seed in range(2):
    ...         rows = {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5 + 0.1 * seed])}
    ...         record.add("plain", seed, rows, 0.1)
    ...     figure = record_figure(record)
    >>> figure.axes[0].get_legend_handles_labels()[1], figure.axes[0].get_yscale()
    (['TD(0) (n = 2)'], 'log')
    >>> plt.close(figure)
    """
    column = default_column(record) if column is None else column
    chosen = _recorded(record, variants)
    curves = [record.curves(variant, column) for variant in chosen]
    if ax is not None:
        _draw_all(ax, record, curves, runs)
        return ax.figure if isinstance(ax.figure, Figure) else ax.figure.figure
    with plt.style.context(STYLE):
        if not runs or len(chosen) == 1:
            figure, ax = plt.subplots(figsize=(WIDTH, _height(len(chosen))))
            _draw_all(ax, record, curves, runs)
        else:
            figure = _with_panels(record, curves)
    return figure


def _height(variants: int) -> float:
    """Return the height of the main panel with a legend of two columns, in inches."""
    return 3.9 + 0.2 * ((variants + 2) // 2)


def _with_panels(record: Record, drawn: Sequence[Curves]) -> Figure:
    """Draw means and bands together, and below them the seeds of each variant on their own.

    Seventy faint curves in one panel hide the seven that matter.
    """
    rows = math.ceil(len(drawn) / MOST_COLUMNS)
    columns = math.ceil(len(drawn) / rows)
    heights = [_height(len(drawn)), *[PANEL] * rows]
    figure = plt.figure(figsize=(WIDTH, sum(heights)))
    grid = figure.add_gridspec(1 + rows, columns, height_ratios=heights)
    _draw_all(figure.add_subplot(grid[0, :]), record, drawn, runs=False)
    log = quantity(drawn[0].column).log
    first = None
    for i, curves in enumerate(drawn):
        row, place = divmod(i, columns)
        panel = figure.add_subplot(grid[1 + row, place], sharex=first, sharey=first)
        if first is None:
            first = panel
            panel.set_yscale("log" if log else "linear")
            few = MaxNLocator(3, steps=[1, 2, 5, 10])
            panel.xaxis.set_major_locator(few)
            panel.yaxis.set_major_locator(LogLocator(numticks=4) if log else copy(few))
            panel.minorticks_off()
        _draw(panel, record, curves, runs=True)
        panel.set_title(variant_name(record, curves.variant), fontsize="x-small")
        panel.tick_params(labelsize="x-small", labelleft=place == 0)
    return figure


def _draw_all(ax: Axes, record: Record, drawn: Sequence[Curves], runs: bool) -> None:
    """Draw all variants in one panel, with axis labels, title and legend."""
    column = drawn[0].column
    what = quantity(column)
    ax.set(
        xlabel="episode" if isinstance(record.spec, GridWorldSpec) else "updates $k$",
        ylabel=what.label,
        yscale="log" if what.log else "linear",
        title=task_name(record),
    )
    for curves in drawn:
        _draw(ax, record, curves, runs)
    threshold = getattr(record.spec, "threshold", None)
    if threshold is not None and column == "evaluation_return":
        ax.axhline(threshold, color="0.4", linewidth=1.0, zorder=1, label=f"solved: {threshold:g}")
    _legend_below(ax)


def _recorded(record: Record, variants: Sequence[str] | None) -> list[str]:
    """Return the variants to draw: those of them that have runs."""
    asked = list(record.spec.variants if variants is None else variants)
    for variant in asked:
        check.choice("variant", variant, record.spec.variants)
    found = [variant for variant in asked if record.seeds(variant)]
    if not found:
        raise ValueError(
            f"nothing to draw: {record.path} has no finished run of {asked} (expected one or more); "
            "`amgd run` makes them"
        )
    return found


def _draw(ax: Axes, record: Record, curves: Curves, runs: bool) -> None:
    name, style = variant_name(record, curves.variant), line_style(curves.variant)
    lost = len(curves.diverged)
    if curves.seeds:
        curve(ax, curves.k, curves.samples, label=name, runs=runs, diverged=lost, **style)
    else:
        ax.plot([], [], label=f"{name} ({_count(0, lost)})", **style)
    for seed in curves.diverged if runs else ():
        k, values = until_divergence(record, curves, seed)
        ax.plot(k, values, color=style["color"], alpha=0.4, linewidth=0.5, linestyle="-", zorder=1)
        ax.plot(k[-1:], values[-1:], "x", color=style["color"], markersize=5)


def _legend_below(ax: Axes) -> None:
    """Put the legend under the axis label, where it hides no curve."""
    inches = ax.bbox.width / ax.figure.dpi
    below = ScaledTranslation(0, -40 / 72, ax.figure.dpi_scale_trans)  # 40 points
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0.0,
        ncols=2 if inches > 4.5 else 1,
        fontsize="small",
        handlelength=3.0,  # long enough to show a dash pattern
    )


def reference_slope(
    ax: Axes, k: ArrayLike, power: float, *, at: float, label: str | None = None
) -> None:
    r"""Draw the straight line :math:`c\,k^p` of a log-log figure, for the eye to compare with.

    Parameters
    ----------
    ax : matplotlib Axes
    k : array_like, shape (m,)
        Where the line runs, positive.
    power : float
        The exponent p.
    at : float
        Height of the line at the first k.
    label : str, optional
        Name in the legend; by default the power of k.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> reference_slope(ax, [1, 100], -1, at=2.0)
    >>> [float(v) for v in ax.lines[0].get_ydata()]
    [2.0, 0.02]
    >>> plt.close(figure)
    """
    x = np.asarray(k, dtype=np.float64)
    text = rf"$k^{{{power:g}}}$" if label is None else label
    ax.plot(x, at * (x / x[0]) ** power, color="0.4", linewidth=1.0, linestyle="--", label=text)
