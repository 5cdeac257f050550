"""Chapter 14: the table of temporal differences on a queue and a grid is what its command gives."""

import csv

import numpy as np
import pytest

from tools import td_tasks


@pytest.fixture(scope="module")
def rows():
    with td_tasks.TABLE.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_task_and_no_method_is_missing(rows):
    found = [(r["task"], float(r["discount"]), int(r["order"]), r["method"]) for r in rows]
    assert found == [
        (task, discount, order, method)
        for task in td_tasks.TASKS
        for discount in td_tasks.DISCOUNTS
        for order in td_tasks.ORDERS
        for method in td_tasks.METHODS
    ]
    for row in rows:
        assert 0 < float(row["floor"]) <= float(row["mean"])
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"])


@pytest.mark.parametrize(("task", "order"), [("queue", 2), ("grid", 1)])
def test_the_command_gives_the_recorded_numbers(rows, task, order):
    problem = td_tasks.task(task, 0.99, order)
    _, fresh = td_tasks.paths(problem)
    for row in rows:
        if (row["task"], row["discount"], int(row["order"])) == (task, "0.99", order):
            given = row["method"], float(row["trace"]), float(row["setting"] or 0)
            assert td_tasks.errors(problem, *given, fresh).mean() == pytest.approx(
                float(row["mean"]), rel=1e-3
            )
    assert float(rows[0]["kappa"]) == pytest.approx(
        np.linalg.cond(td_tasks.task("queue", 0.9, 1).A), rel=1e-4
    )
