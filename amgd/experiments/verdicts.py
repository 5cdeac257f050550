r"""The one rule by which every table of the book and of the command calls a method better.

Seed i of every variant has the same random streams, so two variants are compared on the seeds that
both finished, by `amgd.statistics.judge`: sign-flip tests, Holm's correction over a family, and a
word.
A run that diverged has no number. It is left out on both sides, and `Comparison.text` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from amgd import _checks as check
from amgd.statistics import Verdict, judge

__all__ = ["AREA", "Comparison", "Runs", "compare_runs", "family_text"]

AREA = "mean over the run"
"""The quantity of most tables: the mean height of a curve after its first row, which all share."""


class Runs(NamedTuple):
    """One number for each run of a method.

    Attributes
    ----------
    values : mapping of int to float
        By seed.
    diverged : int
        How many other runs have none, because they diverged.
    """

    values: Mapping[int, float]
    diverged: int = 0


@dataclass(frozen=True)
class Comparison(Verdict):
    """A verdict on the runs of two methods.

    Attributes
    ----------
    seeds : tuple of int
        Those that both finished.
    ratio : float
        Mean of the first over mean of the second on these; NaN if there are none or the second is
        not positive.
    diverged, other_diverged : int
        Runs of either side that diverged.
    """

    seeds: tuple[int, ...]
    ratio: float
    diverged: int
    other_diverged: int

    @property
    def text(self) -> str:
        """The word, with who diverged: "better on shared seeds, diverges"."""
        if not (self.diverged or self.other_diverged):
            return self.word
        who = "diverges" if self.diverged else "the other diverges"
        who = "both diverge" if self.diverged and self.other_diverged else who
        return f"{self.word}, {who}" if self.n < 2 else f"{self.word} on shared seeds, {who}"


@check.arguments
def compare_runs(
    family: Mapping[Any, tuple[Runs, Runs]],
    *,
    better: str,
    quantity: str = AREA,
    alpha: float = 0.05,
) -> dict[str, Comparison]:
    """Judge a family of comparisons.

    Parameters
    ----------
    family : mapping to (Runs, Runs)
        What is compared with what, by the name of the comparison (any key).
    better : {"larger", "smaller"}
        Which direction is better.
    quantity : str
        What the numbers are.
    alpha : float in (0, 1)
        Largest corrected p-value that is called a difference.

    Returns
    -------
    dict of str to Comparison

    Raises
    ------
    ValueError
        For an unknown direction or an empty family.

    Notes
    -----
    For more than 16 shared seeds the sign patterns are drawn at random, from a generator with a
    fixed seed: equal numbers have the same table everywhere.

    Examples
    --------
    >>> fast = Runs({seed: 2.0 + seed for seed in range(8)})
    >>> slow = Runs({seed: 1.0 for seed in range(6)}, diverged=2)
    >>> found = compare_runs({"fast against slow": (fast, slow)}, better="larger")
    >>> found["fast against slow"].text, found["fast against slow"].n
    ('better on shared seeds, the other diverges', 6)
    """
    shared = {
        name: [seed for seed in first.values if seed in second.values]
        for name, (first, second) in family.items()
    }
    pairs = {
        name: tuple(np.array([side.values[seed] for seed in shared[name]]) for side in sides)
        for name, sides in family.items()
    }
    verdicts = judge(
        pairs,  # type: ignore[arg-type]
        better=better,
        quantity=quantity,
        alpha=alpha,
        rng=np.random.default_rng(0),
    )
    return {
        name: Comparison(
            **{field.name: getattr(verdict, field.name) for field in fields(Verdict)},
            seeds=tuple(shared[name]),
            ratio=_ratio(*pairs[name]),
            diverged=family[name][0].diverged,
            other_diverged=family[name][1].diverged,
        )
        for name, verdict in verdicts.items()
    }


def _ratio(first: np.ndarray, second: np.ndarray) -> float:
    if first.size == 0 or second.mean() <= 0.0:
        return np.nan
    return float(first.mean() / second.mean())


@check.arguments
def family_text(found: Mapping[Any, Comparison]) -> str:
    """Say what a family of verdicts speaks of and what it could have found, for beside its table.

    Examples
    --------
    >>> runs = Runs({seed: float(seed) for seed in range(10)})
    >>> print(family_text(compare_runs({"a": (runs, runs)}, better="larger")))
    Verdicts on the mean over the run: sign-flip tests, Holm's correction for m = 1, n = 10 pairs,
    smallest p 0.002.
    """
    if not found:
        raise ValueError("found must hold a comparison: got none; pass what compare_runs returns")
    one = next(iter(found.values()))
    numbers = sorted({c.n for c in found.values()})
    n = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    least = max(c.least_p for c in found.values())
    return (
        f"Verdicts on the {one.quantity}: sign-flip tests, Holm's correction for m = {one.family}, "
        f"n = {n} pairs, smallest p {least:.2g}."
    )
