"""The exact worst case of the methods without noise, by semidefinite programming.

For each bound of the book without noise, the largest left side over all functions of its class, in
every dimension, beside the bound. The programme is that of performance estimation [1]_; PEPit
writes it and Clarabel solves it, to five digits or more.

    pip install -c constraints.txt ".[certify]"
    python -m tools.worst_cases 10            writes book/worst_cases.csv, k = 1, ..., 10

.. [1] Goujaud et al., "PEPit: computer-assisted worst-case analyses of first-order optimization
   methods in Python", Mathematical Programming Computation 16, 2024.
"""

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from amgd.descent import bounds
from amgd.descent.steps import (
    StepSizes,
    theorem1,
    theorem2,
    theorem2_printed,
    theorem3,
    theorem3_printed,
)

TABLE = Path(__file__).resolve().parents[1] / "book" / "worst_cases.csv"
COLUMNS = ("statement", "k", "worst", "bound", "ratio")
NONE: dict[str, Any] = {"sigma": 0.0, "ell": 0.0, "T": 0.0, "M": 1.0}  # M stands beside a T


def convex(
    k: int, steps: StepSizes, *, mu: float = 0.0, projected: bool = True, diameter: float = np.inf
) -> float:
    """Return the largest f(x_bar_k) - f* + mu/2 |x_k - x*|^2 of Algorithm 2 for L = r_0 = 1.

    Parameters
    ----------
    k : int
        Steps.
    steps : StepSizes
        Of Algorithm 2.
    mu : float
        Strong convexity of f.
    projected : bool
        Minimise over a convex set, or over the whole space.
    diameter : float
        Of the set. If it is finite, r_0 is not bounded otherwise.
    """
    import PEPit
    from PEPit import functions
    from PEPit.primitive_steps import proximal_step

    task = PEPit.PEP()
    if mu:
        f = task.declare_function(functions.SmoothStronglyConvexFunction, mu=mu, L=1.0)
    else:
        f = task.declare_function(functions.SmoothConvexFunction, L=1.0)
    if projected:
        indicator = task.declare_function(functions.ConvexIndicatorFunction, D=diameter)
        best = (f + indicator).stationary_point()
    else:
        best = f.stationary_point()
    x = x_bar = task.set_initial_point()
    if projected:
        indicator.value(x)  # the start lies in the set
    if np.isinf(diameter):
        task.set_initial_condition((x - best) ** 2 <= 1)
    for t in range(1, k + 1):
        a, b, gamma = steps.alpha(t), steps.beta(t), steps.gamma(t)
        y = (1 - b) * x_bar + b * x
        x = (x + steps.mu * gamma * y - gamma * f.gradient(y)) / (1 + steps.mu * gamma)
        if projected:
            x, _, _ = proximal_step(x, indicator, 1)
        x_bar = (1 - a) * x_bar + a * x
    task.set_performance_metric(f.value(x_bar) - f.value(best) + mu / 2 * (x - best) ** 2)
    return _solve(task)


def nonconvex(k: int, steps: StepSizes, gap: float = 1.0, M: float = 1.0) -> float:
    """Return the largest mean of |grad f(y_t)|^2, weights gamma_t, of Algorithm 1 for L = 1.

    f is smooth, f(x_0) - inf f <= gap, and no gradient that is asked for is longer than M. Others
    may be: this can only make the number larger.
    """
    import PEPit
    from PEPit import functions

    task = PEPit.PEP()
    f = task.declare_function(functions.SmoothFunction, L=1.0)
    x = x_bar = start = task.set_initial_point()
    below = f.stationary_point()  # a minimiser: f lies nowhere below f - |grad f|^2 / 2
    squares, gammas = [], []
    for t in range(1, k + 1):
        a = steps.alpha(t)
        y = (1 - a) * x_bar + a * x
        G = f.gradient(y)
        task.add_constraint(G**2 <= M**2)
        task.add_constraint(f.value(y) - f.value(below) >= G**2 / 2)
        x, x_bar = x - steps.gamma(t) * G, y - steps.beta(t) * G
        squares.append(G**2)
        gammas.append(steps.gamma(t))
    task.set_initial_condition(f.value(start) - f.value(below) <= gap)
    mean = sum((g * s for g, s in zip(gammas, squares, strict=True)), 0 * squares[0])
    task.set_performance_metric(mean / sum(gammas))
    return _solve(task)


def markov(k: int, p: float, steps: StepSizes) -> float:
    """Return the largest E f(x_bar_k) - f* of Algorithm 2 on a set of diameter 1, L = sigma = 1.

    The chain has two states and leaves each with probability p; the noise is n in one state and -n
    in the other, for any vector n no longer than 1. All 2^k paths stand in one programme, with one
    function f. No gradient is bounded.
    """
    import PEPit
    from PEPit import functions
    from PEPit.primitive_steps import proximal_step

    task = PEPit.PEP()
    f = task.declare_function(functions.SmoothConvexFunction, L=1.0)
    indicator = task.declare_function(functions.ConvexIndicatorFunction, D=1.0)
    best = (f + indicator).stationary_point()
    start = task.set_initial_point()
    indicator.value(start)
    n = PEPit.Point()
    task.add_constraint(n**2 <= 1)
    nodes = [(1.0, 0, start, start)]  # probability of the path, its last state, x, x_bar
    for t in range(1, k + 1):
        a, gamma, later = steps.alpha(t), steps.gamma(t), []
        for weight, state, x, x_bar in nodes:
            gradient = f.gradient((1 - a) * x_bar + a * x)
            for after in (0, 1):
                moved = x - gamma * (gradient + (n if after else -n))
                new, _, _ = proximal_step(moved, indicator, 1)
                chance = 1 - p if after == state else p
                later.append((weight * chance, after, new, (1 - a) * x_bar + a * new))
        nodes = later
    mean = sum((w * f.value(x_bar) for w, _, _, x_bar in nodes), -1 * f.value(best))
    task.set_performance_metric(mean)
    return _solve(task)


def _solve(task: Any) -> float:
    with warnings.catch_warnings():  # where a set has a diameter, the last digits are not reached
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return float(task.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))


def travelled(k: int) -> float:
    """Return S_k of gamma_t = t / 4."""
    return (3 * k + 1) * (k + 2) / 48


MU = 0.1
CHAINS = {
    "T = 0": 0.5,
    "T = 0.5": 0.25,
    "T = 4.5": 0.05,
}  # each state is left with this probability
LONGEST = {f"thm-2, {name}": 4 for name in CHAINS}  # a programme has 2^k paths
STATEMENTS: dict[str, tuple[Callable[[int], float], Callable[[int], float]]] = {
    "thm-2": (
        lambda k: convex(k, theorem2(1.0, 0.0)),
        lambda k: bounds.theorem2(k, L=1.0, r0=1.0, B=1.0, c=0.0, **NONE),
    ),
    "prop-exact": (
        lambda k: convex(k, theorem2(1.0, 0.0)),
        lambda k: 1 / (4 * travelled(k)),
    ),
    "unconstrained": (
        lambda k: convex(k, theorem2(1.0, 0.0), projected=False),
        lambda k: 1 / (2 * (1 + 2 * travelled(k))),
    ),
    "prop-a": (
        lambda k: convex(k, theorem2_printed(1.0), diameter=1.0),
        lambda k: bounds.proposition_a(k, L=1.0, B=1.0, **NONE),
    ),
    "prop-b": (  # a floor: what no bound can go below
        lambda k: convex(k, theorem2_printed(1.0), diameter=1.0),
        lambda k: bounds.proposition_b(k, L=1.0, D=0.5),
    ),
    "thm-3": (
        lambda k: convex(k, theorem3(MU, 1.0), mu=MU),
        lambda k: bounds.theorem3(k, mu=MU, L=1.0, r0=1.0, B=1.0, **NONE),
    ),
    "prop-c": (
        lambda k: convex(k, theorem3_printed(MU, "k"), mu=MU, diameter=1.0),
        lambda k: bounds.proposition_c(k, mu=MU, L=1.0, r0=1.0, B=1.0, **NONE),
    ),
    "thm-1-poisson": (
        lambda k: nonconvex(k, theorem1(k**-0.5)),
        lambda k: bounds.theorem1(k, L=1.0, M=1.0, initial_gap=1.0, T=0.0),
    ),
}


for _name, _p in CHAINS.items():
    STATEMENTS[f"thm-2, {_name}"] = (
        lambda k, p=_p: markov(k, p, theorem2(1.0, 1.0)),  # type: ignore[misc]
        lambda k, T=float(_name[4:]): bounds.theorem2(  # type: ignore[misc]
            k, L=1.0, M=1.0, r0=1.0, B=1.0, sigma=1.0, ell=0.0, T=T, c=1.0
        ),
    )


def row(statement: str, k: int) -> dict[str, Any]:
    """Solve one programme."""
    worst, bound = (side(k) for side in STATEMENTS[statement])
    numbers = {"worst": worst, "bound": float(bound), "ratio": worst / float(bound)}
    return {"statement": statement, "k": k} | {name: f"{x:.6g}" for name, x in numbers.items()}


def main() -> None:
    """Solve all programmes up to a number of steps and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("steps", type=int)
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for statement in STATEMENTS:
            for k in range(1, min(options.steps, LONGEST.get(statement, options.steps)) + 1):
                table.writerow(row(statement, k))
                file.flush()


if __name__ == "__main__":
    main()
