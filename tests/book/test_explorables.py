"""The explorables: what a reader moves shows the numbers of the package, from a file, to all."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import torch
from conftest import ROOT

from amgd import figures
from amgd.descent import steps
from amgd.descent.algorithms import amgd_nonconvex, sgd
from amgd.descent.exact import exact_average, exact_gap
from amgd.descent.problems import Quadratic
from amgd.experiments.records import Curves, Record
from amgd.experiments.summaries import measured
from amgd.experiments.verdicts import compare_runs
from amgd.markov import MarkovChain, de_bruijn, iid, lazy_cycle, sticky, two_clusters, two_state
from amgd.reinforce import (
    Episodes,
    SoftmaxPolicy,
    policy_gradient,
    returns_to_go,
    step_weights,
)
from amgd.td import TDProblem
from tools import explorable_records, explorables

FOLDER = ROOT / "book" / "explorables"
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
Numbers = dict[str, object]
NUMBERS = "JSON.parse(document.documentElement.dataset.numbers)"
SHOWN = "document.documentElement.dataset.numbers + document.querySelector('.readout').innerText"


# What the package says


def sticky_chain(p: float, rule: str, step: float, seed: int) -> Numbers:
    """SGD from 0 on samples x + 1 and x - 1; f is half the squared error."""
    problem, size = Quadratic([1.0], noise=[[1.0], [-1.0]]), 400
    beta = step if rule == "constant" else lambda k: 1 / k
    chain, fresh = sticky([0.5, 0.5], p), sticky([0.5, 0.5], 1.0)
    rng = np.random.default_rng(seed)
    run = sgd(problem, chain, beta, size, x0=[0.0], rng=rng, record=1)
    path = run.x[:, 0, 0]
    gaps = [
        exact_gap(problem, c, steps.sgd(beta), size, x0=[0.0], record=1)[1] for c in (chain, fresh)
    ]
    return {
        "path": path,
        "mean": np.cumsum(path**2) / run.k,
        "error": 2 * gaps[0],
        "fresh": 2 * gaps[1],
        "factor": (2 - p) / p,
        "ratio": gaps[0][-1] / gaps[1][-1],
    }


def step_in_the_plane(
    alpha: float, beta: float, rule: str, steps_: int, ratio: float = 4.0
) -> Numbers:
    """Algorithm 1 from (-2, 2.4), and one step more for the arrows."""
    quotient = {"sgd": 1.0, "theorem1": 1 + alpha, "nesterov": 1 / alpha, "free": ratio}[rule]
    gamma, a = beta * quotient, np.array([1.0, 0.1])
    constant = steps.StepSizes(
        "constant", lambda k: np.where(k == 1, 1.0, alpha), lambda k: beta, lambda k: gamma
    )
    start = np.array([-2.0, 2.4])  # x and x-bar are the same there, so that alpha_1 has no effect
    run = amgd_nonconvex(
        Quadratic(a), iid([1.0]), constant, steps_ + 1,
        x0=start, rng=np.random.default_rng(0), record=1,
    )  # fmt: skip
    x, mean, y = (np.vstack([start, points[:, 0]]) for points in (run.x, run.x_bar, run.y))
    matrices = [
        [[1 - alpha * gamma * c, -(1 - alpha) * gamma * c],
         [alpha * (1 - beta * c), (1 - alpha) * (1 - beta * c)]]
        for c in a
    ]  # fmt: skip
    return {
        "start": start,
        "x": x[:-1],
        "mean": mean[:-1],
        "y": y[-1],
        "next": x[-1],
        "nextMean": mean[-1],
        "radii": np.abs(np.linalg.eigvals(np.array(matrices))).max(axis=1),
    }


def drawn_chain(arrows: str) -> MarkovChain:
    """The chain of the arrows from-to:weight."""
    found = [re.fullmatch(r"(\d)-(\d):?(\d?)", word).groups() for word in arrows.split()]
    size = 1 + max(int(state) for *ends, _ in found for state in ends)
    weights = np.zeros((size, size))
    for i, j, weight in found:
        weights[int(i), int(j)] = weight or 1
    return MarkovChain(weights / weights.sum(axis=1, keepdims=True))


def forgetting(chain: str, k: int, start: int, p: float = 0.05, arrows: str = "") -> Numbers:
    """Law and distances of a chain of the book, or of one's own with these arrows."""
    made = {
        "two_clusters": lambda: two_clusters(8, p),
        "two_state": lambda: two_state(p, p),
        "sticky": lambda: sticky(np.full(5, 0.2), p),
        "lazy_cycle": lambda: lazy_cycle(8),
        "de_bruijn": lambda: de_bruijn(3),
        "own": lambda: drawn_chain(arrows),
    }[chain]()
    laws = [made.law(t, start) for t in range(61)]
    return {
        "k": k,
        "start": start,
        "law": laws[k],
        "stationary": made.stationary,
        "d": made.tv_distance(np.arange(61)),
        "own": [np.abs(law - made.stationary).sum() / 2 for law in laws],
        "quarter": made.mixing_time(0.25) if made.is_aperiodic else np.nan,  # JSON has no infinity
        "percent": made.mixing_time(0.01) if made.is_aperiodic else np.nan,
        "sum": made.mixing_sum if made.is_aperiodic else np.nan,
    }


def where_it_pays(kappa: float, noise: float, mixing: float, budget: int) -> Numbers:
    """Worst-case errors of three families, as chapter 14 computes them; sliders of exponents."""
    budgets, curvatures = 2 ** np.arange(1, 13), 10.0 ** (-np.arange(9) / 2)
    live = curvatures[curvatures * 10**kappa > 1 - 1e-9][:, None]
    slow = np.geomspace(1 / 256, 1, 17), np.zeros(17)
    fast = (g.ravel() for g in np.meshgrid(np.geomspace(1 / 64, 1, 7), 1 - 0.5 ** np.arange(1, 9)))
    fast = tuple(fast)

    def least(methods: tuple, k: int, tails: set[int]) -> float:
        found = []
        for tail in tails:
            correlation = 2 * mixing / (1 + 2 * mixing)
            start, added = exact_average(
                live, methods[0], int(k), theta=methods[1], tail=int(tail), correlation=correlation
            )
            worst = [(live / 2 * part).max(axis=0) for part in (start, added)]
            found.append((worst[0] + 10**noise * worst[1]).min())
        return min(found)

    errors = {
        "sgd": [least(slow, k, {1}) for k in budgets],
        "averaged": [least(slow, k, {k, k // 2}) for k in budgets],
        "accelerated": [least(fast, k, {1, k, k // 2}) for k in budgets],
    }
    at = {name: values[budget - 1] for name, values in errors.items()}
    return {**errors, "gain": min(at["sgd"], at["averaged"]) / at["accelerated"]}


def td_field(drift: float, discount: float, step: float, steps_: int, angle: float) -> Numbers:
    """The linear system of TD(0), and its expected updates from a point of the circle."""
    row = [0.1, 0.45 * (1 + drift), 0.45 * (1 - drift)]
    turns = 2 * np.pi * np.arange(3) / 3
    features = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    td = TDProblem([np.roll(row, i) for i in range(3)], [1, 0.5, -1], features, discount)
    thetas = [2.5 * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])]
    for _ in range(60):
        thetas.append(thetas[-1] + step * (td.b - td.A @ thetas[-1]))
    return {
        "A": td.A,
        "b": td.b,
        "fixed": td.theta_star,
        "thetas": thetas,
        "here": thetas[steps_],
        "neu": td.neu(np.array(thetas)),
        "rotation": (td.A[1, 0] - td.A[0, 1]) / 2,
    }


STATES, CLIMB = 3, 1
MOVES = {(0, 1): [(0, 0.2), (1, 0.8)], (1, 1): [(1, 0.2), (2, 0.8)], (2, 1): [(0, 1.0)]}
PAYS = np.array([[1.0, -0.2], [0.5, -0.2], [4.0, -0.2]])


def ladder_paths(
    states: tuple[int, ...] = (0,), actions: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """All ways that an episode of chapter 10 can go, with the chances of their moves."""
    for action in (0, CLIMB):
        taken = (*actions, action)
        if len(taken) == 3 or action != CLIMB:
            yield states, taken, 1.0
            continue
        for rung, chance in MOVES[states[-1], action]:
            for rungs, all_taken, rest in ladder_paths((*states, rung), taken):
                yield rungs, all_taken, chance * rest


def ladder(p: float, rung: str, n: int, seed: int) -> Numbers:
    """The estimates of `amgd.reinforce` from the first, the first two, ... episodes."""
    paths = list(ladder_paths())
    law = np.array([c * p ** sum(a) * (1 - p) ** (len(a) - sum(a)) for _, a, c in paths])
    uniform = np.random.default_rng(seed).random(n)
    drawn = np.searchsorted(np.cumsum(law), uniform, side="right")
    policy = SoftmaxPolicy((STATES, 2), rng=np.random.default_rng(0))
    with torch.no_grad():
        policy.network.weight0[:] = torch.tensor([0.0, np.log(p / (1 - p))], dtype=torch.float64)

    def derivative(index: Sequence[int], estimator: str) -> float:
        rungs, actions = (np.concatenate([paths[i][part] for i in index]) for part in (0, 1))
        lengths, paid = np.array([len(paths[i][1]) for i in index]), PAYS[rungs, actions]
        ended, last = np.ones(len(index), bool), np.zeros((len(index), STATES))
        batch = Episodes(np.eye(STATES)[rungs], actions, paid, lengths, ended, ~ended, last)
        to_go, loss, discount = returns_to_go(paid, lengths, 0.9), estimator, 0.9
        if estimator == "raw":
            starts = np.cumsum(lengths) - lengths
            to_go, loss, discount = np.repeat(to_go[starts], lengths), "episode_sum", None
        policy.network.weight0.grad = None
        policy_gradient(policy, batch, step_weights(to_go, lengths, loss, discount))
        return -float(policy.network.weight0.grad[int(rung), CLIMB])

    names = ("raw", "episode_sum", "step_mean", "episode_mean")
    each = [np.array([derivative([i], e) for i in range(len(paths))]) for e in names]
    assert np.isclose(law @ each[0], law @ each[1])
    running = {e: [derivative(drawn[: i + 1], e) for i in range(n)] for e in names}
    return {"drawn": drawn, "exact": law @ each[1], "own": law @ each[3], **running}


@cache
def record_of(name: str) -> Record:
    return Record(ROOT / "book" / "results" / name)


@cache
def curves_of(name: str, variant: str, column: str) -> Curves:
    return record_of(name).curves(variant, column)


def every(k: np.ndarray) -> int:
    """At most 51 rows of a run are in the page."""
    assert (len(k) - 1) % 50 == 0
    return (len(k) - 1) // 50


def step_or_acceleration(record: str, axis: str, share: float) -> Numbers:
    numbers, ways = {}, {}
    for variant in record_of(record).spec.variants:
        height, way = (
            curves_of(record, variant, c) for c in (record_of(record).spec.column, "distance")
        )
        rows = round(share * 50) + 1
        x, y = (c.samples.mean(axis=0)[:: every(c.k)][:rows] for c in (way, height))
        ways[variant] = x, y
        numbers[variant] = y
        numbers[f"{variant} x"] = x if axis == "distance" else height.k[:: every(height.k)][:rows]
    numbers["least"] = least = min(x.max() for x, _ in ways.values())
    for variant, (x, y) in ways.items():
        i = int((x >= least).argmax())
        numbers[f"{variant} there"] = np.interp(least, x[i - 1 : i + 1], y[i - 1 : i + 1])
    return numbers


def verdict_against_length(length: int) -> Numbers:
    """The comparisons of chapter 13, by what `amgd.experiments` measures up to K."""
    numbers: Numbers = {}
    shown = {"TD(0)-Acc", "Theorem 1", "kβ/2", "Nesterov", "matched", "control", "tuned"}
    for name, record in explorable_records.opened().items():
        spec = record.spec
        k = curves_of(name, spec.variants[0], spec.column).k
        last = int(k[round(length / 25 * (len(k) - 1))])
        family = {
            question: tuple(measured(record, v, until=last) for v in pair)
            for pair, question in explorable_records.QUESTIONS.items()
            if set(pair) <= set(spec.variants)
        }
        for question, c in compare_runs(family, better=spec.quantity(spec.column).better).items():
            if question in shown and c.difference is not None:
                d = c.difference
                numbers[f"{name} {question}"] = [last, c.n, d.mean, d.low, d.high]
                numbers[f"{name} {question} word"] = c.word
    return numbers


def record_run_by_run(record: str, band: str, run: int) -> Numbers:
    spec = record_of(record).spec
    found = [(v, curves_of(record, v, spec.column)) for v in spec.variants]
    row = [(v, c, i) for v, c in found for i in range(len(c.seeds))]
    variant, curve, i = row[min(run, len(row)) - 1]
    kept = curve.samples[:, :: every(curve.k)]
    edges = [] if band == "none" else [int(band), 100 - int(band)]
    low, high = np.percentile(kept, edges, axis=0) if edges else ([], [])
    return {
        "variant": variant,
        "seed": curve.seeds[i],
        "samples": kept[i],
        "low": low,
        "high": high,
        "middle": np.median(curve.samples[:, -1]),
        "count": len(row),
    }


# Settings of the controls of each page, in the order of the function that computes its numbers.
CASES: dict[str, tuple[Callable[..., Numbers], list[dict[str, object]]]] = {
    "sticky_chain": (
        sticky_chain,
        [
            {"p": 0.05, "rule": "constant", "step": 0.1, "seed": 2},  # the run of Figure 1.1
            {"p": 0.02, "rule": "mean", "step": 0.1, "seed": 7},
            {"p": 1, "rule": "constant", "step": 1, "seed": 50},
            {"p": 0.37, "rule": "constant", "step": 0.64, "seed": 0},
        ],
    ),
    "step_in_the_plane": (
        step_in_the_plane,
        [
            {"alpha": 0.2, "beta": 0.5, "rule": "nesterov", "steps": 3},
            {"alpha": 0.5, "beta": 1.5, "rule": "theorem1", "steps": 60},
            {"alpha": 0.05, "beta": 2.2, "rule": "sgd", "steps": 0},
            {"alpha": 1, "beta": 0.75, "rule": "nesterov", "steps": 12},
            {"alpha": 0.33, "beta": 1.8, "rule": "free", "ratio": 7.3, "steps": 9},
        ],
    ),
    "forgetting": (
        forgetting,
        [
            {"chain": "two_clusters", "k": 3, "start": 7},
            {"chain": "two_clusters", "p": 0.9, "k": 60, "start": 0},
            {"chain": "two_state", "p": 0.02, "k": 11, "start": 1},
            {"chain": "sticky", "p": 0.3, "k": 0, "start": 4},
            {"chain": "lazy_cycle", "k": 25, "start": 5},
            {"chain": "de_bruijn", "k": 2, "start": 6},
            {"chain": "own", "arrows": "0-1 1-0 1-2:3 2-1:4", "k": 5, "start": 2},  # periodic
            {
                "chain": "own",
                "arrows": "0-1 1-2:2 2-3 3-4 4-5 5-6 6-7 7-0:9 7-7 3-1",
                "k": 60,
                "start": 7,
            },
            {"chain": "own", "arrows": "0-0:2 0-1 1-2:9 2-0:3 2-2", "k": 4, "start": 1},
        ],
    ),
    "where_it_pays": (
        where_it_pays,
        [
            {"kappa": 4, "noise": -5, "mixing": 0, "budget": 6},
            {"kappa": 2, "noise": -2.5, "mixing": 4.5, "budget": 12},
            {"kappa": 0, "noise": 0, "mixing": 10, "budget": 1},
            {"kappa": 3.5, "noise": -7, "mixing": 1, "budget": 9},
        ],
    ),
    "td_field": (
        td_field,
        [
            {"drift": 1, "discount": 0.9, "step": 0.5, "steps": 30, "angle": 140},
            {"drift": 0, "discount": 0.95, "step": 3, "steps": 60, "angle": 0},
            {"drift": -0.65, "discount": 0, "step": 1.25, "steps": 0, "angle": 350},
        ],
    ),
    "ladder": (
        ladder,
        [
            {"p": 0.5, "rung": "0", "n": 20, "seed": 1},
            {"p": 0.95, "rung": "2", "n": 60, "seed": 7},
            {"p": 0.05, "rung": "1", "n": 5, "seed": 0},
        ],
    ),
    "step_or_acceleration": (
        step_or_acceleration,
        [
            {"record": "figure2-cartpole-L", "axis": "updates", "share": 1},
            {"record": "figure2-acrobot", "axis": "distance", "share": 0.4},
            {"record": "figure3-walker2d-L", "axis": "distance", "share": 0.04},
        ],
    ),
    "verdict_against_length": (verdict_against_length, [{"length": n} for n in (25, 1, 6)]),
    "record_run_by_run": (
        record_run_by_run,
        [
            {"record": "figure1-grid10", "band": "25", "run": 1},
            {"record": "figure2-cartpole-L-tuned", "band": "0", "run": 100},
            {"record": "figure3-swimmer", "band": "none", "run": 90},
            {"record": "figure2-cartpole", "band": "10", "run": 21},
        ],
    ),
}
SETTINGS = [(name, given) for name, (_, table) in CASES.items() for given in table]


@pytest.fixture
def faults() -> list[str]:
    return []


@pytest.fixture
def page(browser, faults: list[str]) -> Iterator:
    yield from watched(browser, faults, viewport={"width": 900, "height": 800})


@pytest.fixture
def fingers(browser, faults: list[str]) -> Iterator:
    """The page on a phone."""
    size = {"width": 390, "height": 844}
    yield from watched(browser, faults, viewport=size, has_touch=True, is_mobile=True)


def watched(browser, faults: list[str], **device) -> Iterator:
    """A page that keeps what goes wrong, and what it asks for from outside."""
    made = browser.new_page(reduced_motion="reduce", **device)
    made.set_default_timeout(30_000)
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
    made.on("requestfailed", lambda request: faults.append(f"not loaded: {request.url}"))
    made.on(
        "request",
        lambda r: (
            None if urlsplit(r.url).scheme in ("file", "data", "about") else faults.append(r.url)
        ),
    )
    yield made
    made.close()


def address(name: str, query: str = "") -> str:
    return (FOLDER / f"{name}.html").as_uri() + query


def move(page, given: dict[str, object]) -> None:
    """Use the controls as a reader does."""
    for name, value in given.items():
        control = page.locator(f"#{name}")
        if control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(str(value))
        elif control.get_attribute("role") == "group":
            control.locator(f"button[value='{value}']").click()
        else:
            control.fill(str(value))


def test_every_page_has_cases_and_a_chapter() -> None:
    names = {path.stem for path in FOLDER.glob("*.html")}
    assert names == set(CASES)
    texts = [p.read_text("utf8") for p in (ROOT / "notebooks" / "src").glob("*.md")]
    shown = re.findall(r'^figures\.explorable\("(\w+)"\)$', "\n".join(texts), re.M)
    assert sorted(shown) == sorted(names)


@pytest.mark.parametrize(("name", "given"), SETTINGS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_numbers_are_those_of_the_package(name: str, given, page, faults) -> None:
    page.goto(address(name))
    move(page, given)
    given = {"steps_" if key == "steps" else key: value for key, value in given.items()}
    found, expected = page.evaluate(NUMBERS), CASES[name][0](**given)
    assert set(found) == set(expected)
    for key, value in expected.items():
        if isinstance(value, str):
            assert found[key] == value
            continue
        number = np.array(found[key], dtype=float)
        np.testing.assert_allclose(number, value, rtol=1e-9, atol=1e-9, err_msg=key)
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_a_page_alone(name: str, page, faults) -> None:
    """It says what it is, its address sets a control, and its pictures are kept."""
    query = "&".join(f"{control}={value}" for control, value in CASES[name][1][-1].items())
    page.goto(address(name, f"?{query}"))
    by_address = page.evaluate(NUMBERS)
    page.goto(address(name))
    move(page, CASES[name][1][-1])
    assert page.evaluate(NUMBERS) == by_address
    assert page.title() == page.locator("h1").inner_text()
    assert len(page.locator("meta[name=description]").get_attribute("content").split()) > 15
    assert page.locator(".about").is_visible()
    assert (FOLDER / f"{name}.svg").stat().st_size < 300_000
    assert (FOLDER / f"{name}.png").stat().st_size < 60_000
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_an_address_that_asks_for_what_is_not_there(name: str, page, faults) -> None:
    """It shows what the page shows first."""
    page.goto(address(name))
    first = page.evaluate(SHOWN)
    ids = page.locator(".controls input, .controls select, .controls [role=group]").evaluate_all(
        "all => all.map(e => e.id)"
    )
    for value in ("", "0,5"):
        page.goto(address(name, "?" + "&".join(f"{control}={value}" for control in ids)))
        assert page.evaluate(SHOWN) == first
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_a_page_that_is_left_and_found_again(name: str, page, faults) -> None:
    """Its numbers are those of its controls, whatever the browser has kept."""
    page.goto(address(name))
    move(page, CASES[name][1][-1])
    for again in (page.reload, lambda: (page.goto("about:blank"), page.go_back())):
        again()
        found = page.evaluate(SHOWN)
        page.evaluate("document.querySelector('input').dispatchEvent(new Event('input'))")
        assert page.evaluate(SHOWN) == found
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_a_change_draws_each_picture_once_and_bears_a_window_that_changes(
    name: str, page, faults
) -> None:
    page.goto(address(name))
    drawn = page.evaluate("""() => {
      const found = {};
      for (const made of Object.values(JXG.boards)) {
        found[made.id] = 0;
        made.on("update", () => (found[made.id] += 1));
      }
      document.querySelector("input[type=range]").stepDown();
      document.querySelector("input[type=range]").dispatchEvent(new Event("input"));
      return found;
    }""")
    assert max(drawn.values()) <= 2, drawn
    for width in (500, 950):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        for control in page.locator(".controls input, .controls select").all():
            control.evaluate("e => e.dispatchEvent(new Event('input'))")
    page.wait_for_timeout(150)  # JSXGraph follows a window after 100 ms
    assert faults == []


def test_what_is_new_is_said_once_and_printed_dark_on_white(page, faults) -> None:
    page.goto(address("sticky_chain", "?theme=dark"))
    spoken = page.locator(".spoken")
    assert spoken.inner_text() == ""
    page.evaluate(
        """() => { window.said = [];
        new MutationObserver(() => said.push(document.querySelector(".spoken").textContent))
          .observe(document.querySelector(".spoken"), {childList: true}); }"""
    )
    page.locator("#seed").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("said.length")
    last = page.locator(".readout div").last.inner_text().split("\n")
    assert page.evaluate("said") == [": ".join(last)]  # the others do not depend on the seed
    page.emulate_media(media="print")
    style = page.evaluate(
        """(({color, backgroundColor}) => [color, backgroundColor])(
          getComputedStyle(document.documentElement))"""
    )
    ink, paper = ([int(n) for n in re.findall(r"\d+", colour)] for colour in style)
    assert max(ink) < 100
    assert min(paper) == 255
    assert page.locator("svg").first.evaluate("e => getComputedStyle(e).filter") == "none"
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_a_still_is_not_older_than_its_page(name: str) -> None:
    fresh = explorables.pictured(name) == explorables.inputs(name)
    assert fresh, f"{name}.svg and .png are stale: run python -m tools.explorables {name}"


@pytest.mark.parametrize(
    ("file", "stale"),
    [
        ("step_or_acceleration.html", {"step_or_acceleration"}),
        ("sticky_chain.js", {"sticky_chain"}),
        ("explorable.js", set(CASES)),
        ("explorable.css", set(CASES)),
        ("jsxgraph-1.13.3/jsxgraphcore.js", set(CASES)),
        ("figure2-cartpole-L", {"step_or_acceleration", "verdict_against_length"}),
        ("figure3-walker2d-L", {"record_run_by_run", "verdict_against_length"}),
        ("figure1-grid10", {"verdict_against_length"}),
        ("README.md", set()),
    ],
)
def test_a_change_makes_the_stills_stale_that_show_it(file: str, stale, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "pages"))
    changed = folder / (file if (folder / file).exists() else "records.js")
    text = changed.read_text("utf8")
    if changed.name == "records.js":  # one number of this record
        at = text.index('"samples":[[', text.index(f'"{file}":')) + len('"samples":[[')
        text = f"{text[:at]}0.125,{text[at:]}"
    changed.write_text(text + "\n", "utf8")
    before = {name: explorables.inputs(name) for name in CASES}
    assert {n for n in CASES if explorables.inputs(n, folder) != before[n]} == stale


@pytest.mark.parametrize("name", CASES)
def test_the_keyboard_moves_every_slider(name: str, page, faults) -> None:
    page.goto(address(name))
    sliders = page.locator("input[type=range]:visible")
    assert sliders.count() > 0
    for slider in sliders.all():
        before = page.evaluate(NUMBERS), slider.get_attribute("aria-valuetext")
        slider.focus()
        assert slider.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
        low = slider.evaluate("e => e.value === e.max")
        page.keyboard.press("ArrowLeft" if low else "ArrowRight")
        after = page.evaluate(NUMBERS), slider.get_attribute("aria-valuetext")
        assert before[1] != after[1]
        assert before[0] != after[0], slider.get_attribute("id")
    assert faults == []


def test_a_point_moves_by_arrow_key_and_by_mouse(page, faults) -> None:
    page.goto(address("step_in_the_plane"))
    point, start = page.get_by_role("button", name="Start, move it"), f"{NUMBERS}.start"
    x, y = page.evaluate(start)
    point.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    right, down = page.evaluate(start)
    assert right > x
    assert down < y
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    page.mouse.up()
    assert page.evaluate(start)[0] > right + 0.5
    assert faults == []


def test_one_of_the_special_cases_is_pressed(page, faults) -> None:
    page.goto(address("step_in_the_plane"))
    rules = page.locator("#rule button")
    for rule in rules.all():
        before = page.evaluate(NUMBERS)
        if rule.get_attribute("aria-pressed") == "false":
            rule.focus()
            page.keyboard.press("Space")
            assert page.evaluate(NUMBERS) != before
        pressed = [one.get_attribute("value") for one in rules.all() if pressed_now(one)]
        assert pressed == [rule.get_attribute("value")]
    assert page.locator("#ratio").is_visible()  # of the last, the free one
    assert faults == []


def pressed_now(control) -> bool:
    return control.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("way", ["mouse", "keyboard", "touch", "screen reader"])
def test_a_reader_draws_a_chain(way: str, page, fingers, faults) -> None:
    """Two states are tapped, and their arrow comes or goes; the numbers are the package's."""
    page = fingers if way == "touch" else page
    page.goto(address("forgetting", "?chain=own&arrows=0-1%201-0%200-0:2&weight=4"))

    def tap(*states: int) -> None:
        for state in states:
            node = page.get_by_role("button", name=f"State {state}", exact=True)
            if way == "keyboard":
                node.focus()
                page.keyboard.press("Enter")
                continue
            if way == "screen reader":
                node.dispatch_event("click")
                continue
            node.scroll_into_view_if_needed()
            box = node.bounding_box()
            at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.click(*at) if way == "mouse" else page.touchscreen.tap(*at)

    def arrows() -> set[str]:
        return set(page.locator("#arrows").input_value().split())

    first = page.get_by_role("button", name="State 0", exact=True)
    tap(0)
    assert pressed_now(first)
    page.keyboard.press("Escape")
    assert not pressed_now(first)
    tap(0, 0)
    assert arrows() == {"0-1", "1-0"}
    assert "periodic" in page.locator(".message").inner_text()
    page.get_by_role("button", name="Add a state").click()
    assert "from state 0 to state 2" in page.locator(".message").inner_text()
    tap(1, 2, 2, 0, 1, 0)
    assert arrows() == {"0-1", "2-2", "1-2:4", "2-0:4"}
    found = page.evaluate(NUMBERS)
    for key, value in forgetting("own", 3, 0, arrows=" ".join(arrows())).items():
        np.testing.assert_allclose(np.array(found[key], float), value, rtol=1e-9, atol=1e-9)
    page.get_by_role("button", name="Take the last state away").click()
    assert arrows() == {"0-1"}
    assert faults == []


@pytest.mark.parametrize(
    ("arrows", "words"),
    [
        ("0-0 1-1", "No way leads from state 0 to state 1"),
        ("0-1 1-1", "No way leads from state 1 to state 0"),
        ("0-1 1-2 2-1", "No way leads from state 1 to state 0"),
        ("0-1", "State 1 has no arrow out of it"),
        ("", "State 0 has no arrow out of it"),
        ("0-1 1-0 7-0", "State 2 has no arrow out of it"),
        ("0-1 1>0", "“1>0” is no arrow"),
        ("0-1:10 1-0", "“0-1:10” is no arrow"),
        ("0-1 1-8", "“1-8” is no arrow"),
        (
            "0-0:9 0-1 1-0:9 1-2 2-1:9 2-3 3-2:9 3-4 4-5:9 4-3 5-6:9 5-4 6-7:9 6-5 7-7:9 7-6",
            "more than 20000 steps",
        ),
    ],
)
def test_what_is_no_ergodic_chain_is_refused_in_words(arrows: str, words: str, page, faults):
    page.goto(address("forgetting", "?chain=own"))
    page.locator("#arrows").fill(arrows)
    assert words in page.locator(".message").inner_text()
    assert list(page.evaluate(NUMBERS)) == ["refused"]
    assert page.locator(".readout div").count() == 0
    page.locator("#arrows").fill("0-1 1-0 1-1")
    assert page.evaluate(NUMBERS)["sum"] == pytest.approx(drawn_chain("0-1 1-0 1-1").mixing_sum)
    assert faults == []


class Finger:
    """A finger on the page, with the words of ``page.mouse``."""

    def __init__(self, page) -> None:
        self.screen, self.at, self.touches = page.context.new_cdp_session(page), (0.0, 0.0), False

    def move(self, x: float, y: float, steps: int = 1) -> None:
        for part in range(1, steps + 1) if self.touches else ():
            (a, b), share = self.at, part / steps
            self._send("touchMove", a + share * (x - a), b + share * (y - b))
        self.at = x, y

    def down(self) -> None:
        self.touches = True
        self._send("touchStart", *self.at)

    def up(self) -> None:
        self.touches = False
        self.screen.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def _send(self, kind: str, x: float, y: float) -> None:
        touch = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
        self.screen.send("Input.dispatchTouchEvent", touch)


@pytest.mark.parametrize("way", ["mouse", "touch"])
def test_a_reader_pulls_arrows(way: str, page, fingers, faults) -> None:
    """From a state to a state, with a line that is seen; elsewhere and by Escape, to nothing."""
    page = fingers if way == "touch" else page
    hand = Finger(page) if way == "touch" else page.mouse
    page.goto(address("forgetting", "?chain=own&arrows=0-1%201-2%202-0%200-0:2&weight=4"))
    field = page.locator("#arrows")
    page.locator("#graph").scroll_into_view_if_needed()

    def place(state: int) -> tuple[float, float]:
        box = page.get_by_role("button", name=f"State {state}", exact=True).bounding_box()
        return box["x"] + 0.6 * box["width"], box["y"] + 0.7 * box["height"]

    def seen() -> bool:
        return page.locator("#graph line[stroke='#D55E00']").is_visible()

    def pull(*ways: tuple[float, float], escape: bool = False) -> None:
        hand.move(*ways[0])
        hand.down()
        assert not seen()
        for way in ways[1:]:
            hand.move(*way, steps=4)
            assert seen()
        if escape:
            page.keyboard.press("Escape")
        hand.up()
        assert not seen()

    def matches(arrows: str) -> None:
        assert field.input_value() == arrows
        assert page.get_by_role("button", pressed=True).count() == 0
        found = page.evaluate(NUMBERS)
        for key, value in forgetting("own", 3, 0, arrows=arrows).items():
            np.testing.assert_allclose(np.array(found[key], float), value, rtol=1e-9, atol=1e-9)

    x, y = place(0)
    nowhere = x + 60, y
    before = page.evaluate("scrollY")
    pull(place(0), place(2))
    matches("0-1 1-2 2-0 0-0:2 0-2:4")
    pull(place(1), nowhere, place(1))  # its loop
    matches("0-1 1-2 2-0 0-0:2 0-2:4 1-1:4")
    pull(place(0), place(1), place(2))
    kept = "0-1 1-2 2-0 0-0:2 1-1:4"
    matches(kept)
    pull(place(2), nowhere)
    matches(kept)
    pull(place(2), (x, 2))  # outside of the picture
    matches(kept)
    pull(place(2), place(0), escape=True)
    matches(kept)
    assert page.evaluate("scrollY") == before
    for chain in ("two_state", "own"):  # another chain comes while one pulls
        hand.move(*place(2))
        hand.down()
        hand.move(*nowhere)
        field.fill("0-1 1-0 0-0 1-2 2-0")
        hand.move(x, 2)
        page.locator("#chain").select_option(chain)
        hand.move(*nowhere)
        hand.up()
        assert page.locator("#graph line[stroke='#D55E00']:visible").count() == 0
        page.locator("#chain").select_option("own")
        matches("0-1 1-0 0-0 1-2 2-0")
    assert faults == []


@pytest.mark.parametrize(
    ("chain", "height", "scrolls"),
    [("own", 0.2, False), ("own", 0.5, True), ("two_clusters", 0.2, True)],
)
def test_a_finger_scrolls_unless_it_pulls(chain: str, height: float, scrolls: bool, fingers):
    """State 0 is at the top of the picture, its middle is empty."""
    fingers.goto(address("forgetting", f"?chain={chain}"))
    box = fingers.locator("#graph").bounding_box()
    drag(fingers, (box["x"] + box["width"] / 2, box["y"] + height * box["height"]), (0, -200))
    fingers.wait_for_timeout(100)
    assert (fingers.evaluate("scrollY") > 50) is scrolls
    assert fingers.get_by_role("button", pressed=True).count() == 0


def drag(page, start: tuple[float, float], by: tuple[float, float]) -> None:
    """A finger goes down, moves, and is lifted."""
    finger = Finger(page)
    finger.move(*start)
    finger.down()
    finger.move(start[0] + by[0], start[1] + by[1], steps=5)
    finger.up()


@pytest.mark.parametrize("name", CASES)
def test_a_finger_moves_it(name: str, fingers, faults) -> None:
    """Every slider by a drag, every button and every state by a tap, the start by a drag."""
    fingers.goto(address(name))

    def changes(act: Callable[..., None], *given) -> bool:
        before = fingers.evaluate(SHOWN)
        act(*given)
        return fingers.evaluate(SHOWN) != before

    for slider in fingers.locator("input[type=range]:visible").all():
        slider.scroll_into_view_if_needed()
        box, at = slider.bounding_box(), slider.evaluate("e => (e.value - e.min) / (e.max - e.min)")
        here = box["x"] + 8 + at * (box["width"] - 16), box["y"] + box["height"] / 2
        way = (-0.4 if at > 0.5 else 0.4) * box["width"]
        assert changes(drag, fingers, here, (way, 0)), slider.get_attribute("id")
    for button in fingers.locator(
        "button[aria-pressed=false]:visible, .controls > .buttons button:visible"
    ).all():
        assert changes(button.tap), button.inner_text()
    for point in fingers.locator(".jxgbox ellipse[tabindex='0']").all():
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert changes(drag, fingers, start, (40, 30)), point.get_attribute("aria-label")
    assert faults == []


@pytest.mark.parametrize("name", CASES)
def test_all_readers(name: str, page, faults) -> None:
    """axe finds nothing, in the light and in the dark, on a phone and a desk; the page fits."""
    found = {}
    for theme in ("light", "dark"):
        drawn = "&chain=own" if name == "forgetting" else ""  # with its states as buttons
        page.goto(address(name, f"?theme={theme}{drawn}"))
        page.add_script_tag(path=AXE)
        for width in (900, 340):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(200)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            broken = page.evaluate(
                """async () => (await axe.run(document, {preload: false})).violations
                  .map(v => [v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary])"""
            )
            found |= {f"{theme} {width}": broken} if broken else {}
        ground = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g)"
        assert (max(map(int, page.evaluate(ground))) < 60) is (theme == "dark")
    assert found == {}
    assert faults == []


# Words that lie over each other by more than the leading of their lines, or leave their picture.
CROWDED = """() => [...document.querySelectorAll(".jxgbox")].flatMap(board => {
  const edge = board.getBoundingClientRect();
  const words = [...board.querySelectorAll("svg text")]
    .filter(e => e.textContent.trim() && e.checkVisibility({visibilityProperty: true}))
    .map(e => [e.textContent, e.getBoundingClientRect()]);
  const met = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const out = words.filter(([, a]) => a.left < edge.left - 1 || a.right > edge.right + 1
    || a.top < edge.top - 3 || a.bottom > edge.bottom + 3);
  const over = words.flatMap(([text, a], i) => words.slice(i + 1)
    .filter(([, b]) => met(a, b)).map(([other]) => [text, other]));
  return [...out.map(([text]) => [text, "the edge"]), ...over];
})"""


@pytest.mark.parametrize("name", CASES)
def test_words_in_a_picture_do_not_meet(name: str, page, faults) -> None:
    found = {}
    page.goto(address(name))
    for width in (816, 640, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(250)
        found |= {width: crowded} if (crowded := page.evaluate(CROWDED)) else {}
    assert found == {}
    page.evaluate(
        "document.documentElement.style.fontSize = '30px'"
    )  # who sets letters twice as large
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert faults == []


@pytest.mark.parametrize("seed", [0, 1, 2, 50, 12345, 2**32 - 1])
def test_the_generator_is_that_of_numpy(seed: int, page) -> None:
    page.goto(address("sticky_chain"))
    draw = "seed => { const next = generator(seed); return Array.from({length: 50}, next); }"
    assert page.evaluate(draw, seed) == np.random.default_rng(seed).random(50).tolist()


@pytest.mark.parametrize("name", CASES)
def test_a_notebook_shows_the_page_without_its_files(name: str, page, faults) -> None:
    """As JupyterLab puts it: a frame that holds all, with the height of what it shows."""
    shown = figures.explorable(name, folder=str(FOLDER))
    page.set_content(f"<body data-jp-theme-light='false'>{shown._repr_html_()}</body>")
    frame = page.frames[1]
    frame.wait_for_function("document.documentElement.dataset.numbers")
    page.wait_for_function("document.querySelector('iframe').style.height.endsWith('px')")
    assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(address(name))
    assert json.loads(page.evaluate("document.documentElement.dataset.numbers"))
    assert faults == []


def test_a_notebook_that_stands_alone_says_so_and_a_wrong_name_is_refused(tmp_path: Path) -> None:
    assert "repository" in figures.explorable("a", folder=str(tmp_path))._repr_html_()
    with pytest.raises(ValueError, match=r"name must be a page .*: got 'a'; take one of \['"):
        figures.explorable("a", folder=str(FOLDER))


FRAMES = [
    (f"notebooks/{path.stem}.html", name)
    for path in sorted((ROOT / "notebooks" / "src").glob("*.md"))
    for name in re.findall(r'^figures\.explorable\("(\w+)"\)$', path.read_text("utf8"), re.M)
]


@pytest.mark.parametrize(("chapter", "name"), FRAMES, ids=[name for _, name in FRAMES])
def test_a_chapter_shows_it(chapter: str, name: str, opened) -> None:
    """Loaded when it comes into view, as high as its content, in the theme of the chapter."""
    with opened(chapter, 1280) as chapter_page:
        place = chapter_page.locator(f"iframe[src$='/{name}.html']")
        assert place.get_attribute("title")
        assert place.get_attribute("loading") == "lazy"
        place.scroll_into_view_if_needed()
        chapter_page.wait_for_function(
            "frame => frame.style.height.endsWith('px')", arg=place.element_handle()
        )
        (frame,) = [f for f in chapter_page.frames if f.url.endswith(f"/{name}.html")]
        assert frame.evaluate("innerHeight - document.body.scrollHeight") in range(-2, 6)
        for theme in ("dark", "light"):
            chapter_page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            frame.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
        chapter_page.emulate_media(media="print")
        picture = chapter_page.locator(f"img[src$='explorables/{name}.svg']")
        assert picture.is_visible()
        assert not place.is_visible()
