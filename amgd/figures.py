"""The pictures of the book: one style, one colour and line for each method, one kind of curve.

Needs matplotlib alone (``pip install "amgd[plots]"``).
"""

from __future__ import annotations

import re
import sys
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd.descent.steps import SCHEDULES
from amgd.statistics import Band, mean_band

__all__ = [
    "PLACES",
    "STYLE",
    "curve",
    "explorable",
    "legend_below",
    "line_style",
    "reference_slope",
    "run_count",
    "use_style",
]

STYLE = str(files("amgd") / "amgd.mplstyle")
PLACES = {
    "plain": SCHEDULES["sgd"].place,  # of an experiment; TD(0) is SGD with another gradient
    "accelerated": SCHEDULES["ghadimi_lan"].place,  # what the paper calls accelerated:
    "theorem2_printed": SCHEDULES["ghadimi_lan"].place,
    "theorem3_printed": SCHEDULES["ghadimi_lan"].place,
    "matched": 2,
    "tuned": 3,
    "tuned_accelerated": 4,
    "averaged": 7,
    "theorem2": 8,
    "theorem3": 9,
    "momentum": 10,
    "adam": 11,
    "tuned_matched": 2,  # these stand beside tuned methods alone
    "tuned_momentum": 10,
    "tuned_adam": 11,
}
"""Places of methods in the style's cycle, beside those that `SCHEDULES` gives its own.

Methods that share one are the same idea.
"""


def use_style() -> None:
    """Use the book's style for all figures drawn from now on.

    Examples
    --------
    >>> use_style()
    >>> plt.rcParams["axes.grid"]
    True
    """
    plt.style.use(STYLE)
    ipython = sys.modules.get("IPython")
    if ipython and hasattr(ipython.get_ipython(), "kernel"):  # a notebook: drawings, not bitmaps
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


@check.arguments
def line_style(method: str) -> dict[str, Any]:
    """Return colour and line style of a method, the same in every figure.

    Black and grey belong to no method: they are for bounds, exact values and references.

    Parameters
    ----------
    method : str
        A schedule of `amgd.descent.steps.SCHEDULES`, a rule of Algorithm 2, ``"averaged"`` for
        averaged SGD or TD(0), or a variant of an experiment. Any other name has a style too, which
        depends on its letters alone.

    Returns
    -------
    dict
        With the keys color and linestyle, for ``ax.plot``.

    Examples
    --------
    >>> line_style("sgd")
    {'color': '#0072B2', 'linestyle': '-'}
    >>> line_style("plain") == line_style("sgd")
    True
    """
    cycle = list(rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"])
    n = len(cycle)
    if method in SCHEDULES:
        place = SCHEDULES[method].place
    else:  # the places from n on pair the colours with the line styles of other places
        place = PLACES.get(method, n + crc32(method.encode()) % (n * (n - 1)))
    line = (place + place // n) % n
    return {"color": cycle[place % n]["color"], "linestyle": cycle[line]["linestyle"]}


@check.arguments
def curve(
    ax: Axes,
    k: Annotated[ArrayLike, check.array, ("m",), "give the k of each column"],
    samples: Annotated[ArrayLike, check.numeric, "give one row a run"],
    *,
    label: str,
    level: check.Share = 0.9,
    runs: bool = False,
    diverged: Annotated[int, check.integer, 0, "it counts runs"] = 0,
    possible: tuple[float, float] = (-np.inf, np.inf),
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
    possible : (float, float)
        Least and most that a value can be: the band is drawn no further.
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
    x, y = np.asarray(k), np.asarray(samples)
    if y.ndim != 2 or x.shape != y.shape[1:]:
        raise ValueError(
            "samples must have one row a run and one column a k: "
            f"got shape {y.shape} for {x.shape[0]} values of k"
        )
    band = mean_band(y, level, least=1)
    (mean,) = ax.plot(x, band.mean, label=f"{label} ({run_count(band.n, diverged)})", **line)
    if runs and band.n > 1:
        ax.plot(x, y.T, color=mean.get_color(), alpha=0.3, linewidth=0.5, linestyle="-", zorder=1)
    if band.n == 1:
        return band
    # An interval that reaches down to zero has no end on a logarithmic axis.
    low = np.maximum(band.low, band.mean / 10) if ax.get_yscale() == "log" else band.low
    low, high = np.clip(low, *possible), np.clip(band.high, *possible)
    ax.fill_between(x, low, high, color=mean.get_color(), alpha=0.2, linewidth=0)
    return band


@check.arguments
def run_count(n: int, diverged: int) -> str:
    """Say how many runs a curve has, and how many are not in it because they diverged.

    Examples
    --------
    >>> run_count(9, 0), run_count(9, 1)
    ('n = 9', 'n = 9, 1 diverged')
    """
    return f"n = {n}, {diverged} diverged" if diverged else f"n = {n}"


@check.arguments
def legend_below(ax: Axes) -> None:
    """Put the legend under the axis label, where it hides no curve.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> _ = ax.plot([1, 2], label="a")
    >>> legend_below(ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a']
    >>> plt.close(figure)
    """
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


class _Page:
    """A page that a notebook shows."""

    def __init__(self, name: str, frame: str) -> None:
        self.name, self._frame = name, frame

    def __repr__(self) -> str:
        return f"<explorable {self.name}>"

    def _repr_html_(self) -> str:
        return self._frame


@check.arguments
def explorable(name: str, *, folder: str = "../book/explorables") -> Any:
    """Show a page of the book that moves in the notebook: a cell that ends with this call shows it.

    The page comes with all its scripts, so that the viewer asks for no file.

    Parameters
    ----------
    name : str
        Of a page in the folder, such as ``"sticky_chain"``.
    folder : str
        Where the book keeps them, as seen from the notebook. A notebook that stands alone shows a
        sentence instead.

    Returns
    -------
    object
        With the method ``_repr_html_``, which notebooks call.

    Raises
    ------
    TypeError, ValueError
        If the name is no string, or the folder has no such page.

    Examples
    --------
    >>> explorable("sticky_chain", folder="book/explorables")
    <explorable sticky_chain>
    """
    place = Path(folder)
    names = sorted(path.stem for path in place.glob("*.html"))
    if not names:
        return _Page(name, "<p>The picture moves in the book's repository alone.</p>")
    if name not in names:
        raise ValueError(f"name must be a page of {folder}: got {name!r}; take one of {names}")

    def script(match: re.Match[str]) -> str:
        code = (place / match[1]).read_text("utf8").replace("</script", r"<\/script")
        return f"<script>{code}</script>"

    def style(match: re.Match[str]) -> str:
        return f"<style>{(place / match[1]).read_text('utf8')}</style>"

    page = (place / f"{name}.html").read_text("utf8")
    page = re.sub(r'<link rel="stylesheet" href="([^"]+)">', style, page)
    page = re.sub(r'<script src="([^"]+)"></script>', script, page)
    look = "width: 100%; height: 34rem; border: 0"
    return _Page(name, f'<iframe title="{name}" style="{look}" srcdoc="{escape(page)}"></iframe>')


@check.arguments
def reference_slope(
    ax: Axes,
    k: ArrayLike,
    power: Annotated[float, "(-100, 100)"],
    *,
    at: check.Positive,
    label: str | None = None,
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
    x = check.array("k", k, ("m",), "list where the line runs")
    if x.min() <= 0:
        raise ValueError(f"k must be positive: got {x.min():g}; the axes are logarithmic")
    text = rf"$k^{{{power:g}}}$" if label is None else label
    ax.plot(x, at * (x / x[0]) ** power, color="0.4", linewidth=1.0, linestyle="--", label=text)
