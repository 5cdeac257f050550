"""The table of constants: its instances give its ratios, and the search finds such instances."""

import csv

import numpy as np
import pytest
from enumeration import tree

from amgd.descent import steps
from amgd.descent.problems import Box, Quadratic
from tools import sharpness
from tools.sharpness import STATEMENTS, Segment, Walk, evaluate, search


def recorded():
    with sharpness.TABLE.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_statement_has_a_row():
    assert [row["statement"] for row in recorded()] == list(STATEMENTS)


@pytest.mark.parametrize("row", recorded(), ids=lambda row: row["statement"])
def test_a_stored_instance_gives_its_ratio(row, record):
    ratio = evaluate(row["statement"], int(row["k"]), row["instance"])
    assert ratio == pytest.approx(float(row["ratio"]), abs=2e-6)
    assert ratio <= 1 + 1e-12
    record(f"search, {row['statement']}", ratio)


@pytest.mark.parametrize(("statement", "least"), [("thm-2", 0.4), ("lem-1", 0.6), ("cor-1", 0.9)])
def test_a_short_search_comes_near(statement, least):
    ratio, instance = search(statement, 2, seed=7, tries=240)
    assert least < ratio <= 1 + 1e-12
    assert evaluate(statement, 2, instance) == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_left_side_is_that_of_the_other_enumeration(seed):
    """The tree of `enumeration` with a problem of the package, against the tool's own."""
    z, k = np.random.default_rng(seed).normal(size=sharpness.SIZE), 4
    z[4] = 0.5 * np.exp(z[3]) * sharpness.squash(z[5])  # the slope at 0, so that x* = -1/2
    walk = Walk.of(z, k)
    own = Segment(z, walk)
    assert own.best == pytest.approx(-0.5)
    problem = Quadratic(
        own.h + own.m.reshape(2, 1, 1),
        (own.n + own.m * own.best).reshape(2, 1),
        stationary=walk.chain.stationary,
        minimiser=[own.best],
        domain=Box(-1.0, 1.0),
    )
    rule = steps.theorem2(own.L, own.c)
    *_, last = tree(problem, walk.chain, rule, [own.x0], int(z[2] > 0), k, algorithm=2)
    gap = last.mean(problem.value(last.x_bar)) - problem.minimum
    assert own.run(k, lambda t: t / (4 * own.L + own.c * t**1.5)) == pytest.approx(gap, rel=1e-9)
