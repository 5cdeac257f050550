"""A method has one colour and one line style in the whole book, by the code of every figure."""

import ast
import re
from pathlib import Path

import jupytext
import pytest

from amgd import figures
from amgd.descent.steps import SCHEDULES

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TEXTS = sorted(NOTEBOOKS.glob("src/*.md")) + sorted(NOTEBOOKS.glob("coursework/source/*/*.md"))
DRAW = {"curve", "plot", "errorbar", "loglog", "semilogx", "semilogy", "step"}
# Figures with curves in the colours of the cycle, and what these curves are instead of methods.
NOT_METHODS = {
    "fig-01-surprise": "chains",
    "fig-01-floor": "eigenvalues of chains",
    "fig-01-ring": "a path",
    "fig-01-four": "chains",
    "fig-01-bound": "a measurement",
    "fig-01-bound-ring": "measurements",
    "fig-01-acf": "samplers",
    "fig-02-surprise": "chains",
    "fig-02-live": "starts",
    "fig-02-bound": "a measurement",
    "fig-04-surprise": "numbers of states",
    "fig-04-triangle": "a measurement",
    "fig-05-bound": "chains, on the right",
    "fig-06-bound": "chains",
    "fig-06-wrong-mu": "times",
    "fig-07-surprise": "chains",
    "fig-07-collapse": "chains",
    "fig-07-spend": "ways to spend samples",
    "fig-08-bound": "bounds, in black and grey",
    "fig-09-walk": "start and goal",
    "fig-10-surprise": "losses",
    "fig-10-variance": "measurements",
    "fig-12-gait": "gaits",
    "fig-12-live": "rates of SGD",
    "fig-12-bias": "payments",
    "fig-13-power": "numbers of pairs",
    "fig-13-floor": "comparisons",
    "fig-14-map": "budgets",
    "fig-14-td": "remedies, each with a marker of its own",
    "fig-14-gradients": "differences of two methods",
    "fig-14-orders": "orders of the samples",
    "fig-14-continuous": "distances, and chains",
    "fig-14-bound": "a formula, a bound and measurements",
}
# What a label says, from the special to the general: the first that fits names the method.
NAMED = {
    r"bound|formula|exact": None,
    r"tuned (TD\(0\)-Acc|AMGD)": "tuned_accelerated",
    r"tuned": "tuned",
    r"matched": "matched",
    r"averaged": "averaged",
    r"printed": "theorem3_printed",
    r"TD\(0\)-Acc|kβ/2|k\\beta/2|Ghadimi|AMGD": "ghadimi_lan",
    r"Theorem 1\b(?!['′])": "theorem1",
    r"Theorem 2′": "theorem2",
    r"Theorem 3′|Algorithm 2": "theorem3",
    r"Nesterov": "nesterov",
    r"SGD|TD\(0\)|TD \.001|gradient descent": "sgd",
}


def named(label: str) -> str | None:
    """Return the method that a label names."""
    return next((method for words, method in NAMED.items() if re.search(words, label)), None)


def figure_cells(path: Path) -> list[tuple[str, ast.Module]]:
    """Name and code of each cell that draws."""
    cells = jupytext.reads(path.read_text("utf8"), fmt="md:myst").cells
    parsed = [
        (c.metadata.get("mystnb", {}).get("figure", {}).get("name", path.stem), ast.parse(c.source))
        for c in cells
        if c.cell_type == "code"
    ]
    return [(name, tree) for name, tree in parsed if drawing(tree)]


def drawing(tree: ast.AST) -> list[ast.Call]:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in DRAW]


def text(node: ast.AST | None) -> str:
    """Return the constant parts of a string."""
    parts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)] if node else []
    return "".join(part for part in parts if isinstance(part, str))


def styled(tree: ast.AST) -> set[str]:
    """Names in a cell that hold what `line_style` gave, or a part of it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "line_style" in ast.unparse(node.value):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            names |= {t.id for t, v in pairs if "line_style" in ast.unparse(v) and hasattr(t, "id")}
    for node in ast.walk(tree):  # for ..., style in zip(..., styles)
        if isinstance(node, ast.For) and names & {
            n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name)
        }:
            last = node.target.elts[-1] if isinstance(node.target, ast.Tuple) else node.target
            names |= {last.id} if isinstance(last, ast.Name) else set()
    return names


def look(call: ast.Call, styles: set[str]) -> str:
    """Return where a curve has its colour from: "method", "grey" or "cycle"."""
    words = {word.arg: word.value for word in call.keywords}
    for source in (words.get(None), words.get("color")):
        names = {n.id for n in ast.walk(source) if isinstance(n, ast.Name)} if source else set()
        if source is not None and ("line_style" in ast.unparse(source) or names & styles):
            return "method"
    formats = [a for a in call.args if isinstance(a, ast.Constant)]
    formats += [words[word] for word in ("color", "fmt") if word in words]
    grey = re.compile(r"black|white|k([-:.]*|\w)|0\.\d+")
    return "grey" if any(grey.fullmatch(text(f)) for f in formats) else "cycle"


CELLS = [
    pytest.param(name, tree, id=f"{path.stem}:{name}")
    for path in TEXTS
    for name, tree in figure_cells(path)
]


@pytest.mark.parametrize(("name", "tree"), CELLS)
def test_a_method_is_drawn_in_its_own_style(name: str, tree: ast.Module) -> None:
    for call in drawing(tree):
        label = text(next((w.value for w in call.keywords if w.arg == "label"), None))
        code, method = ast.unparse(call), named(label)
        source = look(call, styled(tree))
        if source == "method":
            given = re.search(r"line_style\('(\w+)'\)", code)
            if given and method:
                assert figures.line_style(given[1]) == figures.line_style(method), code
        elif source == "cycle":
            assert method is None, f"{code}: draw it with **figures.line_style({method!r})"
            if name.startswith("fig-"):
                assert name in NOT_METHODS, f"{code}: say in NOT_METHODS what it shows"


def test_the_list_of_other_figures_holds_no_more() -> None:
    found = {
        name
        for name, tree in (cell.values for cell in CELLS)
        if any(look(call, styled(tree)) == "cycle" for call in drawing(tree))
    }
    assert set(NOT_METHODS) <= found


@pytest.mark.parametrize(("name", "tree"), CELLS)
def test_styles_are_asked_for_by_names_that_have_a_place(name: str, tree: ast.Module) -> None:
    known = {*SCHEDULES, *figures.PLACES}
    asked = set(re.findall(r"line_style\('(\w+)'\)", ast.unparse(tree)))
    assert asked <= known
