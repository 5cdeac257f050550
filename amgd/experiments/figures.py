"""Records as pictures: the learning curves of every variant, and every seed in small panels below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from amgd import _checks as check
from amgd.experiments.records import Curves, Record
from amgd.experiments.specs import GridWorldSpec
from amgd.experiments.summaries import (
    default_column,
    quantity,
    task_name,
    until_divergence,
    variant_name,
)
from amgd.figures import STYLE, curve, legend_below, line_style, run_count

__all__ = ["record_figure"]

WIDTH, PANEL = 6.4, 1.35  # inches: of a figure, and the height of a small panel
MOST_COLUMNS = 4  # of small panels


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
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
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
    legend_below(ax)


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
        ax.plot([], [], label=f"{name} ({run_count(0, lost)})", **style)
    for seed in curves.diverged if runs else ():
        k, values = until_divergence(record, curves, seed)
        ax.plot(k, values, color=style["color"], alpha=0.4, linewidth=0.5, linestyle="-", zorder=1)
        ax.plot(k[-1:], values[-1:], "x", color=style["color"], markersize=5)
