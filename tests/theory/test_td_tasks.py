"""Chapter 14: the tables of TD on a queue and a grid are what their command gives."""

import csv

import numpy as np
import pytest

from tools import td_tasks
from tools.td_tasks import CONSTANT, FALLING

FAMILIES = pytest.mark.parametrize("family", [CONSTANT, FALLING], ids=["constant", "falling"])


def recorded(family):
    with family.table.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def given(row):
    """Method and setting of a row; the table of constant steps has no turns."""
    numbers = row["trace"], row.get("turn") or "inf", row["setting"] or "0"
    return row["method"], *map(float, numbers)


@FAMILIES
def test_no_task_and_no_method_is_missing(family):
    rows = recorded(family)
    found = [(r["task"], float(r["discount"]), int(r["order"]), r["method"]) for r in rows]
    assert found == [
        (task, discount, order, method)
        for task in td_tasks.TASKS
        for discount in family.discounts
        for order in td_tasks.ORDERS
        for method in td_tasks.METHODS
    ]
    for row in rows:
        assert 0 < float(row["floor"]) <= float(row["mean"])
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"])


@FAMILIES
@pytest.mark.parametrize(("task", "order"), [("queue", 2), ("grid", 1)])
def test_the_command_gives_the_recorded_numbers(family, task, order):
    discount = 0.9 if family is FALLING else 0.99
    problem = td_tasks.task(task, discount, order)
    _, fresh = td_tasks.paths(problem)
    for row in recorded(family):
        if (row["task"], float(row["discount"]), int(row["order"])) == (task, discount, order):
            assert td_tasks.errors(problem, *given(row), fresh).mean() == pytest.approx(
                float(row["mean"]), rel=1e-3
            )
    assert float(recorded(family)[0]["kappa"]) == pytest.approx(
        np.linalg.cond(td_tasks.task("queue", 0.9, 1).A), rel=1e-4
    )


@FAMILIES
def test_the_setting_is_the_one_whose_worst_own_path_is_best(family):
    problem = td_tasks.task("queue", 0.9, 1)
    own, _ = td_tasks.paths(problem)
    row = recorded(family)[2]
    assert row["method"] == "accelerated TD(0)"
    tried = td_tasks.settings(problem, row["method"], family)
    worst = [td_tasks.errors(problem, row["method"], *one, own).max() for one in tried]
    assert given(row)[1:] == pytest.approx(tried[int(np.argmin(worst))], rel=1e-5)


@pytest.mark.parametrize("turn", [3.0, 30.0, 300.0])
def test_past_the_turn_steps_fall_like_the_root_of_k(turn):
    k = np.array([100, 10_000, 1_000_000]) * int(turn)
    for method in ("TD(0)", "averaged TD(0)", "accelerated TD(0)"):
        step, _ = td_tasks.how(method, turn, 2.0)
        rates = step.gamma(k) if method.startswith("accelerated") else step(k)
        assert rates[1:] / rates[:-1] == pytest.approx(0.1, rel=0.01)
        forever, _ = td_tasks.how(method, np.inf, 2.0)
        if method.startswith("accelerated"):
            assert (forever.gamma(k) == k / 8).all()
        else:
            assert forever == 2.0
