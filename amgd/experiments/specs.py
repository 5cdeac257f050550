r"""What an experiment is: frozen descriptions of the paper's figures.

A specification holds everything that decides the numbers of a run, so that the same specification
gives the same result.
Where the paper leaves a choice open the specification has a field for it, and the default is the
book's reading; `figure1_readings` lists the others, each one change away from the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amgd import _checks as check
from amgd.descent.steps import StepSizes, theorem3_printed
from amgd.td import GridWorld, TDProblem, fourier_features
from amgd.td.gridworld import GOALS, REWARDS
from amgd.td.learning import update_and_count

__all__ = ["FIGURE1", "METHODS", "GridWorldSpec", "figure1_readings"]

METHODS = ("plain", "accelerated", "matched", "tuned", "tuned_accelerated")
FEATURES = ("three", "order", "product")
LAWS = ("episode", "uniform")


@dataclass(frozen=True, kw_only=True)
class GridWorldSpec:
    r"""One panel of Figure 1: TD(0) and TD(0)-Acc on the grid.

    Parameters
    ----------
    n : int
        Cells on a side. An episode has 10 n steps.
    episodes : int
        Training episodes of a run.
    goal, reward
        As for `amgd.td.GridWorld`. The paper does not say; the default ends the episode at the
        goal and gives -1 for each step.
    features : {"three", "order", "product"}
        Fourier features: $1, \cos\pi x, \cos\pi y$; all of order 3, $\cos\pi(ix+jy)$; or their
        product form $\cos(\pi ix)\cos(\pi jy)$.
    coordinates : {"midpoint", "unit"}
        As for `amgd.td.fourier_features`.
    discount : float in [0, 1)
    law : {"episode", "uniform"}
        Law of the states under which the NEU is measured: the one of the truncated episodes, or
        equal weights for all cells. What is learned does not depend on it.
    mu : float or {"episode", "uniform"}
        Modulus in the steps of TD(0)-Acc. A name stands for the smallest eigenvalue of the
        symmetric part of A under that law.
    delta, variant
        As for `amgd.descent.steps.theorem3_printed`.
    update, count
        As for `amgd.td.td0`.
    rate : float
        Step of plain TD(0).
    rates, scales : tuple of float
        The grid of tuned TD(0): constant steps, and steps scale / k.
    deltas : tuple of float
        The grid of tuned TD(0)-Acc, of the same size.
    methods : tuple of str
        Which of `METHODS` to run, in this order.
    record : int
        Episodes between two records.
    test_episodes : int
        Episodes from which the paper estimates the NEU at each record.
    seeds, tuning_seeds : int
        Independent runs that are reported, and other ones on which the grids are tried.
    seed : int
        Entropy of all random streams.
    limit : float
        A run whose iterate reaches this size has diverged.

    Raises
    ------
    ValueError, TypeError
        If a field has the wrong type or range, or if the two grids differ in size although both
        tuned methods are asked for: the one with more tries would win by its tries.

    Examples
    --------
    >>> spec = GridWorldSpec(n=10, episodes=1000)
    >>> spec.length, spec.steps().gamma(1)
    (100, 0.1)
    >>> round(GridWorldSpec(n=10, episodes=1000, mu="episode").modulus, 6)
    0.035933
    """

    n: int
    episodes: int
    goal: str = "absorbing"
    reward: str = "step"
    features: str = "three"
    coordinates: str = "midpoint"
    discount: float = 0.9
    law: str = "episode"
    mu: float | str = 1.0
    delta: float = 0.1
    variant: str = "k+1"
    update: str = "transition"
    count: str = "episode"
    rate: float = 0.001
    rates: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1)
    scales: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    deltas: tuple[float, ...] = (0.003, 0.01, 0.03, 0.06, 0.1, 0.15, 0.3, 0.6, 1.0, 3.0)
    methods: tuple[str, ...] = METHODS[:4]
    record: int = 10
    test_episodes: int = 10
    seeds: int = 10
    tuning_seeds: int = 10
    seed: int = 0
    limit: float = 1e6

    def __post_init__(self) -> None:
        """Check every field; keep sequences as tuples."""
        check.integer("n", self.n, 2, "a grid needs a start and a goal")
        least = {"episodes": 1, "record": 1, "test_episodes": 1, "seeds": 2, "tuning_seeds": 1}
        for name, bound in least.items():
            check.integer(name, getattr(self, name), bound, "it counts runs or episodes")
        check.integer("seed", self.seed, 0, "it is the entropy of the random streams")
        options = {
            "goal": GOALS,
            "reward": REWARDS,
            "features": FEATURES,
            "coordinates": ("midpoint", "unit"),
            "law": LAWS,
            "variant": ("k", "k+1"),
        }
        for name, names in options.items():
            check.choice(name, getattr(self, name), names)
        update_and_count(self.update, self.count)
        check.discount_factor(self.discount)
        if isinstance(self.mu, str):
            check.choice("mu", self.mu, LAWS)
        else:
            check.positive("mu", self.mu, "it divides the steps of TD(0)-Acc")
        for name in ("delta", "rate", "limit"):
            check.positive(name, getattr(self, name), "steps and sizes are above 0")
        for name in ("rates", "scales", "deltas"):
            object.__setattr__(self, name, _grid(name, getattr(self, name)))
        object.__setattr__(self, "methods", _methods(self.methods))
        tries = len(self.rates) + len(self.scales)
        if "tuned" in self.methods and tries == 0:
            raise ValueError(
                "nothing to tune: rates and scales are both empty (expected a grid); "
                'list some or drop "tuned" from methods'
            )
        if {"tuned", "tuned_accelerated"} <= set(self.methods) and tries != len(self.deltas):
            raise ValueError(
                f"the grids differ in size: got {tries} steps for TD(0) and {len(self.deltas)} "
                "deltas for TD(0)-Acc (expected as many); a fair comparison tries as often for both"
            )

    @property
    def length(self) -> int:
        """Steps of an episode, the paper's 10 n."""
        return 10 * self.n

    @property
    def modulus(self) -> float:
        """The number that `mu` stands for."""
        return self.problem(self.mu).mu if isinstance(self.mu, str) else float(self.mu)

    def problem(self, law: str | None = None) -> TDProblem:
        """Return the exact system of this reading, under `law` if one is given."""
        law = self.law if law is None else law
        basis: dict[str, Any] = {"coordinates": self.coordinates}
        if self.features != "three":
            basis.update(kind="order", product=self.features == "product")
        return TDProblem.from_gridworld(
            GridWorld(self.n, goal=self.goal, reward=self.reward),
            fourier_features(self.n, **basis),
            self.discount,
            law="episode" if law == "episode" else np.full(self.n**2, 1.0 / self.n**2),
            length=self.length,
        )

    def steps(self, delta: float | None = None) -> StepSizes:
        """Return the steps of TD(0)-Acc, with another delta if one is given."""
        scale = self.delta if delta is None else delta
        return theorem3_printed(self.modulus, self.variant, scale)  # type: ignore[arg-type]


def _grid(name: str, values: Any) -> tuple[float, ...]:
    """Return a tuple of distinct positive floats."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise TypeError(
            f"{name} must be a sequence of numbers: got {values!r} (expected for example "
            "(0.01, 0.1)); list the values to try"
        )
    grid = tuple(check.positive(f"{name}[{i}]", v, "list steps") for i, v in enumerate(values))
    if len(set(grid)) < len(grid):
        raise ValueError(f"{name} lists a value twice: got {grid} (expected distinct values)")
    return grid


def _methods(names: Any) -> tuple[str, ...]:
    """Return a tuple of distinct names of methods."""
    if isinstance(names, str) or not names:
        raise ValueError(
            f"methods must list names: got {names!r} (expected some of {METHODS}); "
            'pass for example ("plain", "accelerated")'
        )
    listed = tuple(check.choice("methods", name, METHODS) for name in names)
    if len(set(listed)) < len(listed):
        raise ValueError(f"methods lists a name twice: got {listed} (expected distinct names)")
    return listed


FIGURE1 = (GridWorldSpec(n=10, episodes=1000), GridWorldSpec(n=50, episodes=500))
"""The two panels of the paper's Figure 1 in the book's reading."""


def figure1_readings(spec: GridWorldSpec) -> dict[str, GridWorldSpec]:
    """Return `spec` and the other readings of what the paper leaves open, one change each.

    Parameters
    ----------
    spec : GridWorldSpec
        The reading from which the others depart. A change that it already contains is left out.

    Returns
    -------
    dict of str to GridWorldSpec
        The first entry is "as above".

    Examples
    --------
    >>> list(figure1_readings(FIGURE1[0]))[:3]
    ['as above', 'reward 0, +1 at the goal', 'the goal is an ordinary cell']
    """
    changes: dict[str, dict[str, Any]] = {
        "reward 0, +1 at the goal": {"reward": "goal"},
        "the goal is an ordinary cell": {"goal": "ordinary"},
        "the goal leads back to the start": {"goal": "reset"},
        "16 features, order 3": {"features": "order"},
        "16 features, product basis": {"features": "product"},
        "coordinates from 0 to 1": {"coordinates": "unit"},
        "mu of the uniform law": {"mu": "uniform"},
        "mu of the episodes": {"mu": "episode"},
        "delta 1": {"delta": 1.0},
        "gamma over k": {"variant": "k"},
        "one update an episode": {"update": "episode"},
        "k counts transitions": {"count": "transition"},
        "NEU under the uniform law": {"law": "uniform"},
    }
    readings = {"as above": spec}
    for name, change in changes.items():
        if all(getattr(spec, field) == value for field, value in change.items()):
            continue
        if change.get("count") == "transition" and spec.update == "episode":
            continue
        readings[name] = replace(spec, **change)
    return readings
