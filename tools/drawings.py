"""Draw the book's chains as graphs, and the map of what it found.

``python -m tools.drawings`` writes the drawings of ``book/_static/drawings``, which are committed.
They are plain SVG; probabilities are those of the package's chains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from math import cos, hypot, pi, sin
from pathlib import Path

import numpy as np

from amgd.markov import (
    MarkovChain,
    cyclic,
    de_bruijn,
    iid,
    lazy_cycle,
    sticky,
    two_clusters,
    two_state,
)

FOLDER = Path(__file__).resolve().parents[1] / "book" / "_static" / "drawings"
CELL, RADIUS, NODE = 280, 74, 17  # of one graph, its circle, its states
COLOURS = {"holds": "#0072B2", "repaired": "#009E73", "false": "#B03A00", "depends": "#5B3A8C"}
SIGNS = {"holds": "✓", "repaired": "↻", "false": "✗", "depends": "±"}


def chains() -> dict[str, MarkovChain]:
    """The chains that the chapters name, each in a small size."""
    third = np.full(3, 1 / 3)
    return {
        "independent samples": iid(third),
        "sticky, p = 1/10": sticky(third, p=0.1),
        "two states, p = 1/4, q = 1/2": two_state(0.25, 0.5),
        "alternating, p = q = 19/20": two_state(0.95, 0.95),
        "lazy walk on a cycle": lazy_cycle(5),
        "a pass over the data": cyclic(5),
        "two clusters, ε = 1/20": two_clusters(4, 0.05),
        "coin tosses, the last 2": de_bruijn(2),
    }


def picture(width: float, height: float, title: str, parts: Iterator[str]) -> str:
    """An SVG with a title, for who cannot see it, and a head for the arrows."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12">\n'
        f"<title>{escape(title)}</title>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def words(x: float, y: float, text: str, **look: object) -> str:
    """Text about a point."""
    given = {"text_anchor": "middle", **look}
    marks = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in given.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" {marks}>{escape(text)}</text>'


def graph(chain: MarkovChain, x: float, y: float) -> Iterator[str]:
    """States on a circle about (x, y), an arrow with its probability for each possible step."""
    P = chain.transition
    n = len(P)
    angles = [2 * pi * i / n - pi / 2 if n > 2 else pi * (1 - i) for i in range(n)]
    radius = RADIUS if n > 2 else 0.7 * RADIUS
    places = [(x + radius * cos(a), y + radius * sin(a)) for a in angles]
    for i, j in np.argwhere(P > 0):
        probability = str(Fraction(float(P[i, j])).limit_denominator(1000))
        yield from (
            loop(places[i], angles[i], probability)
            if i == j
            else arrow(places[i], places[j], probability, bent=bool(P[j, i] > 0))
        )
    for i, (a, b) in enumerate(places):
        yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{NODE}" fill="white" stroke="black"/>'
        yield words(a, b + 4, str(i))


def arrow(
    start: tuple[float, float], end: tuple[float, float], text: str, *, bent: bool
) -> Iterator[str]:
    """An arrow between two states; one of a pair bends to its left."""
    (a, b), (c, d) = start, end
    length = hypot(c - a, d - b)
    u, v = (c - a) / length, (d - b) / length
    side = 22 if bent else 0
    middle = (a + c) / 2 + side * v, (b + d) / 2 - side * u
    towards = [
        (
            px + NODE * (mx - px) / hypot(mx - px, my - py),
            py + NODE * (my - py) / hypot(mx - px, my - py),
        )
        for (px, py), (mx, my) in ((start, middle), (end, middle))
    ]
    (p, q), (r, s) = towards
    yield (
        f'<path d="M{p:.1f} {q:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {r:.1f} {s:.1f}" '
        'fill="none" stroke="black" marker-end="url(#head)"/>'
    )
    along = 0.36  # not in the middle, where others cross
    off = 2 * along * (1 - along) * side + 9
    yield label(a + along * (c - a) + off * v, b + along * (d - b) - off * u, text)


def loop(place: tuple[float, float], angle: float, text: str) -> Iterator[str]:
    """An arrow from a state to itself, away from the middle."""
    (a, b), out = place, 46
    ends = [(a + NODE * cos(angle + t), b + NODE * sin(angle + t)) for t in (-0.6, 0.6)]
    turns = [(a + out * cos(angle + t), b + out * sin(angle + t)) for t in (-0.55, 0.55)]
    (p, q), (r, s) = ends
    (e, f), (g, h) = turns
    yield (
        f'<path d="M{p:.1f} {q:.1f}C{e:.1f} {f:.1f} {g:.1f} {h:.1f} {r:.1f} {s:.1f}" '
        'fill="none" stroke="black" marker-end="url(#head)"/>'
    )
    yield label(a + 47 * cos(angle), b + 47 * sin(angle), text)


def label(x: float, y: float, text: str) -> str:
    """A probability beside its arrow."""
    return words(x, y + 4, text, font_size=10, fill="#0072B2")


def all_chains() -> str:
    """Every named chain as a graph, four in a row."""
    named, columns = chains(), 4
    rows = -(-len(named) // columns)

    def parts() -> Iterator[str]:
        for k, (name, chain) in enumerate(named.items()):
            x, y = CELL * (k % columns + 0.5), (CELL + 50) * (k // columns) + 24
            yield words(x, y, name, font_weight="bold")
            yield from graph(chain, x, y + CELL / 2 + 22)

    title = "Graphs of chains, each arrow with its probability: " + "; ".join(named)
    return picture(CELL * columns, (CELL + 50) * rows, title, parts())


MAP: Sequence[tuple[str, Sequence[tuple[str, str, str, str]]]] = (
    ("I. Sampling", (
        ("1", "Markov gradients", "they are biased, dependent", "holds"),
        ("2", "How a chain forgets", "Corollary 1", "repaired"),
    )),
    ("II. Theorems", (
        ("3", "Two algorithms", "Theorem 1 gains on SGD", "false"),
        ("4", "Nonconvex", "Lemma 1, Theorem 1", "repaired"),
        ("5", "Convex", "Lemma 2, Theorem 2", "repaired"),
        ("6", "Strongly convex", "Theorem 3", "repaired"),
        ("7", "Price of mixing", "acceleration pays", "depends"),
    )),
    ("III. Differences", (
        ("8", "TD as descent", "TD is gradient descent", "depends"),
        ("9", "GridWorld", "Figure 1", "depends"),
    )),
    ("IV. Policies", (
        ("10", "Policy gradient", "REINFORCE is SGD", "depends"),
        ("11", "CartPole, Acrobot", "Figure 2", "depends"),
        ("12", "Four robots", "Figure 3", "depends"),
    )),
    ("V. Verdict", (
        ("13", "What held", "theory explains the figures", "false"),
        ("14", "Where it pays", "passes cost less", "holds"),
    )),
)  # fmt: skip
MEANINGS = {
    "holds": "holds",
    "repaired": "false as printed, repaired",
    "false": "does not hold",
    "depends": "holds under a condition",
}


def book_map() -> str:
    """The chapters by parts, each with a claim of the paper and what became of it."""
    width, wide, high = 1020, 192, 78

    def parts() -> Iterator[str]:
        for column, (part, chapters) in enumerate(MAP):
            x = 12 + column * (wide + 9)
            yield words(x, 22, part, text_anchor="start", font_weight="bold", font_size=15)
            for row, (number, name, claim, verdict) in enumerate(chapters):
                y, colour = 36 + row * (high + 8), COLOURS[verdict]
                yield (
                    f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="5" fill="none" '
                    f'stroke="{colour}" stroke-width="1.5"/>'
                )
                left = {"text_anchor": "start"}
                yield words(x + 10, y + 21, f"{number}. {name}", font_weight="bold", **left)
                yield words(x + 10, y + 42, claim, font_size=11, **left)
                sign = f"{SIGNS[verdict]} {MEANINGS[verdict]}"
                yield words(x + 10, y + 63, sign, fill=colour, font_size=11, **left)

    told = [
        f"chapter {number}, {claim}: {MEANINGS[verdict]}"
        for _, chapters in MAP
        for number, _, claim, verdict in chapters
    ]
    return picture(width, 36 + 5 * (high + 8), "Map of the book: " + "; ".join(told), parts())


def drawings() -> dict[str, str]:
    """Each file's name and content."""
    return {"chains.svg": all_chains(), "map.svg": book_map()}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawings().items():
        (FOLDER / name).write_text(text, "utf8")
        print(FOLDER / name)
