"""Draw the book's chains and worlds, both algorithms, what it found, and what refutes theorems.

``python -m tools.drawings`` writes the drawings of ``book/_static/drawings``, which are committed.
They are plain SVG; probabilities are those of the package's chains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from html import escape
from itertools import product
from math import cos, hypot, log10, pi, sin
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amgd.descent import bounds, steps
from amgd.descent.algorithms import amgd_convex
from amgd.descent.problems import Box, Problem, Quadratic, clipped_linear, sine_counterexample
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
from amgd.td import GridWorld

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
            else arrow(places[i], places[j], probability, side=22 if P[j, i] > 0 else 0)
        )
    for i, (a, b) in enumerate(places):
        yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{NODE}" fill="white" stroke="black"/>'
        yield words(a, b + 4, str(i))


def arrow(
    start: tuple[float, float],
    end: tuple[float, float],
    text: str,
    *,
    side: float = 0.0,
    radius: float = NODE,
    along: float = 0.36,  # not in the middle, where others cross
    apart: float = 9,
) -> Iterator[str]:
    """An arrow between two states, which bends by ``side`` to its left, and its text."""
    (a, b), (c, d) = start, end
    length = hypot(c - a, d - b)
    u, v = (c - a) / length, (d - b) / length
    middle = (a + c) / 2 + side * v, (b + d) / 2 - side * u
    towards = [
        (
            px + radius * (mx - px) / hypot(mx - px, my - py),
            py + radius * (my - py) / hypot(mx - px, my - py),
        )
        for (px, py), (mx, my) in ((start, middle), (end, middle))
    ]
    (p, q), (r, s) = towards
    yield (
        f'<path d="M{p:.1f} {q:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {r:.1f} {s:.1f}" '
        'fill="none" stroke="black" marker-end="url(#head)"/>'
    )
    off = 2 * along * (1 - along) * side + apart
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
    """A probability beside its arrow, readable where it lies on another one."""
    halo = {"stroke": "white", "stroke_width": 3, "paint_order": "stroke"}
    return words(x, y + 4, text, font_size=10, **halo, fill="#0072B2")


def all_chains() -> str:
    """Every named chain as a graph, two in a row; graphs of two states are low."""
    named = list(chains().items())
    rows = [named[k : k + 2] for k in range(0, len(named), 2)]
    heights = [CELL if any(chain.n_states > 2 for _, chain in row) else CELL / 2 for row in rows]

    def parts() -> Iterator[str]:
        top = 24.0
        for row, height in zip(rows, heights, strict=True):
            for x, (name, chain) in zip((CELL / 2, 3 * CELL / 2), row, strict=True):
                yield words(x, top, name, font_weight="bold")
                yield from graph(chain, x, top + height / 2 + 12)
            top += height + 36

    title = "Graphs of chains, each arrow with its probability: "
    title += "; ".join(name for name, _ in named)
    return picture(2 * CELL, sum(heights) + 36 * len(rows), title, parts())


def node(place: tuple[float, float], text: str, radius: float = NODE) -> Iterator[str]:
    """A circle with its name."""
    x, y = place
    yield f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="white" stroke="black"/>'
    yield words(x, y + 4, text)


ALGORITHM_1 = (
    ("xₖ₋₁", "yₖ", "αₖ"),
    ("x̄ₖ₋₁", "yₖ", "1−αₖ"),
    ("ξₖ₋₁", "ξₖ", "P"),
    ("yₖ", "Gₖ", ""),
    ("ξₖ", "Gₖ", ""),
    ("xₖ₋₁", "xₖ", ""),
    ("Gₖ", "xₖ", "−γₖ"),
    ("yₖ", "x̄ₖ", ""),
    ("Gₖ", "x̄ₖ", "−βₖ"),
)
ALGORITHM_2 = (
    ("xₖ₋₁", "yₖ", "βₖ"),
    ("x̄ₖ₋₁", "yₖ", "1−βₖ"),
    ("ξₖ₋₁", "ξₖ", "P"),
    ("yₖ", "Gₖ", ""),
    ("ξₖ", "Gₖ", ""),
    ("xₖ₋₁", "xₖ", ""),
    ("Gₖ", "xₖ", "−γₖ"),
    ("x̄ₖ₋₁", "x̄ₖ", "1−αₖ"),
    ("xₖ", "x̄ₖ", "αₖ"),
)
PLACES = {
    "ξₖ₋₁": (146.0, 30.0), "ξₖ": (244.0, 30.0),
    "xₖ₋₁": (44.0, 100.0), "xₖ": (356.0, 100.0),
    "yₖ": (146.0, 170.0), "Gₖ": (244.0, 170.0),
    "x̄ₖ₋₁": (44.0, 240.0), "x̄ₖ": (356.0, 240.0),
}  # fmt: skip


def flow(name: str, arrows: Sequence[tuple[str, str, str]], note: str = "") -> str:
    """One step of an algorithm: what each of its quantities is made of."""
    size = 24.0

    def parts() -> Iterator[str]:
        for start, end, text in arrows:
            under = -16 if (start, end) == ("yₖ", "x̄ₖ") else 0  # below the gradient
            ends = PLACES[start], PLACES[end]
            yield from arrow(*ends, text, side=under, radius=size, along=0.42, apart=14)
        for text, place in PLACES.items():
            yield from node(place, text, size)
        yield words(392, 66, note, text_anchor="end", fill="#0072B2")

    told = "; ".join(f"{b} from {a}{f' times {w}' if w else ''}" for a, b, w in arrows)
    return picture(400, 272, f"{name}, one step as a flow of data: {told}", parts())


def chapter_ladder() -> dict[str, Any]:
    """The constants of the ladder, by the cell of chapter 10 that defines them."""
    source = (FOLDER.parents[2] / "notebooks" / "src" / "10_policy_gradient.md").read_text("utf8")
    cell = source[source.index("STATES, ACTIONS, HORIZON") : source.index("def extend(")]
    names: dict[str, Any] = {"np": np}
    exec(cell, names)
    return names


def ladder() -> str:
    """The rungs of chapter 10 with what climbing does and what stopping pays."""
    known = chapter_ladder()
    move, reward, end = known["move"], known["reward"], known["END"]
    stop, climb = known["STOP"], known["CLIMB"]
    places = [(170.0, 250.0 - 90 * rung) for rung in range(end)] + [(340.0, 160.0)]

    def parts() -> Iterator[str]:
        for rung in range(end):
            for after in np.flatnonzero(move[rung, climb]).tolist():
                chance = f"{move[rung, climb, after]:g}"
                if after == rung:
                    yield from loop(places[rung], pi if rung else pi / 2, chance)
                else:
                    side = 0 if after > rung else -190
                    yield from arrow(
                        places[rung], places[after], chance, side=side, along=0.5, apart=14
                    )
            yield from arrow(places[rung], places[end], f"+{reward[rung, stop]:g}", along=0.45)
        for rung, place in enumerate(places):
            yield from node(place, str(rung) if rung < end else "end")
        cost = f"{reward[0, climb]:g}".replace("-", "−")
        yield words(12, 20, f"up: climb, pays {cost}", text_anchor="start", font_weight="bold")
        yield words(388, 20, "right: stop", text_anchor="end", font_weight="bold")

    told = "; ".join(
        f"rung {rung}: climbing leads to "
        + ", ".join(f"{a} ({move[rung, climb, a]:g})" for a in np.flatnonzero(move[rung, climb]))
        + f", stopping pays {reward[rung, stop]:g}"
        for rung in range(end)
    )
    return picture(400, 312, f"The ladder: {told}", parts())


def grid_walk(n: int = 10, seed: int = 3) -> tuple[GridWorld, NDArray[np.int64]]:
    """The small grid, and the states of one of its episodes."""
    grid = GridWorld(n, goal="absorbing")
    rng = np.random.default_rng(seed)
    return grid, grid.chain.sample(10 * n + 1, rng=rng, initial=grid.start)[0]


def walk() -> str:
    """An episode on the small grid; the line slides a little, so that ways back do not cover it."""
    grid, states = grid_walk()
    n, cell = grid.n, 30.0
    slide = np.linspace(-8, 8, len(states))
    row, column = np.divmod(states, n)
    xs, ys = 10 + cell * (column + 0.5) + slide, 10 + cell * (row + 0.5) + slide
    stays = np.flatnonzero(np.diff(states) == 0)

    def parts() -> Iterator[str]:
        for i in range(n + 1):
            at, end = 10 + cell * i, 10 + cell * n
            look = f'stroke="{"black" if i in (0, n) else "#bbbbbb"}"'
            yield f'<path d="M{at:g} 10V{end:g}M10 {at:g}H{end:g}" {look}/>'
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        yield f'<polyline points="{line}" fill="none" stroke="#0072B2" stroke-width="1.5"/>'
        for x, y in zip(xs[stays], ys[stays], strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#B03A00"/>'
        for x, y, colour in ((xs[0], ys[0], "#E69F00"), (xs[-1], ys[-1], "#0072B2")):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}" stroke="black"/>'
        goal = divmod(grid.goal_state, n)
        yield words(10 + cell * (goal[1] + 0.5), 17 + cell * (goal[0] + 0.5), "★", font_size=20)
        middle = (372.0, 90.0)
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            tip = middle[0] + 46 * dx, middle[1] + 46 * dy
            yield from arrow(middle, tip, "¼", radius=6, along=0.5)
        yield f'<circle cx="{middle[0]:g}" cy="{middle[1]:g}" r="5" fill="black"/>'
        for i, (colour, text) in enumerate(
            (("#E69F00", "start"), ("#0072B2", "end"), ("#B03A00", "at a wall"))
        ):
            yield f'<circle cx="330" cy="{190 + 24 * i}" r="5" fill="{colour}"/>'
            yield words(342, 194 + 24 * i, text, text_anchor="start")
        yield words(330, 266, "★", font_size=14)
        yield words(342, 266, "goal", text_anchor="start")

    told = (
        f"A walk on the {n} by {n} grid, {len(states) - 1} steps from the top left corner: "
        f"{len(stays)} of them against a wall, {len(set(states))} different cells, each of four "
        "directions with probability 1/4"
    )
    return picture(424, 320, told, parts())


# Parts of the book: the column in which each stands, its name, its chapters.
MAP: Sequence[tuple[int, str, Sequence[tuple[str, str, str, str]]]] = (
    (0, "I. Sampling", (
        ("1", "Markov gradients", "they are biased, dependent", "holds"),
        ("2", "How a chain forgets", "Corollary 1", "repaired"),
    )),
    (1, "II. Theorems", (
        ("3", "Two algorithms", "Theorem 1 gains on SGD", "false"),
        ("4", "Nonconvex", "Lemma 1, Theorem 1", "repaired"),
        ("5", "Convex", "Lemma 2, Theorem 2", "repaired"),
        ("6", "Strongly convex", "Theorem 3", "repaired"),
        ("7", "Price of mixing", "acceleration pays", "depends"),
    )),
    (2, "III. Differences", (
        ("8", "TD as descent", "TD is gradient descent", "depends"),
        ("9", "GridWorld", "Figure 1", "depends"),
    )),
    (0, "IV. Policies", (
        ("10", "Policy gradient", "REINFORCE is SGD", "depends"),
        ("11", "CartPole, Acrobot", "Figure 2", "depends"),
        ("12", "Four robots", "Figure 3", "depends"),
    )),
    (2, "V. Verdict", (
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
    wide, high, gap, left = 212, 68, 8, {"text_anchor": "start"}
    ends = [0, 0, 0]  # of the columns

    def parts() -> Iterator[str]:
        for column, part, chapters in MAP:
            x, y = 4 + column * (wide + 10), ends[column] + 24
            yield words(x, y, part, font_weight="bold", font_size=15, **left)
            y += 12
            for number, name, claim, verdict in chapters:
                colour, sign = COLOURS[verdict], f"{SIGNS[verdict]} {MEANINGS[verdict]}"
                yield (
                    f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="5" fill="none" '
                    f'stroke="{colour}" stroke-width="1.5"/>'
                )
                yield words(x + 10, y + 20, f"{number}. {name}", font_weight="bold", **left)
                yield words(x + 10, y + 39, claim, font_size=11, **left)
                yield words(x + 10, y + 58, sign, fill=colour, font_size=11, **left)
                y += high + gap
            ends[column] = y

    told = [
        f"chapter {number}, {claim}: {MEANINGS[verdict]}"
        for _, _, chapters in MAP
        for number, _, claim, verdict in chapters
    ]
    drawn = list(parts())
    title = "Map of the book: " + "; ".join(told)
    return picture(3 * (wide + 10), max(ends), title, iter(drawn))


class Refutation(NamedTuple):
    """A printed statement, its smallest counterexample, and both sides of it over k."""

    statement: str
    erratum: int
    example: str
    k: NDArray[Any]
    true: NDArray[np.float64]
    printed: NDArray[np.float64]
    at: int  # the k that refutes


def gaps(problem: Problem, rule: steps.StepSizes, n: int, x0: float) -> NDArray[np.float64]:
    """f(x_bar_k) - f* of Algorithm 2 without noise, for k = 1..n."""
    rng = np.random.default_rng(0)
    run = amgd_convex(problem, iid([1.0]), rule, n, x0=[x0], rng=rng, record=1)
    return np.asarray(problem.value(run.x_bar[:, 0]) - problem.minimum)


def corollary() -> Refutation:
    """Two states with the gradients -4 and 4: the bias after k steps, at the level 2^-k."""
    chain, k = two_state(0.375, 0.125), np.arange(1, 7)
    G = np.array([-4.0, 4.0])
    bias = np.array([abs((chain.law(int(t), initial=0) - chain.stationary) @ G) for t in k])
    levels = np.exp(-k / chain.mixing_constant)  # those with tau(gamma) = k
    printed = np.array([bounds.corollary1_printed(gamma=float(level)) for level in levels])
    return Refutation("Corollary: the bias", 4, "two states, G = ∓4", k, bias, printed, 2)


def lemma_1() -> Refutation:
    """The same chain with almost linear functions: E f(x_k), a sum over all paths."""
    chain, gamma, n, tau = two_state(0.375, 0.125), 0.25, 6, 2
    problem = sine_counterexample([-4.0, 4.0], stationary=chain.stationary)
    paths = np.array(list(product(range(2), repeat=n)))
    before = np.column_stack([np.zeros(len(paths), int), paths[:, :-1]])
    weight = chain.transition[before, paths].prod(axis=1)
    x, value, square = np.zeros((len(paths), 1)), [0.0], []
    for states in paths.T:  # equal steps: SGD, and y_k is the point before the step
        square.append(weight @ (problem.gradient(x) ** 2).sum(axis=1))
        x = x - gamma * problem.sample_gradient(x, states)
        value.append(weight @ problem.value(x))
    k = np.arange(tau + 1, n + 1)
    L, M = problem.L_sample, problem.M
    added = bounds.lemma1_printed(k, tau, steps=steps.sgd(gamma), L=L, M=M)
    printed = np.array(value)[k - 1] - gamma * (1 - L * gamma) * np.array(square)[k - 1] + added
    return Refutation(
        "Lemma 1: E f(xₖ)", 11, "two states, F almost linear", k, np.array(value)[k], printed, 3
    )


def theorem_1() -> Refutation:
    """SGD on three minimisers at the corners of a triangle: E||grad f(y_R)||^2 in closed form."""
    K, M, a = np.logspace(8, 12, 41).round().astype(np.int64), 0.00433, 0.25
    K[np.abs(K - 1.6e9).argmin()] = 1_600_000_000
    start = (1 - (1 - a) ** (2.0 * K)) / (K * (1 - (1 - a) ** 2))
    true = M**2 / 3 * a / (2 - a) * (1 - start)
    printed = np.array([
        bounds.theorem1_printed(int(n), L=n**0.5 / 4, M=M, initial_gap=0.0, C=0.0) for n in K
    ])  # fmt: skip
    return Refutation(
        "Theorem 1: E‖∇f‖²", 29, "three minimisers, L = √k / 4", K, true, printed, 1_600_000_000
    )


def lemma_2() -> Refutation:
    """A ramp without noise, f(x_bar_0) = 0: D stands for a squared distance."""
    n, D, start = 8, 20.0, -20.0
    problem, rule, k = clipped_linear(4.0, 1.0, D), steps.theorem2(1.0, 0.0), np.arange(1, n + 1)
    alpha, gamma = rule.alpha(k), rule.gamma(k)
    over = np.cumprod(np.concatenate([[1.0], 1 - alpha[1:]]))
    noise = np.cumsum(4 * problem.M**2 * alpha * gamma / (over * (1 - alpha * gamma)))
    first = float(problem.value([start])) + D / gamma[0]  # (C2) allows 1 / gamma_1
    return Refutation(
        "Lemma 2: the gap",
        40,
        "f′ = min(4, x + 20), no noise",
        k,
        gaps(problem, rule, n, D),
        over * (first + noise),
        1,
    )


def theorem_2() -> Refutation:
    """A flat parabola without noise: the logarithm is negative."""
    problem, k = Quadratic([0.1], domain=Box(-10.0, 10.0)), np.arange(1, 13)
    known = {"L": 0.1, "D": 10.0, "M": problem.M, "f_x_bar0": float(problem.value([10.0]))}
    return Refutation(
        "Theorem 2: the gap",
        37,
        "f = x²/20 on [−10, 10], no noise",
        k,
        gaps(problem, steps.theorem2_printed(0.1), 12, 10.0),
        bounds.theorem2_printed(k, **known),
        1,
    )


def remark() -> Refutation:
    """A line with a rounded foot: the start is not forgotten like 1/k^2."""
    D, k, L = 5000.0, np.arange(1, 101), 1 / (2 * 50**0.5)
    problem = clipped_linear(49.5074, L, D)
    known = {"L": L, "D": D, "M": problem.M, "f_x_bar0": float(problem.value([D]))}
    return Refutation(
        "Theorem 2: the start",
        34,
        "a line with a rounded foot, no noise",
        k,
        gaps(problem, steps.theorem2_printed(L), 100, D),
        bounds.theorem2_printed(k, **known),
        50,
    )


def theorem_3() -> Refutation:
    """A small flat parabola without noise: the logarithm is negative here too."""
    problem, k = Quadratic([0.1], domain=Box(-1.0, 1.0)), np.arange(1, 9)
    known = {"mu": 0.1, "L": 0.1, "D": 1.0, "M": problem.M, "f_x_bar0": 0.05}
    return Refutation(
        "Theorem 3: the gap",
        38,
        "f = x²/20 on [−1, 1], no noise",
        k,
        gaps(problem, steps.theorem3_printed(0.1), 8, 1.0),
        bounds.theorem3_printed(k, **known),
        1,
    )


def frozen() -> Refutation:
    """Two states that hardly ever change: the gap is 1/2 until they do, a bound from below."""
    k, flip = np.unique([*np.logspace(3, 7, 41).round().astype(int), 4211]), 1e-6
    problem = Quadratic([1.0], noise=[[1.0], [-1.0]], domain=Box(-1.0, 1.0))
    gap = float(problem.value([1.0])) - problem.minimum
    known = {"mu": 1.0, "L": 1.0, "D": 1.0, "M": problem.M}
    return Refutation(
        "Theorem 3: no constant of the chain",
        36,
        "±1 flips once in a million steps",
        k,
        gap * (1 - flip) ** k,
        bounds.theorem3_printed(k, f_x_bar0=1.0, **known),  # E F(x_bar_0; xi), with the noise
        4211,
    )


REFUTED: dict[str, Callable[[], Refutation]] = {
    "refuted-corollary": corollary,
    "refuted-lemma-1": lemma_1,
    "refuted-theorem-1": theorem_1,
    "refuted-lemma-2": lemma_2,
    "refuted-theorem-2": theorem_2,
    "refuted-theorem-2-start": remark,
    "refuted-theorem-3": theorem_3,
    "refuted-theorem-3-chain": frozen,
}


def number(value: float) -> str:
    """Four digits, with a power of ten where the number is very large or small."""
    text = f"{value:.4g}"
    if abs(value) >= 1e4 or 0 < abs(value) < 1e-4:
        digits, power = f"{value:.3e}".split("e")
        raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        text = f"{float(digits):g}·10{raised}"
    return text.replace("-", "−")


def refuted(case: Refutation) -> str:
    """Both sides of a printed statement over k; a ring where the true one is above."""
    left, right, top, bottom = 62.0, 326.0, 52.0, 176.0
    far, both = bool(case.k[-1] > 50 * case.k[0]), np.concatenate([case.true, case.printed])
    steep = bool(both.min() > 0 and both.max() > 50 * both.min())
    xs = np.log10(case.k) if far else case.k
    low, high = (log10(both.min()), log10(both.max())) if steep else (both.min(), both.max())

    def height(value: float) -> float:
        place = log10(value) if steep else value
        return bottom - 6 - (place - low) / (high - low) * (bottom - top - 12)

    def width(x: float) -> float:
        return float(left + 8 + (x - xs[0]) / (xs[-1] - xs[0]) * (right - left - 16))

    (i,) = np.flatnonzero(case.k == case.at)
    above, below = float(case.true[i]), float(case.printed[i])
    start = {"text_anchor": "start"}

    def parts() -> Iterator[str]:
        yield words(8, 18, f"{case.statement} (E{case.erratum})", font_weight="bold", **start)
        yield words(8, 37, case.example, font_size=11, **start)
        yield (
            f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="black"/>'
            f'<path d="M{width(xs[i]):.1f} {bottom}V{top}" stroke="#999999" '
            'stroke-dasharray="1 3"/>'
        )
        for value in (both.min(), both.max()):
            yield words(left - 5, height(value) + 4, number(value), text_anchor="end", font_size=10)
        for place, anchor in ((0, "start"), (-1, "end")):
            k = f"{case.k[place]:.0f}" if case.k[place] < 1e5 else number(case.k[place])
            yield words(left if not place else right, bottom + 16, k, text_anchor=anchor)
        yield words((left + right) / 2, bottom + 16, "k", font_style="italic")
        for side, colour, dash in (
            (case.printed, COLOURS["false"], "5 3"),
            (case.true, "black", "none"),
        ):
            line = " ".join(
                f"{width(x):.1f},{height(value):.1f}" for x, value in zip(xs, side, strict=True)
            )
            yield (
                f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" '
                f'stroke-dasharray="{dash}"/>'
            )
            at = f'cx="{width(xs[i]):.1f}" cy="{height(side[i]):.1f}"'
            yield f'<circle {at} r="4.5" fill="white" stroke="{colour}" stroke-width="2"/>'
        k = f"{case.at}" if case.at < 1e5 else number(case.at)
        yield words(8, 213, f"At k = {k}, true: {number(above)}", **start)
        yield words(8, 232, f"printed, dashed: {number(below)}", fill=COLOURS["false"], **start)

    told = f"at k = {case.at} the true value {number(above)} is above the printed {number(below)}"
    return picture(340, 242, f"{case.statement}; {case.example}: {told}", parts())


def drawings() -> dict[str, str]:
    """Each file's name and content."""
    cases = {f"{name}.svg": refuted(case()) for name, case in REFUTED.items()}
    return {
        "chains.svg": all_chains(),
        "map.svg": book_map(),
        "algorithm-1.svg": flow("Algorithm 1", ALGORITHM_1),
        "algorithm-2.svg": flow("Algorithm 2", ALGORITHM_2, "projected onto X"),
        "walk.svg": walk(),
        "ladder.svg": ladder(),
        **cases,
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawings().items():
        (FOLDER / name).write_text(text, "utf8")
        print(FOLDER / name)
