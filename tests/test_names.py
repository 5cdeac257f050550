"""One word, one meaning: what several modules share is the same everywhere."""

import inspect
import types
import typing
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import ArrayLike
from public_callables import public_callables

from amgd.descent import bounds, sgd, steps
from amgd.descent.problems import Quadratic
from amgd.descent.steps import Schedule, StepSizes
from amgd.markov import iid
from amgd.td import TDProblem, td0

# Parameters -----------------------------------------------------------------------------------


def signature(function):
    try:
        return inspect.signature(function, eval_str=True)
    except NameError:  # of a class that is imported for its annotation alone
        return inspect.signature(function)


def kind(annotation):
    """What an annotation asks for, whether it may be left out or not: ``number``, ``array``, ..."""
    if typing.get_origin(annotation) is typing.Annotated:  # with an interval
        annotation = typing.get_args(annotation)[0]
    members = {annotation}
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        members = set(typing.get_args(annotation)) - {type(None)}
    if members >= set(typing.get_args(ArrayLike)):
        return "array"
    words = {"float": "number", "int": "number", "str": "name", "Literal": "name"}
    words |= {"ndarray": "array", "Callable": "function", "Chain": "MarkovChain"}
    found = {getattr(typing.get_origin(m) or m, "__name__", str(m)) for m in members}
    return " or ".join(sorted({words.get(word, word) for word in found}))


CALLABLES = dict(public_callables())
PARAMETERS = [
    (name, parameter, kind(parameter.annotation))
    for name, function in CALLABLES.items()
    for parameter in signature(function).parameters.values()
    if parameter.name not in ("self", "cls", "args", "kwargs")
]
PARTS_I_TO_III = ("amgd.markov", "amgd.descent", "amgd.td")


def test_the_callables_are_found():
    """Else the tests below could not fail."""
    assert {"amgd.descent.algorithms.sgd", "amgd.markov.MarkovChain.sample"} <= set(CALLABLES)
    assert {"amgd.td.evaluation.TDProblem.from_gridworld", "amgd.optim.AMGD.__init__"} <= set(
        CALLABLES
    )
    assert len(CALLABLES) > 200


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (float | None, "number"),
        (typing.Literal["a", "b"] | None, "name"),
        (int | ArrayLike | None, "array"),
        (np.random.Generator, "Generator"),
        (float | typing.Callable[[int], float], "function or number"),
        ("Record | None", "Record | None"),
    ],
)
def test_kinds_of_annotations(annotation, expected):
    assert kind(annotation) == expected


# Words that have several kinds in Parts I to III, and why.
SEVERAL_KINDS = {
    "beta": "a number where it must be constant, a function of k where it is a sequence",
    "gamma": "the same; and the paper's Corollary 1 calls its accuracy so",
    "labels": "the class of each sample, or what the states are called",
    "k": "one number of steps where the answer is a vector",
    "episodes": "how many to draw, and the counts that a run has recorded",
    "frequency": "one for each axis, or one for all",
    "problem": "descent and temporal differences have problems of their own",
    "reward": "a vector, or the name of one of the grid's",
    "slope": "a vector, or a number on the line",
}


def test_a_parameter_has_one_kind_in_parts_i_to_iii():
    found = defaultdict(lambda: defaultdict(list))
    for name, parameter, what in PARAMETERS:
        if name.startswith(PARTS_I_TO_III):
            found[parameter.name][what].append(name)
    several = {word: dict(kinds) for word, kinds in found.items() if len(kinds) > 1}
    assert {w: kinds for w, kinds in several.items() if w not in SEVERAL_KINDS} == {}
    assert set(SEVERAL_KINDS) <= set(several), "no longer true: delete it from the list"


# Words of the whole package: kind, given by keyword alone.
WORDS = {
    "rng": ("Generator", True),
    "replicates": ("number", True),
    "steps": ("StepSizes", None),
    "step": ("StepSizes or function or number", False),
    "record": ("array", True),
    "n_steps": ("number", False),
    "x0": ("array", True),
    "initial": ("array", None),
    "T": ("number", True),
    "schedule": ("name", True),
    "denominator": ("name", None),
}
# (word, where): why it is another thing there.
OTHERWISE = {
    ("rng", "amgd.reinforce."): "a generator for each run, where runs advance together",
    ("replicates", "amgd.reinforce.episodes.Episodes."): "a result tells how many it has",
    ("step", "amgd.experiments."): "of a curve: the words for the step that was tuned",
    ("record", "amgd.experiments."): "what a run of an experiment leaves, a `Record`",
    ("initial", "amgd.reinforce.training."): "own or shared parameters at the start",
    ("schedule", "amgd.optim.AMGD."): "a name, or any step sizes",
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_whole_package_has_one_meaning(word):
    what, by_keyword = WORDS[word]
    places = tuple(place for other, place in OTHERWISE if other == word)
    plain = 0
    for name, parameter, found in PARAMETERS:
        if parameter.name == word and not name.startswith(places):
            plain += 1
            assert found == what, name
            if by_keyword is not None:
                assert (parameter.kind is parameter.KEYWORD_ONLY) == by_keyword, name
    assert plain > 1


@pytest.mark.parametrize(("word", "place"), OTHERWISE)
def test_a_listed_exception_is_one(word, place):
    there = [(p, found) for n, p, found in PARAMETERS if p.name == word and n.startswith(place)]
    assert there
    by_keyword = {p.kind is p.KEYWORD_ONLY for p, _ in there}
    assert {found for _, found in there} != {WORDS[word][0]} or by_keyword != {WORDS[word][1]}


def test_a_generator_is_never_made_up_nor_given_by_position():
    for name, parameter, _ in PARAMETERS:
        if parameter.name == "rng":
            assert parameter.kind is parameter.KEYWORD_ONLY, name
            optional = name.startswith("amgd.statistics.")  # where the exact answer needs none
            assert optional or parameter.default is parameter.empty, name


# The order of the arguments of a bound; what has a default stands last.
ORDER = """
    k K s tau steps gamma mu L M initial_gap f_x_bar0 r0 V0 B D sigma ell q q_lip T chain C
    beta c schedule weights delta stationary_start nonincreasing denominator
"""


@pytest.mark.parametrize("name", [name for name in bounds.__all__ if name != "constants"])
def test_bounds_list_their_arguments_in_one_order(name):
    found = inspect.signature(getattr(bounds, name)).parameters
    assert list(found) == [word for word in ORDER.split() if word in found]
    by_position = {word for word, p in found.items() if p.kind is not p.KEYWORD_ONLY}
    assert by_position == {"k", "K", "s", "tau"} & set(found)


@pytest.mark.parametrize("name", ["theorem1", "theorem2", "theorem3"])
def test_the_plain_theorem_takes_T_and_the_lag_form_the_chain(name):
    plain, lag = (
        {w for w, p in inspect.signature(f).parameters.items() if p.default is p.empty}
        for f in (getattr(bounds, name), getattr(bounds, f"{name}_lag"))
    )
    assert plain - lag == {"T"}
    assert lag - plain == {"chain"}


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
