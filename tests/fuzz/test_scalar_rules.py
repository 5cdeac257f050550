"""A rule written for one step k works wherever one for arrays of k does, to the same bits.

The places are not listed: they are all parameters of public callables that take a rule or step
sizes, each with the rest of its valid call.
"""

import functools
import inspect
import math
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from test_fuzz import FUNCTIONS, called, maker
from valid_calls import CALLS

from amgd.descent.steps import Schedule, StepSizes
from amgd.optim import AMGD

K = np.arange(1, 25)
TAKES_A_RULE = re.compile(r"\b_?(Rule|Step|StepSizes|Callable)\b")
NO_RULES = {
    "descent.steps.Named.__init__.make",  # it makes step sizes
    "experiments.checkpoints.Checkpoints.__init__.alive",
    "experiments.checkpoints.Checkpoints.offer.states",
    "experiments.runner.record.on_progress",
    "optim.AMGD.step.closure",
    "reinforce.training.TrainingSpec.__init__.optimizer",  # it makes an optimizer, such as AMGD
    "statistics.bootstrap_interval.statistic",  # of samples
}
PLACES = sorted(
    (name, parameter)
    for name in CALLS.keys() & FUNCTIONS.keys()
    for parameter, one in inspect.signature(FUNCTIONS[name]).parameters.items()
    if TAKES_A_RULE.search(str(one.annotation))
    if f"{name}.{parameter}" not in NO_RULES
)


def test_the_places_are_found():
    assert {("td.learning.td0", "step"), ("optim.AMGD.__init__", "schedule")} <= set(PLACES)
    assert len(PLACES) > 25


# --- the rules ------------------------------------------------------------------------------------
def by_branches(k):
    if k < 3:
        return 0.1
    return 0.1 / math.sqrt(k)


def for_arrays(k):
    return np.where(k < 3, 0.1, 0.1 / np.sqrt(k))


def integers_alone(k):
    if not isinstance(k, int):
        raise TypeError(f"k must be an int: got {k!r}")
    return by_branches(k)


SCALAR = {
    "branches": (by_branches, for_arrays),
    "one expression": (
        lambda k: 0.5 if k == 1 else 0.1 / k,
        lambda k: np.where(k > 1, 0.1 / k, 0.5),
    ),
    "membership": (lambda k: 0.5 if k in (1, 2) else 0.1, lambda k: np.where(k < 3, 0.5, 0.1)),
    "a table": (lambda k: {1: 1.0}.get(k, 0.25), lambda k: np.where(k == 1, 1.0, 0.25)),
    "a cache": (functools.cache(by_branches), for_arrays),
    "digits": (lambda k: 1.0 / k.bit_length(), lambda k: 1.0 / (np.floor(np.log2(k)) + 1)),
    "a sum": (lambda k: 1.0 / sum(range(k + 1)), lambda k: 2.0 / (k * (k + 1.0))),
    "a power": (lambda k: k**-1, lambda k: 1.0 / k),
    "a larger": (lambda k: max(0.1, 1 / k), lambda k: np.maximum(0.1, 1 / k)),
    "a check": (integers_alone, for_arrays),
}


@pytest.mark.parametrize("index", [1, 3, [1], [4], K[:0], K, K.reshape(4, 6), np.uint8(9)], ids=str)
@pytest.mark.parametrize("name", SCALAR)
def test_a_schedule_takes_both(name, index):
    scalar, array = (Schedule("beta", rule)(index) for rule in SCALAR[name])
    assert type(scalar) is type(array)
    np.testing.assert_array_equal(scalar, array, strict=True)


def sequences(mu):
    """Return alpha, and gamma and beta of Algorithm 2, as scalar rules and as rules for arrays."""

    def alpha(k):
        if k == 1:
            return 1.0
        return 2.0 / (k + 1.0)

    def gamma(k):
        if k < 3:
            return k / 16.0
        return 1.0 / (16.0 / k + mu * (k - 1.0) / 2.0)

    def gammas(k):
        return np.where(k < 3, k / 16.0, 1.0 / (16.0 / k + mu * (k - 1.0) / 2.0))

    def mixed(alpha, gamma):
        return lambda k: alpha(k) / (alpha(k) + (1.0 - alpha(k)) * (1.0 + mu * gamma(k)))

    def alphas(k):
        return 2.0 / (k + 1.0)

    return (alpha, gamma, mixed(alpha, gamma)), (alphas, gammas, mixed(alphas, gammas))


def pair(given, parameter):
    """Return what takes the place of an argument: with scalar rules, and with those for arrays."""
    if isinstance(given, list):
        return tuple([one] for one in pair(given[0], parameter))
    both = by_branches, for_arrays
    if parameter == "schedule":  # of the optimizer, in units of lr
        return tuple((lambda k, rule=rule: (2 / (k + 1), rule(k), rule(k))) for rule in both)
    if not isinstance(given, StepSizes):
        return both
    scalar, array = sequences(given.mu)
    if given.algorithm == "convex":
        made = [(alpha, beta, gamma) for alpha, gamma, beta in (scalar, array)]
    else:
        made = [(rules[0], step, step) for rules, step in zip((scalar, array), both, strict=True)]
    return tuple(StepSizes("mine", *rules, given.mu, given.algorithm) for rules in made)


# --- what comes out -------------------------------------------------------------------------------
def numbers(result):
    """Return all numbers of a result in one array."""
    if isinstance(result, Schedule):
        return result(K)
    if isinstance(result, StepSizes):
        return numbers([result.alpha, result.beta, result.gamma, result.eta])
    if is_dataclass(result):
        return numbers([getattr(result, field.name) for field in fields(result)])
    if isinstance(result, list | tuple):
        return np.concatenate([numbers(one) for one in result])
    return np.ravel(result) if isinstance(result, float | np.ndarray) else np.array([])


def descended(schedule):
    """Return the parameter after some steps of the optimizer."""
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    optimizer = AMGD([w], lr=0.1, schedule=schedule)
    for _ in K:
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
    return w.detach().numpy()


def outcome(name, parameter, value):
    """Return the numbers that a place gives with such a rule."""
    if name == "optim.AMGD.__init__":
        return descended(value)
    function, given = maker(name)()
    return numbers(called(function, {**given, parameter: value}))


@pytest.mark.parametrize(("name", "parameter"), PLACES, ids=lambda one: one)
def test_every_place_takes_both(name, parameter):
    given = maker(name)()[1][parameter]
    scalar, array = (outcome(name, parameter, value) for value in pair(given, parameter))
    np.testing.assert_array_equal(scalar, array)
    assert scalar.size or name == "descent.steps.check_steps"  # which refuses or returns None
