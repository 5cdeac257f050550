"""One word, one meaning: what several modules share is the same everywhere."""

import numpy as np
import pytest

from amgd.descent import sgd, steps
from amgd.descent.problems import Quadratic
from amgd.descent.steps import Schedule, StepSizes
from amgd.markov import iid
from amgd.td import TDProblem, td0

# What a run keeps -----------------------------------------------------------------------------


def kept_by_sgd(record, n):
    rng = np.random.default_rng(0)
    run = sgd(Quadratic([1.0]), iid([1.0]), 0.1, n, x0=1.0, rng=rng, record=record)
    assert run.x.shape == (len(run.k), 1, 1)
    return run.k.tolist()


def kept_by_td0(record, n):
    problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5, length=1)
    states = problem.sample_episodes(n, rng=np.random.default_rng(0))
    run = td0(problem, states, 0.1, record=record)
    assert run.theta.shape == (len(run.episodes), 1, 2)
    start, *kept = run.episodes.tolist()
    assert start == 0
    return kept


@pytest.mark.parametrize("kept_by", [kept_by_sgd, kept_by_td0])
@pytest.mark.parametrize(
    ("record", "n", "kept"),
    [
        (1, 4, [1, 2, 3, 4]),
        (3, 10, [3, 6, 9, 10]),
        (np.int64(5), 10, [5, 10]),
        (11, 10, [10]),
        ([3], 10, [3]),
        ((10, 1, 4, 4), 10, [1, 4, 10]),
        (range(2, 10, 3), 10, [2, 5, 8]),
        (None, 6, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_record_means_the_same_in_every_method(kept_by, record, n, kept):
    assert kept_by(record, n) == kept


@pytest.mark.parametrize("kept_by", [kept_by_sgd, kept_by_td0])
@pytest.mark.parametrize("record", ["all", 0, -1, 2.0, True, [0], [11], [1.5], [], [[1]], [True]])
def test_what_is_no_record_is_refused(kept_by, record):
    with pytest.raises((TypeError, ValueError), match=r"^record must "):
        kept_by(record, 10)


# A step ---------------------------------------------------------------------------------------


def by_sgd(step):
    problem = Quadratic([1.0, 0.5], noise=[[1.0, 0.0], [-1.0, 0.0]])
    rng = np.random.default_rng(0)
    return sgd(problem, iid([0.5, 0.5]), step, 20, x0=[1.0, 1.0], rng=rng).x


def by_td0(step):
    problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5, length=3)
    return td0(problem, problem.sample_episodes(20, rng=np.random.default_rng(0)), step).theta


def flat(k):
    return np.where(k < 5, 0.25, 0.125)


SAME_STEP = {
    "number": (0.25, [lambda k: 0.25, np.float32(0.25), np.array(0.25), steps.sgd(0.25)]),
    "function": (flat, [Schedule("mine", flat), steps.sgd(flat), steps.sgd(steps.sgd(flat))]),
    "rule with gamma = beta": (
        0.25,
        [steps.theorem1(0.25, "smallest"), StepSizes("mine", lambda k: 1, *2 * [lambda k: 0.25])],
    ),
    "sequence of a rule": (
        lambda k: 0.1 / (k + 1.1),
        [steps.theorem3_printed(1.0, "k+1", delta=0.05).eta, steps.sgd(lambda k: 0.1 / (k + 1.1))],
    ),
}


@pytest.mark.parametrize("method", [by_sgd, by_td0])
@pytest.mark.parametrize("name", SAME_STEP)
def test_a_step_has_the_same_forms_in_every_method_with_one_step(method, name):
    first, others = SAME_STEP[name]
    for other in others:
        np.testing.assert_allclose(method(other), method(first), rtol=1e-12)


NO_STEP = {
    "zero": (0.0, ValueError, r"^step must lie in \(0, inf\): got 0.0"),
    "negative": (-1, ValueError, r"^step must lie in \(0, inf\): got -1"),
    "NaN": (np.nan, ValueError, r"^step must lie in \(0, inf\): got nan"),
    "bool": (True, TypeError, "^step must be a real number in .*: got True"),
    "name": ("sgd", TypeError, "^step must be a real number in .*: got 'sgd'"),
    "None": (None, TypeError, "^step must be a real number in .*: got None"),
    "two numbers": ([0.1, 0.2], TypeError, "^step must be a real number in "),
    "function of another shape": (lambda k: [0.1, 0.2, 0.3], ValueError, "^step.k. must give one"),
    "weights": (steps.theorem2(1.0, 1.0), ValueError, "^step must be one .* pass their eta"),
    "two sequences": (
        steps.nesterov(0.1),
        ValueError,
        "^step must be one .* gamma_k != beta_k at k = 2",
    ),
}


@pytest.mark.parametrize("method", [by_sgd, by_td0])
@pytest.mark.parametrize("name", NO_STEP)
def test_what_is_no_step_is_refused_in_the_same_words(method, name):
    step, error, message = NO_STEP[name]
    with pytest.raises(error, match=message):
        method(step)
