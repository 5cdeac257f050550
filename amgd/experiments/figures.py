"""The pictures of the book: one style, and one function that draws every curve.

Needs matplotlib (``pip install "amgd[notebooks]"``).
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from amgd.experiments.statistics import Band, mean_band

__all__ = ["curve", "reference_slope", "use_style"]


def use_style() -> None:
    """Use the book's style for all figures drawn from now on.

    Examples
    --------
    >>> use_style()
    >>> plt.rcParams["axes.grid"]
    True
    """
    plt.style.use(str(files("amgd.experiments") / "amgd.mplstyle"))


def curve(
    ax: Axes,
    k: ArrayLike,
    samples: ArrayLike,
    *,
    label: str,
    level: float = 0.9,
    runs: bool = False,
    **line: Any,
) -> Band:
    """Draw the mean of runs over k, with its Student-t band.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw. Choose the scales before or after.
    k : array_like, shape (m,)
        Iteration, episode or time.
    samples : array_like, shape (n, m)
        One row for each run, at least two.
    label : str
        Name of the curve; the number of runs is appended.
    level : float
        Nominal coverage of the band.
    runs : bool
        Draw each run faintly as well.
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
    band = mean_band(y, level)
    (mean,) = ax.plot(x, band.mean, label=f"{label} (n = {band.n})", **line)
    # On a logarithmic axis the band's lower end may be negative: it is cut at a tenth of the smallest mean.
    floor = band.mean[band.mean > 0].min(initial=np.inf) / 10
    low = (
        np.maximum(band.low, floor) if ax.get_yscale() == "log" and np.isfinite(floor) else band.low
    )
    ax.fill_between(x, low, band.high, color=mean.get_color(), alpha=0.2, linewidth=0)
    if runs:
        ax.plot(x, y.T, color=mean.get_color(), alpha=0.2, linewidth=0.6, linestyle="-")
    return band


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
