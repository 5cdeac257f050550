"""Temporal differences on a queue and a grid: plain, averaged, accelerated, with and without trace.

For each task, discount and order of the features, the error after 1000 transitions of each method,
tuned on paths of its own; least squares (LSTD) is the yardstick.

    python -m tools.td_tasks            writes book/td_tasks.csv, in some minutes
    python -m tools.td_tasks --falling  writes book/td_falling.csv: discount 0.9, steps may fall
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from amgd._checks import FloatArray
from amgd.descent.steps import Step, theorem2
from amgd.errors import Diverged
from amgd.statistics import mean_band
from amgd.td import GridWorld, TDProblem, expected_trace, fourier_features, lstd, td_trace

BOOK = Path(__file__).resolve().parents[1] / "book"
TASKS, DISCOUNTS, ORDERS = ("queue", "grid"), (0.9, 0.99, 0.999), (1, 2, 3, 4, 5)
TRANSITIONS, OWN, FRESH = 1000, 10, 30
METHODS = tuple(
    f"{kind}{name}({trace})" for trace in "0λ" for kind, name in (
        ("", "TD"), ("averaged ", "TD"), ("accelerated ", "TD"), ("", "LSTD")
    )
)  # fmt: skip
LARGEST_EXACT = 9  # features up to which the exact error takes seconds


@dataclass(frozen=True, eq=False)
class Family:
    """What each method may choose from, for which discounts, and the table of the answers.

    The steps are those for features of unit length, the constants of Algorithm 2 likewise; past a
    turn, in transitions, the steps fall.
    """

    table: Path
    discounts: tuple[float, ...]
    steps: FloatArray
    constants: FloatArray
    turns: tuple[float, ...] = (np.inf,)


CONSTANT = Family(
    BOOK / "td_tasks.csv", DISCOUNTS, np.geomspace(0.001, 20, 12), np.geomspace(0.3, 5000, 12)
)
FALLING = Family(
    BOOK / "td_falling.csv",
    DISCOUNTS[:1],
    np.geomspace(0.001, 100, 14),
    np.geomspace(0.05, 5000, 14),
    (np.inf, 300.0, 30.0, 3.0),
)


def task(name: str, discount: float, order: int) -> TDProblem:
    """Return a task with Fourier features of an order.

    The queue has 20 places, a customer comes with probability 0.4 and one is served with 0.5 in a
    step that changes anything; a step costs the number that waits. The grid is the paper's, 10 x 10
    with an ordinary goal, and each step costs 1 that is not in the goal.
    """
    if name == "grid":
        features = fourier_features(10, "order", order)
        return TDProblem.from_gridworld(GridWorld(10), features, discount)
    n, come, go = 20, 0.4, 0.5
    P = np.diag(np.full(n - 1, come), 1) + np.diag(np.full(n - 1, go), -1)
    P += np.diag(1 - P.sum(axis=1))
    places = (np.arange(n) + 0.5) / n
    features = np.cos(np.pi * np.outer(places, np.arange(order + 1)))
    return TDProblem(P, -np.arange(float(n)), features, discount)


class Distance:
    """Squared distance of values to the value function under the stationary law, over its size."""

    def __init__(self, problem: TDProblem) -> None:
        P = problem.transition.toarray()
        reward = problem.reward + P @ problem.arrival_reward
        self.value = np.linalg.solve(np.eye(len(P)) - problem.discount * P, reward)
        self.problem, self.size = problem, self.value**2 @ problem.law

    def __call__(self, theta: FloatArray) -> FloatArray:
        """Return it for parameters of shape (..., d)."""
        error = theta @ self.problem.features.T - self.value
        return np.asarray(error**2 @ self.problem.law / self.size)

    def floor(self) -> float:
        """Return its least value over all parameters."""
        root = np.sqrt(self.problem.law)
        weighted = root[:, None] * self.problem.features
        return float(self(np.linalg.lstsq(weighted, root * self.value, rcond=None)[0]))

    def expected(self, step: Step, average: Any) -> float:
        """Return its exact expectation after TD(0) with these steps."""
        run = expected_trace(self.problem, TRANSITIONS, step, average=average, record=[TRANSITIONS])
        spread = run.error[0] - np.outer(*[run.theta[0] - self.problem.theta_star] * 2)
        weighted = self.problem.features.T @ (self.problem.law[:, None] * self.problem.features)
        return float(self(run.theta[0]) + np.sum(weighted * spread) / self.size)


def settings(
    problem: TDProblem, method: str, family: Family = CONSTANT
) -> list[tuple[float, float, float]]:
    """Return the traces, turns and steps (or constants of Algorithm 2) that a method tries."""
    size = float(problem.law @ (problem.features**2).sum(axis=1))
    rates = family.steps / size
    if method.startswith("accelerated"):
        rates = family.constants * size
    slow = 1 - (1 - problem.discount) ** 0.5
    return list(product(traces(method, slow, problem.discount), family.turns, rates.tolist()))


def traces(method: str, slow: float, discount: float) -> tuple[float, ...]:
    """Return the values of lambda that a method tries."""
    return (0.0,) if method.endswith("(0)") else (slow, discount)


def how(method: str, turn: float, x: float) -> tuple[Step, Any]:
    """Return the step and the average of a method with one of its settings.

    Past the turn all steps fall like k^-1/2. Those of Algorithm 2 grow before it: they are
    k / (4x + c k^(3/2)), whose two terms are equal at the turn.
    """
    if method.startswith("accelerated"):
        return theorem2(x, 4 * x / turn**1.5), "none"
    average = "linear" if method.startswith("averaged") else "none"
    return x if np.isinf(turn) else (lambda k: x / np.sqrt(1 + k / turn)), average


def paths(problem: TDProblem) -> tuple[Any, Any]:
    """Return the paths for tuning and those that are reported, the same for all methods."""
    rng = np.random.default_rng(1407)
    return tuple(  # type: ignore[return-value]
        problem.chain.sample(TRANSITIONS + 1, rng=rng, replicates=n) for n in (OWN, FRESH)
    )


def errors(
    problem: TDProblem, method: str, trace: float, turn: float, x: float, states: Any
) -> FloatArray:
    """Return the distance at the end of each path; infinite for a run that blows up."""
    distance = Distance(problem)
    if "LSTD" in method:
        return distance(lstd(problem, states, trace=trace))
    step, average = how(method, turn, x)
    try:
        run = td_trace(problem, states, step, trace=trace, average=average, record=[TRANSITIONS])
    except Diverged:
        return np.full(len(states), np.inf)
    return distance(run.theta[0])


def rows(
    name: str, discount: float, order: int, family: Family = CONSTANT
) -> Iterator[dict[str, Any]]:
    """Tune and run every method on one task."""
    problem = task(name, discount, order)
    own, fresh = paths(problem)
    distance, found = Distance(problem), {}
    for method in METHODS:
        tried = settings(problem, method, family)
        if "LSTD" in method:
            tried = tried[:: len(family.turns) * len(family.steps)]  # no steps
        worst = [errors(problem, method, *setting, own).max() for setting in tried]
        at = int(np.argmin(worst))
        found[method] = worst[at], tried[at], errors(problem, method, *tried[at], fresh)
        trace, turn, x = tried[at]
        one = {"task": name, "discount": discount, "order": order, "features": problem.dim}
        one |= {"kappa": np.linalg.cond(problem.A), "floor": distance.floor()}
        one |= {"method": method, "trace": trace}
        if "LSTD" not in method:
            last = len(family.steps) - 1
            one |= {"turn": turn, "setting": x, "edge": int(at % (last + 1) in (0, last))}
        end = found[method][2]
        one |= {"mean": end.mean(), "low": mean_band(end).low, "high": mean_band(end).high}
        if method.startswith("accelerated"):  # beside the better of the two plain ones
            plain = min((method[12:], f"averaged {method[12:]}"), key=lambda m: found[m][0])
            less = mean_band(found[plain][2] - end)
            one |= {"plain": found[plain][2].mean()}
            one |= {"less": less.mean, "less_low": less.low, "less_high": less.high}
        if "LSTD" not in method and trace == 0 and problem.dim <= LARGEST_EXACT:
            one["exact"] = distance.expected(*how(method, turn, x))
        yield {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in one.items()}


COLUMNS = (
    *("task", "discount", "order", "features", "kappa", "floor", "method", "trace", "turn"),
    *("setting", "edge", "mean", "low", "high", "plain", "less", "less_low", "less_high", "exact"),
)


def main() -> None:
    """Run all tasks and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--falling", action="store_true", help="steps may fall, discount 0.9 alone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    family = FALLING if options.falling else CONSTANT
    kept = COLUMNS if options.falling else [c for c in COLUMNS if c != "turn"]
    with (options.out or family.table).open("w", encoding="utf8", newline="") as file:
        table = csv.DictWriter(file, kept, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for name in TASKS:
            for discount in family.discounts:
                for order in ORDERS:
                    table.writerows(rows(name, discount, order, family))
                    file.flush()


if __name__ == "__main__":
    main()
