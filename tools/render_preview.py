"""Draw the picture that stands for the book where a link to a page is shown.

``python tools/render_preview.py`` writes ``book/_static/preview.png``: SGD on independent samples
and on a sticky chain, one run each, as in the first figure of chapter 1. The first page has the
same as a drawing, ``book/_static/opening.svg``. Both are committed.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from amgd import figures
from amgd.descent.algorithms import sgd
from amgd.descent.problems import Quadratic
from amgd.markov import iid, sticky

PICTURE = Path(__file__).resolve().parents[1] / "book" / "_static" / "preview.png"


def main() -> None:
    """Write the picture, 1200 by 630 points, the size that previews are shown in."""
    figures.use_style()
    fair = np.array([0.5, 0.5])
    problem = Quadratic([1.0], noise=[[1.0], [-1.0]])
    fig, ax = plt.subplots(figsize=(8, 4.2))
    ax.axhline(0, color="0.6", linewidth=1)
    for name, chain in {
        "independent samples": iid(fair),
        "sticky chain": sticky(fair, 0.05),
    }.items():
        rng = np.random.default_rng(2)
        run = sgd(problem, chain=chain, step=0.1, n_steps=400, record=1, x0=np.zeros(1), rng=rng)
        ax.plot(run.k, run.x[:, 0, 0], label=name)
    ax.set(xlabel="step k", ylabel=r"$x_k$", title="Accelerated Markov gradient descent")
    ax.legend()
    fig.savefig(PICTURE, dpi=150)
    ax.set_title("")
    plt.rcParams["svg.hashsalt"] = "opening"  # the same file each time
    fig.savefig(PICTURE.with_name("opening.svg"), transparent=True, metadata={"Date": None})
    print(PICTURE)


if __name__ == "__main__":
    main()
