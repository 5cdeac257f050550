"""Temporal differences on a queue and a grid: plain, averaged, accelerated, with and without trace.

For each task, discount and order of the features, the error after 1000 transitions of each method,
tuned on paths of its own; least squares (LSTD) is the yardstick.

    python -m tools.td_tasks            writes book/td_tasks.csv, in some minutes
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from amgd._checks import FloatArray
from amgd.descent.steps import Step, theorem2
from amgd.errors import Diverged
from amgd.statistics import mean_band
from amgd.td import GridWorld, TDProblem, expected_trace, fourier_features, lstd, td_trace

TABLE = Path(__file__).resolve().parents[1] / "book" / "td_tasks.csv"
TASKS, DISCOUNTS, ORDERS = ("queue", "grid"), (0.9, 0.99, 0.999), (1, 2, 3, 4, 5)
TRANSITIONS, OWN, FRESH, SETTINGS = 1000, 10, 30, 12
METHODS = tuple(
    f"{kind}{name}({trace})" for trace in "0λ" for kind, name in (
        ("", "TD"), ("averaged ", "TD"), ("accelerated ", "TD"), ("", "LSTD")
    )
)  # fmt: skip
LARGEST_EXACT = 9  # features up to which the exact error takes seconds


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


def settings(problem: TDProblem, method: str) -> list[tuple[float, float]]:
    """Return the traces and steps (or constants of Algorithm 2) that a method tries."""
    size = float(problem.law @ (problem.features**2).sum(axis=1))
    rates = np.geomspace(0.001, 20, SETTINGS) / size
    if method.startswith("accelerated"):
        rates = np.geomspace(0.3, 5000, SETTINGS) * size
    slow = 1 - (1 - problem.discount) ** 0.5
    return [(trace, float(x)) for trace in traces(method, slow, problem.discount) for x in rates]


def traces(method: str, slow: float, discount: float) -> tuple[float, ...]:
    """Return the values of lambda that a method tries."""
    return (0.0,) if method.endswith("(0)") else (slow, discount)


def how(method: str, x: float) -> tuple[Step, Any]:
    """Return the step and the average of a method with one of its settings."""
    if method.startswith("accelerated"):
        return theorem2(x, 0.0), "none"
    return x, "linear" if method.startswith("averaged") else "none"


def paths(problem: TDProblem) -> tuple[Any, Any]:
    """Return the paths for tuning and those that are reported, the same for all methods."""
    rng = np.random.default_rng(1407)
    return tuple(  # type: ignore[return-value]
        problem.chain.sample(TRANSITIONS + 1, rng=rng, replicates=n) for n in (OWN, FRESH)
    )


def errors(problem: TDProblem, method: str, trace: float, x: float, states: Any) -> FloatArray:
    """Return the distance at the end of each path; infinite for a run that blows up."""
    distance = Distance(problem)
    if "LSTD" in method:
        return distance(lstd(problem, states, trace=trace))
    step, average = how(method, x)
    try:
        run = td_trace(problem, states, step, trace=trace, average=average, record=[TRANSITIONS])
    except Diverged:
        return np.full(len(states), np.inf)
    return distance(run.theta[0])


def rows(name: str, discount: float, order: int) -> Iterator[dict[str, Any]]:
    """Tune and run every method on one task."""
    problem = task(name, discount, order)
    own, fresh = paths(problem)
    distance, found = Distance(problem), {}
    for method in METHODS:
        tried = settings(problem, method)
        if "LSTD" in method:
            tried = tried[::SETTINGS]  # no steps
        worst = [errors(problem, method, *setting, own).max() for setting in tried]
        at = int(np.argmin(worst))
        found[method] = worst[at], tried[at], errors(problem, method, *tried[at], fresh)
        trace, x = tried[at]
        one = {"task": name, "discount": discount, "order": order, "features": problem.dim}
        one |= {"kappa": np.linalg.cond(problem.A), "floor": distance.floor()}
        one |= {"method": method, "trace": trace}
        if "LSTD" not in method:
            one |= {"setting": x, "edge": int(at % SETTINGS in (0, SETTINGS - 1))}
        end = found[method][2]
        one |= {"mean": end.mean(), "low": mean_band(end).low, "high": mean_band(end).high}
        if method.startswith("accelerated"):  # beside the better of the two plain ones
            plain = min((method[12:], f"averaged {method[12:]}"), key=lambda m: found[m][0])
            less = mean_band(found[plain][2] - end)
            one |= {"plain": found[plain][2].mean()}
            one |= {"less": less.mean, "less_low": less.low, "less_high": less.high}
        if "LSTD" not in method and trace == 0 and problem.dim <= LARGEST_EXACT:
            one["exact"] = distance.expected(*how(method, x))
        yield {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in one.items()}


COLUMNS = (
    *("task", "discount", "order", "features", "kappa", "floor", "method", "trace", "setting"),
    *("edge", "mean", "low", "high", "plain", "less", "less_low", "less_high", "exact"),
)


def main() -> None:
    """Run all tasks and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for name in TASKS:
            for discount in DISCOUNTS:
                for order in ORDERS:
                    table.writerows(rows(name, discount, order))
                    file.flush()


if __name__ == "__main__":
    main()
