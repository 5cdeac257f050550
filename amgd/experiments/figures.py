"""Records as pictures: the learning curve of every variant, every seed in small panels below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from amgd import _checks as check
from amgd.experiments.experiment import Quantity
from amgd.experiments.records import Curves, Record
from amgd.experiments.summaries import until_divergence, variant_name
from amgd.figures import STYLE, curve, legend_below, line_style, run_count
from amgd.statistics import Band

__all__ = ["record_figure"]

WIDTH, PANEL = 6.4, 1.35  # inches: of a figure, and the height of a small panel
NARROWEST = 1.6  # inches: of a small panel with its title


@check.arguments
def record_figure(
    record: Record,
    *,
    column: str | None = None,
    variants: Sequence[str] | None = None,
    runs: bool = True,
    ax: Axes | None = None,
    width: check.Positive = WIDTH,
) -> Figure:
    """Draw the learning curves of a record, finished or growing.

    For each variant the mean over its seeds, a 90% Student-t band and every seed faintly. The
    seeds have a small panel for each variant below the common one, unless `ax` is given or there is
    one variant.
    The legend says n and how many runs diverged; those are drawn faintly up to a cross and are in
    no mean. A curve that equals an earlier one is said to be hidden. Bands end where the task does.

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
        Where to draw, in the style in force; default is a new figure in the book's style, which
        also names the band.
    width : float
        Of a new figure, in inches.

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
    >>> from amgd.experiments.named import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = Record.create(folder, named("figure1-grid10", "smoke"))
    ...     for seed in range(2):
    ...         rows = {"episode": np.array([0, 10]), "neu": np.array([1.0, 0.5 + 0.1 * seed])}
    ...         record.add("plain", seed, rows, 0.1)
    ...     figure = record_figure(record)
    >>> figure.axes[0].get_legend_handles_labels()[1], figure.axes[0].get_yscale()
    (['TD(0) (n = 2)', '90% t-band of the mean'], 'log')
    >>> plt.close(figure)
    """
    column = record.spec.column if column is None else column
    chosen = _recorded(record, variants)
    curves = [record.curves(variant, column) for variant in chosen]
    if ax is not None:
        _draw_all(ax, record, curves, runs)
        return ax.figure if isinstance(ax.figure, Figure) else ax.figure.figure
    small = {"font.size": min(10.0, width / 0.36)}  # the legend of a narrow figure still fits
    with plt.style.context([STYLE, small]):
        if not runs or len(chosen) == 1:
            figure, ax = plt.subplots(figsize=(width, _height(len(chosen), width)))
            _draw_all(ax, record, curves, runs, named=True)
        else:
            figure = _with_panels(record, curves, width)
    return figure


def _height(variants: int, width: float) -> float:
    """Return the height of the main panel with a legend of one or two columns, in inches."""
    return 3.9 + 0.2 * ((variants + 3) // (2 if width > 5 else 1))


def _with_panels(record: Record, drawn: Sequence[Curves], width: float) -> Figure:
    """Draw means and bands together, and below them the seeds of each variant on their own.

    Seventy faint curves in one panel hide the seven that matter.
    """
    rows = math.ceil(len(drawn) / max(1, int(width / NARROWEST)))
    columns = math.ceil(len(drawn) / rows)
    heights = [_height(len(drawn), width), *[PANEL] * rows]
    figure = plt.figure(figsize=(width, sum(heights)))
    grid = figure.add_gridspec(1 + rows, columns, height_ratios=heights)
    _draw_all(figure.add_subplot(grid[0, :]), record, drawn, runs=False, named=True)
    what = record.spec.quantity(drawn[0].column)
    first = None
    for i, curves in enumerate(drawn):
        row, place = divmod(i, columns)
        panel = figure.add_subplot(grid[1 + row, place], sharex=first, sharey=first)
        if first is None:
            first = panel
            panel.set_yscale("log" if what.log else "linear")
            few = MaxNLocator(3, steps=[1, 2, 5, 10])
            panel.xaxis.set_major_locator(few)
            panel.yaxis.set_major_locator(LogLocator(numticks=4) if what.log else copy(few))
            panel.minorticks_off()
        _draw(panel, record, curves, runs=True)
        panel.set_title(variant_name(record, curves.variant), fontsize="x-small")
        panel.tick_params(labelsize="x-small", labelleft=place == 0)
        if place == 0:
            panel.set_ylabel(what.label, fontsize="x-small")
        if i + columns >= len(drawn):
            panel.set_xlabel(record.spec.counter, fontsize="x-small")
    return figure


def _draw_all(
    ax: Axes, record: Record, drawn: Sequence[Curves], runs: bool, named: bool = False
) -> None:
    """Draw all variants in one panel, with axis labels, title and legend; perhaps name the band."""
    column = drawn[0].column
    what = record.spec.quantity(column)
    ax.set(
        xlabel=record.spec.counter,
        ylabel=what.label,
        yscale="log" if what.log else "linear",
        title=record.spec.task,
    )
    bands = []
    for i, curves in enumerate(drawn):
        same = [c.variant for c in drawn[:i] if np.array_equal(c.samples, curves.samples)]
        hidden = f", equal to {record.spec.words(same[0])}" if same and curves.seeds else ""
        bands.append(_draw(ax, record, curves, runs, hidden))
    if named:
        label = "90% t-band of the mean" + _cut(what, [b for b in bands if b is not None])
        ax.fill_between([], [], [], color="0.4", alpha=0.2, linewidth=0, label=label)
    threshold = record.spec.threshold
    if threshold is not None and column == record.spec.column:
        ax.axhline(threshold, color="0.4", linewidth=1.0, zorder=1, label=f"solved: {threshold:g}")
    legend_below(ax)


def _cut(what: Quantity, bands: Sequence[Band]) -> str:
    """Say where bands are cut, if one is."""
    bands = [band for band in bands if band.n > 1]
    if what.log and any((band.low < band.mean / 10).any() for band in bands):
        return ", cut at a tenth"
    beyond = [((b.low < what.least) | (b.high > what.most)).any() for b in bands]
    return ", cut to the possible" if any(beyond) and not what.log else ""


def _recorded(record: Record, variants: Sequence[str] | None) -> list[str]:
    """Return the variants to draw: those of them that have runs."""
    asked = list(record.spec.variants if variants is None else variants)
    for variant in asked:
        check.choice("variant", variant, record.spec.variants)
    found = [variant for variant in asked if record.seeds(variant)]
    if not found:
        raise ValueError(
            f"nothing to draw of the variants {asked}: got a record {record.path} without a run of "
            "them (expected one or more); `amgd run` makes them"
        )
    return found


def _draw(ax: Axes, record: Record, curves: Curves, runs: bool, hidden: str = "") -> Band | None:
    """Draw the runs of a variant and return the band, if there is one."""
    name, style = variant_name(record, curves.variant) + hidden, line_style(curves.variant)
    what, lost, band = record.spec.quantity(curves.column), len(curves.diverged), None
    if curves.seeds:
        options = {"runs": runs, "diverged": lost, "possible": (what.least, what.most), **style}
        band = curve(ax, curves.k, curves.samples, label=name, **options)
    else:
        ax.plot([], [], label=f"{name} ({run_count(0, lost)})", **style)
    for seed in curves.diverged if runs else ():
        k, values = until_divergence(record, curves, seed)
        ax.plot(k, values, color=style["color"], alpha=0.4, linewidth=0.5, linestyle="-", zorder=1)
        ax.plot(k[-1:], values[-1:], "x", color=style["color"], markersize=5)
    return band
