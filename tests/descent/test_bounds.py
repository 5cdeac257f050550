"""amgd.descent.bounds: shapes, refused input, and relations between the bounds.

The formulas themselves are checked in tests/theory/test_formulas.py.
"""

import inspect
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgd.descent import bounds, problems
from amgd.descent.steps import StepSizes, nesterov, sgd, theorem1, theorem2, theorem3
from amgd.markov import MarkovChain, iid, sticky, two_state

CHAIN = two_state(0.1, 0.2)
GAP = {"L": 0.25, "M": 2.0, "initial_gap": 1.0}
CONVEX = {"L": 2.0, "r0": 1.0, "B": 3.0, "sigma": 0.5, "M": 4.0, "ell": 0.1}
STRONG = {"mu": 0.5} | CONVEX
POISSON = {"L": 2.0, "r0": 1.0, "B": 3.0, "sigma": 0.5, "M": 4.0, "q": 1.5, "q_lip": 0.3}
DIVERGENCE = {"L": 2.0, "V0": 1.0, "B": 2.0, "sigma": 0.5, "M": 4.0, "ell": 0.1, "T": 3.0}
MIXING = {"B": 3.0, "sigma": 0.5, "M": 4.0, "ell": 0.1}

# name -> (function of k alone, its keyword constants)
CASES = {
    "corollary1": (bounds.corollary1, {"chain": CHAIN, "M": 2.0}),
    "theorem1_printed": (bounds.theorem1_printed, GAP | {"C": 3.0}),
    "theorem1_proof_line": (bounds.theorem1_proof_line, GAP | {"C": 3.0}),
    "theorem1_lag": (bounds.theorem1_lag, GAP | {"chain": CHAIN}),
    "theorem1": (bounds.theorem1, GAP | {"T": 3.0}),
    "lemma_poisson": (
        bounds.lemma_poisson,
        MIXING | {"steps": theorem3(0.5, 2.0), "T": 3.0},
    ),
    "theorem2_printed": (bounds.theorem2_printed, {"L": 2.0, "D": 1.5, "M": 4.0, "f_x_bar0": -1.0}),
    "theorem2": (bounds.theorem2, CONVEX | {"T": 3.0}),
    "theorem2_lag": (bounds.theorem2_lag, CONVEX | {"chain": CHAIN}),
    "theorem2_poisson": (bounds.theorem2_poisson, POISSON),
    "proposition_a": (bounds.proposition_a, MIXING | {"L": 2.0, "T": 3.0}),
    "proposition_b": (bounds.proposition_b, {"L": 2.0, "D": 1.5}),
    "theorem3_printed": (
        bounds.theorem3_printed,
        {"mu": 0.5, "L": 2.0, "D": 1.5, "M": 4.0, "f_x_bar0": -1.0},
    ),
    "theorem3": (bounds.theorem3, STRONG | {"T": 3.0}),
    "theorem3_lag": (bounds.theorem3_lag, STRONG | {"chain": CHAIN}),
    "proposition_c": (bounds.proposition_c, STRONG | {"T": 3.0}),
    "mirror": (bounds.mirror, DIVERGENCE),
    "dual_averaging": (bounds.dual_averaging, DIVERGENCE),
}
PAIRS = {
    "lemma1": (bounds.lemma1, {"steps": theorem1(0.1), "L": 1.0, "M": 2.0, "chain": CHAIN}),
    "lemma1_printed": (bounds.lemma1_printed, {"steps": theorem1(0.1), "L": 1.0, "M": 2.0}),
    "lemma_lag": (bounds.lemma_lag, MIXING | {"steps": theorem3(0.5, 2.0), "chain": CHAIN}),
}
POSITIVE = {"L", "M", "B", "D", "mu", "beta", "V0"}
NONNEGATIVE = {"sigma", "ell", "q", "q_lip", "T", "C", "initial_gap", "r0", "c"}


def test_every_function_is_listed_here():
    listed = set(CASES) | set(PAIRS) | {"corollary1_printed", "lemma2_excess", "constants"}
    assert listed == set(bounds.__all__)


@pytest.mark.parametrize("name", CASES)
def test_arrays_are_scalars_side_by_side(name):
    function, constants = CASES[name]
    k = np.array([[40, 1, 7], [7, 1000, 2]])
    values = function(k, **constants)
    assert values.shape == k.shape
    assert values.dtype == np.float64
    for index in np.ndindex(k.shape):
        one = function(int(k[index]), **constants)
        assert type(one) is float
        assert one == pytest.approx(values[index], rel=1e-12)
        assert type(function(np.int32(k[index]), **constants)) is float
    assert function(k.astype(np.uint8), **constants).dtype == np.float64
    assert function(np.array([], dtype=int), **constants).shape == (0,)
    np.testing.assert_array_equal(function([40, 1], **constants), function(k[0, :2], **constants))


@pytest.mark.parametrize("name", PAIRS)
def test_arrays_of_two_indices(name):
    function, constants = PAIRS[name]
    k, s = np.array([3, 9, 30]), np.array([[1], [2]])
    values = function(k, s, **constants)
    assert values.shape == (2, 3)
    for i, lag in enumerate((1, 2)):
        for j, step in enumerate((3, 9, 30)):
            one = function(step, lag, **constants)
            assert type(one) is float
            assert one == pytest.approx(values[i, j], rel=1e-12)
    assert function(np.array([], dtype=int), 1, **constants).shape == (0,)
    with pytest.raises(ValueError, match="must be at most k"):
        function(3, 4, **constants)
    with pytest.raises(ValueError, match="must be at least 1: got 0"):
        function(3, 0, **constants)
    with pytest.raises(
        TypeError, match="must be an integer or an array of integers: got dtype float64"
    ):
        function(3, 1.0, **constants)


def test_excess_takes_arrays():
    steps = theorem2(1.0, 0.5)
    k = np.array([[1, 4], [9, 2]])
    values = bounds.lemma2_excess(k, steps=steps)
    assert values.shape == (2, 2)
    assert type(bounds.lemma2_excess(4, steps=steps)) is float
    assert bounds.lemma2_excess(4, steps=steps) == values[0, 1]
    assert bounds.lemma2_excess(np.array([], dtype=int), steps=steps).shape == (0,)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (-3, ValueError, "must be at least"),
        (np.array([3, -1]), ValueError, "must be at least"),
        (2.0, TypeError, "integer"),
        (2.5, TypeError, "integer"),
        (np.array([2.0]), TypeError, "integer"),
        (True, TypeError, "integer"),
        (np.array([True]), TypeError, "integer"),
        ("2", TypeError, "integer"),
        (None, TypeError, "integer"),
        (math.nan, TypeError, "integer"),
    ],
)
def test_bad_k(name, k, error, message):
    function, constants = CASES[name]
    with pytest.raises(error, match=message):
        function(k, **constants)


@pytest.mark.parametrize("name", CASES)
def test_k_starts_at_1_and_for_the_bias_at_0(name):
    function, constants = CASES[name]
    if name == "corollary1":
        assert function(0, **constants) == pytest.approx(2 * 2.0 * CHAIN.tv_distance(0))
    else:
        with pytest.raises(ValueError, match="must be at least 1: got 0"):
            function(0, **constants)


def bad_constants():
    for name, (function, constants) in CASES.items():
        names = set(constants) | ({"beta"} if "beta" in inspect.signature(function).parameters
                                  else set())  # fmt: skip
        for key in sorted(names & (POSITIVE | NONNEGATIVE | {"f_x_bar0"})):
            values = [math.nan, math.inf, -math.inf, True, "1", np.array([1.0, 2.0]), 1j]
            if key in POSITIVE | NONNEGATIVE:
                values.append(-1e-9)
            may_be_zero = name in ("theorem2", "theorem2_lag") and key == "L"
            if key in POSITIVE and not may_be_zero:
                values.append(0.0)
            for value in values:
                yield pytest.param(name, key, value, id=f"{name}-{key}-{value!r}")


@pytest.mark.parametrize(("name", "key", "value"), list(bad_constants()))
def test_bad_constants_are_refused_by_name(name, key, value):
    function, constants = CASES[name]
    with pytest.raises(
        (TypeError, ValueError), match=rf"^{key} must (be a real number|lie) in [(\[]"
    ):
        function(100, **(constants | {key: value}))


SCALED = [
    pytest.param(name, key, id=f"{name}-{key}")
    for name, (function, constants) in CASES.items()
    for key in sorted(
        set(inspect.signature(function).parameters) & (POSITIVE | NONNEGATIVE | {"c"})
    )
]


@pytest.mark.parametrize(("name", "key"), SCALED)
def test_constants_whose_products_overflow_are_refused(name, key):
    function, constants = CASES[name]
    for value in (1e-300, 1e300) if key in POSITIVE | {"c"} else (1e300,):
        if key in ("mu", "r0") and value > 1:
            continue  # refused as larger than L or B
        if key == "L" and value < 1 and name in ("theorem2", "theorem2_lag"):
            continue  # where L may be 0
        message = re.escape(f"{key} is out of scale: got {value:g} ") + ".*units"
        with pytest.raises(ValueError, match=message):
            function(100, **(constants | {key: value}))


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_finite_up_to_the_ends_of_the_scale(name):
    function, constants = CASES[name]
    rng = np.random.default_rng(0)
    free = [key for key in constants if key in POSITIVE | NONNEGATIVE]
    answers = 0
    for _ in range(100):
        drawn = {key: float(rng.choice([1e-60, 1e-20, 1.0, 1e20, 1e60])) for key in free}
        try:
            values = function(np.array([1, 2, 1000]), **(constants | drawn))
        except ValueError as error:  # mu > L, r0 > B, K < 16 L^2, or a chain too slow for beta
            if not re.search("must not exceed|must be at least|too slow", str(error)):
                raise
            continue
        assert np.isfinite(values).all()
        answers += 1
    assert answers >= 10


def test_a_lag_longer_than_the_run_needs_no_longer_curve():
    slow = two_state(1e-9, 1e-9)  # d(k) <= 0.01 after two thousand million steps
    bound = bounds.theorem1_lag(100, chain=slow, delta=0.01, **GAP)
    tau = slow.mixing_time(0.01)
    L, M, beta = GAP["L"], GAP["M"], 0.1
    expected = GAP["initial_gap"] / (beta * 100) + M**2 * (
        L * beta * (1.5 + 20 / 3 * (tau - 1)) + 0.02
    )
    expected += 4 * M**2 / 100 * float(np.sum(slow.tv_distance(np.arange(1, 101))))
    assert bound == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"too slow .* use the bound that takes T="):
        bounds.theorem1_lag(10**10, chain=slow, delta=0.01, **GAP)


@pytest.mark.parametrize("name", [n for n, (_, c) in (CASES | PAIRS).items() if "chain" in c])
@pytest.mark.parametrize("chain", [None, np.eye(2), [[0.5, 0.5], [0.5, 0.5]]])
def test_bad_chain(name, chain):
    function, constants = (CASES | PAIRS)[name]
    arguments = (20,) if name in CASES else (20, 2)
    with pytest.raises(TypeError, match=r"chain must be a MarkovChain: got \w+; build one"):
        function(*arguments, **(constants | {"chain": chain}))


@pytest.mark.parametrize("name", ["lemma_poisson", *PAIRS])
def test_bad_steps(name):
    function, constants = (CASES | PAIRS)[name]
    arguments = (20,) if name in CASES else (20, 2)
    with pytest.raises(
        TypeError, match=r"steps must be a StepSizes: got (float|NoneType); use a rule"
    ):
        function(*arguments, **(constants | {"steps": 0.1}))
    with pytest.raises(
        TypeError, match=r"steps must be a StepSizes: got (float|NoneType); use a rule"
    ):
        bounds.lemma2_excess(3, steps=None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: bounds.corollary1_printed(gamma=0.0),
            ValueError,
            r"gamma must lie in \(0, inf\): got 0",
        ),
        (lambda: bounds.corollary1_printed(gamma="x"), TypeError, "gamma must be"),
        (lambda: bounds.theorem3(5, T=0.0, **(STRONG | {"mu": 2.1})), ValueError, "mu must not"),
        (lambda: bounds.theorem2(5, T=0.0, **(CONVEX | {"r0": 3.1})), ValueError, "r0 must not"),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, delta=0.0, **GAP),
            ValueError,
            "delta must lie",
        ),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, delta=1.1, **GAP),
            ValueError,
            "delta must lie",
        ),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, delta=math.nan, **GAP),
            ValueError,
            "delta must",
        ),
        (lambda: bounds.theorem1_lag(9, chain=CHAIN, delta=True, **GAP), TypeError, "delta must"),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, weights="p", **GAP),
            ValueError,
            "weights must be one of .*: got 'p'",
        ),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, weights=None, **GAP),
            TypeError,
            "weights must be one of .*: got None",
        ),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, schedule="x", **GAP),
            ValueError,
            "schedule must be one of .*: got 'x'",
        ),
        (
            lambda: bounds.theorem1_lag(9, chain=CHAIN, stationary_start=0, **GAP),
            TypeError,
            "stationary_start must be True or False: got 0",
        ),
        (
            lambda: bounds.theorem1(9, T=1, weights="p", **GAP),
            ValueError,
            "weights must be one of .*: got 'p'",
        ),
        (
            lambda: bounds.theorem1(9, T=1, schedule="x", **GAP),
            ValueError,
            "schedule must be one of .*: got 'x'",
        ),
        (
            lambda: bounds.theorem1(9, T=1, nonincreasing=1, **GAP),
            TypeError,
            "nonincreasing must be True or False",
        ),
        (
            lambda: bounds.proposition_c(9, T=1.0, denominator="k-1", **STRONG),
            ValueError,
            r"denominator must be one of 'k', 'k\+1': got 'k-1'",
        ),
        (lambda: bounds.theorem2(9, T=1.0, c=0.0, **CONVEX), ValueError, "c may be 0 only when"),
        (
            lambda: bounds.theorem2_poisson(9, c=0.0, **(POISSON | {"sigma": 0.0})),
            ValueError,
            "c may be 0 only when q = 0: got q=1.5",
        ),
        (
            lambda: bounds.theorem2_lag(9, chain=CHAIN, c=0.0, **CONVEX),
            ValueError,
            "c may be 0 only when sigma = 0",
        ),
        (
            lambda: bounds.theorem2(9, T=1.0, c=0.0, **(CONVEX | {"L": 0.0, "sigma": 0.0})),
            ValueError,
            "c must be positive when L = 0",
        ),
        (
            lambda: bounds.theorem2(9, T=1.0, **(CONVEX | {"L": 0.0, "sigma": 0.0})),
            ValueError,
            "c must be given when L = 0 and sigma = 0",
        ),
        (
            lambda: bounds.theorem1_printed(63, L=2.0, M=1.0, initial_gap=0.0, C=1.0),
            ValueError,
            "K must be at least 16 L\\^2 = 64",
        ),
        (
            lambda: bounds.theorem1_proof_line([64, 63], L=2.0, M=1.0, initial_gap=0.0, C=1.0),
            ValueError,
            "K must be at least 16 L\\^2 = 64",
        ),
        (
            lambda: bounds.lemma_poisson(9, steps=nesterov(0.1, 0.5), T=1.0, **MIXING),
            ValueError,
            "steps must have alpha_k = 2/\\(k\\+1\\)",
        ),
        (
            lambda: bounds.lemma2_excess(
                5, steps=StepSizes("flat", lambda k: 1.0, lambda k: 1.0, lambda k: 0.1)
            ),
            ValueError,
            "alpha_k must be below 1 for k >= 2: alpha_2 is 1.0",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_constants_are_keyword_only():
    for name in bounds.__all__:
        if name in ("lemma2_excess", "constants"):
            continue
        parameters = inspect.signature(getattr(bounds, name)).parameters.values()
        kinds = {p.name: p.kind for p in parameters}
        positional = [n for n, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY]
        assert set(positional) <= {"k", "K", "s", "tau", "gamma"}, name


def test_paper_weights_need_a_small_step():
    known = GAP | {"chain": CHAIN, "weights": "paper"}
    limit = 1 / (4 * GAP["L"])
    for function, extra in (
        (bounds.theorem1_lag, {}),
        (bounds.theorem1, {"T": 1.0}),
    ):
        constants = {k: v for k, v in (known | extra).items() if k != "chain" or not extra}
        function(50, beta=limit, **constants)
        with pytest.raises(ValueError, match=r"beta must be at most 1.0 for the paper's weights"):
            function(50, beta=limit * 1.01, **constants)
        function(50, beta=3.9 * limit, schedule="sgd", **constants)
        with pytest.raises(ValueError, match=r"beta must be below 4.0 for the paper's weights"):
            function(50, beta=4 * limit, schedule="sgd", **constants)
        function(50, beta=4 * limit, **(constants | {"weights": "uniform"}))


def test_constants_at_the_edge_of_rounding():
    """mu and L from one eigenvalue solver, r0 from two corners: the last digit must not refuse."""
    bounds.theorem3(5, T=0.0, **(STRONG | {"mu": 2.0 * (1 + 1e-15)}))
    bounds.theorem2(5, T=0.0, **(CONVEX | {"r0": 3.0 * (1 + 1e-15)}))
    bounds.theorem1_printed(64, L=2.0 * (1 + 1e-15), M=1.0, initial_gap=0.0, C=1.0)


def test_a_periodic_chain_has_no_mixing_time():
    turn = MarkovChain([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="period"):
        bounds.theorem1_lag(100, chain=turn, **GAP)
    with pytest.raises(ValueError, match="period"):
        bounds.theorem2_lag(100, chain=turn, **CONVEX)
    assert np.isfinite(bounds.theorem2(100, T=turn.poisson_mixing, **CONVEX))


def test_iid_samples_cost_nothing():
    chain, k = iid([0.4, 0.6]), np.array([1, 10, 1000])
    np.testing.assert_allclose(
        bounds.theorem2_lag(k, chain=chain, **CONVEX), bounds.theorem2(k, T=0.0, **CONVEX)
    )
    np.testing.assert_allclose(
        bounds.theorem3_lag(k, chain=chain, **STRONG), bounds.theorem3(k, T=0.0, **STRONG)
    )
    np.testing.assert_allclose(
        bounds.theorem1_lag(k, chain=chain, **GAP), bounds.theorem1(k, T=0.0, **GAP)
    )


def test_very_slow_chains():
    """d(k) is close to 1 for millions of steps: no array of that length is built."""
    slow = two_state(1e-9, 1e-9)
    assert np.isfinite(bounds.theorem1_lag(10**6, chain=slow, **GAP))
    assert bounds.theorem2_lag(10**6, chain=slow, **CONVEX) > 1e3
    assert bounds.theorem3_lag(np.array([10, 10**6]), chain=slow, **STRONG)[1] > 1e3


@settings(max_examples=100)
@given(
    k=st.integers(1, 10**6),
    unit=st.floats(1e-3, 1e3),
    length=st.floats(1e-3, 1e3),
    T=st.floats(0, 1e3),
)
def test_corrected_bounds_have_units(k, unit, length, T):
    """f in another unit, x in another unit: the corrected bounds scale as f, |grad f|^2 do."""
    slope, bend = unit / length, unit / length**2

    def scaled(c):
        kinds = {"L": bend, "mu": bend, "ell": bend, "M": slope, "sigma": slope,
                 "B": length, "r0": length, "initial_gap": unit}  # fmt: skip
        return {key: value * kinds[key] for key, value in c.items()}

    for function, constants in ((bounds.theorem2, CONVEX), (bounds.theorem3, STRONG)):
        one = function(k, T=T, **constants)
        assert function(k, T=T, **scaled(constants)) == pytest.approx(unit * one, rel=1e-9)
    for denominator in ("k", "k+1"):
        one = bounds.proposition_c(k, T=T, denominator=denominator, **STRONG)
        other = bounds.proposition_c(k, T=T, denominator=denominator, **scaled(STRONG))
        assert other == pytest.approx(unit * one, rel=1e-9)
    small = {key: CONVEX[key] for key in ("L", "B", "sigma", "M", "ell")}
    one = bounds.proposition_a(k, T=T, **small)
    assert bounds.proposition_a(k, T=T, **scaled(small)) == pytest.approx(unit * one, rel=1e-9)
    # Theorem 1' bounds a squared gradient; its beta has the unit of 1/L.
    for weights in ("gamma", "uniform"):
        one = bounds.theorem1(k, T=T, beta=0.3, weights=weights, **GAP)
        other = bounds.theorem1(k, T=T, beta=0.3 / bend, weights=weights, **scaled(GAP))
        assert other == pytest.approx(slope**2 * one, rel=1e-9)
        one = bounds.theorem1_lag(k, chain=CHAIN, beta=0.3, weights=weights, **GAP)
        other = bounds.theorem1_lag(k, chain=CHAIN, beta=0.3 / bend, weights=weights, **scaled(GAP))
        assert other == pytest.approx(slope**2 * one, rel=1e-9)


@settings(max_examples=60)
@given(k=st.integers(1, 10**7), more=st.integers(1, 10**6), T=st.floats(0, 100))
def test_corrected_bounds_fall_with_k_and_rise_with_T(k, more, T):
    for function, constants in (
        (bounds.theorem2, CONVEX),
        (bounds.theorem3, STRONG),
        (bounds.proposition_c, STRONG),
        (bounds.theorem1, GAP),
    ):
        assert function(k + more, T=T, **constants) < function(k, T=T, **constants)
        assert function(k, T=T + 1, **constants) > function(k, T=T, **constants)


def test_lemma1_of_sgd_in_closed_form():
    chain = two_state(0.25, 0.25)  # d(k) = 2^-k / 2
    beta, L, M = 0.2, 3.0, 2.0
    value = bounds.lemma1(10, 4, steps=sgd(beta), L=L, M=M, chain=chain)
    expected = L * M**2 * beta / 2 + 2 * M**2 * 2.0**-5 + 4 * L * M**2 * 3 * beta
    assert value == pytest.approx(expected, rel=1e-14)


# The keywords of all bounds, from a problem and a chain

STICKY, TURN = sticky([0.5, 0.5], 0.1), MarkovChain([[0.0, 1.0], [1.0, 0.0]])
TWO = [[0.3, 0.1], [-0.3, -0.1]]
CONVEX_BOUNDS = {"theorem2", "theorem2_lag", "theorem2_printed", "proposition_a"}
STRONG_BOUNDS = {"theorem3", "theorem3_lag", "theorem3_printed", "proposition_c"}
TASKS = {
    "strongly convex": (
        problems.Quadratic([2.0, 0.5], TWO, domain=problems.Ball(2.0)),
        STICKY,
        CONVEX_BOUNDS | STRONG_BOUNDS,
    ),
    "samples steeper than the mean": (
        problems.Quadratic([[[3.0]], [[-1.0]]], [[0.0], [0.0]], domain=problems.Ball(1.0)),
        STICKY,
        CONVEX_BOUNDS | STRONG_BOUNDS,
    ),
    "linear": (
        problems.Linear([[1.0], [2.0]], domain=problems.Box(-1.0, 1.0)),
        STICKY,
        {"theorem2", "theorem2_lag"},
    ),
    "periodic": (
        problems.Quadratic([2.0, 0.5], TWO, domain=problems.Ball(2.0)),
        TURN,
        {b for b in CONVEX_BOUNDS | STRONG_BOUNDS if not b.endswith("_lag")},
    ),
    "nonconvex": (
        problems.cosines([[0.4], [-0.4]]),
        STICKY,
        {"theorem1", "theorem1_lag", "theorem1_printed"},
    ),
    "nonconvex, periodic": (problems.cosines([[0.4], [-0.4]]), TURN, {"theorem1"}),
    "no bounded gradient": (problems.Quadratic([2.0, 0.5], TWO), STICKY, set()),
}


@pytest.mark.parametrize("task", TASKS)
def test_constants_are_keywords_of_every_bound_that_applies(task):
    problem, chain, names = TASKS[task]
    x0 = np.full(problem.dim, 0.5)
    known = bounds.constants(problem, chain, x0=x0)
    assert set(known) == names
    for name, keywords in known.items():
        of_samples = name.startswith("theorem1") or name.endswith("printed")
        assert keywords["L"] == (problem.L_sample if of_samples else problem.L)
        assert np.isfinite(getattr(bounds, name)(64, **keywords))
        names_of = {"B": "diameter", "M": "M", "mu": "mu", "sigma": "sigma", "ell": "ell"}
        for key, attribute in names_of.items():
            assert keywords.get(key, getattr(problem, attribute)) == getattr(problem, attribute)
        if "r0" in keywords:
            assert keywords["r0"] == np.linalg.norm(x0 - problem.minimiser)
        if "initial_gap" in keywords:
            assert keywords["initial_gap"] == pytest.approx(
                float(problem.value(x0)) - problem.minimum
            )
        if "T" in keywords:
            kind = "poisson_mixing" if name == "theorem1" else "poisson_mixing_centred"
            assert keywords["T"] == getattr(chain, kind)


def test_constants_refuse_a_chain_with_another_law():
    problem = problems.Quadratic([1.0], [[0.1], [-0.1]], domain=problems.Ball(1.0))
    with pytest.raises(ValueError, match="another stationary law"):
        bounds.constants(problem, sticky([0.3, 0.7], 0.5), x0=[0.0])
    with pytest.raises(TypeError, match="problem must be"):
        bounds.constants("quadratic", STICKY, x0=[0.0])
