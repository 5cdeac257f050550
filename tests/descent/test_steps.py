"""The step rules against their formulas, and the checks of their conditions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgd.descent import steps
from amgd.descent.steps import StepSizes, check_steps

positive = st.floats(1e-3, 1e3)
K = np.arange(1, 400)


def rational_alpha(k: int) -> float:
    return 2 / (k + 1)


# name: (rule, gamma by a formula written out for one k, beta of Algorithm 1 or None)
RULES: dict[str, tuple[StepSizes, Callable[[int], float], Callable[[int], float] | None]] = {
    "sgd": (steps.sgd(0.1), lambda k: 0.1, lambda k: 0.1),
    "sgd rule": (steps.sgd(lambda k: 1 / k), lambda k: 1 / k, lambda k: 1 / k),
    "theorem1": (steps.theorem1(0.1), lambda k: (1 + 2 / (k + 1)) * 0.1, lambda k: 0.1),
    "theorem1 smallest": (steps.theorem1(0.1, "smallest"), lambda k: 0.1, lambda k: 0.1),
    "theorem1 rule": (
        steps.theorem1(0.1, lambda k: 0.1 + 0.1 / (k + 1)),
        lambda k: 0.1 + 0.1 / (k + 1),
        lambda k: 0.1,
    ),
    "nesterov": (steps.nesterov(0.1), lambda k: 0.1 * (k + 1) / 2, lambda k: 0.1),
    "nesterov rule": (
        steps.nesterov(lambda k: 1 / k),
        lambda k: (k + 1) / (2 * k),
        lambda k: 1 / k,
    ),
    "nesterov momentum": (steps.nesterov(0.1, 0.75), lambda k: 0.4, lambda k: 0.1),
    "ghadimi_lan": (steps.ghadimi_lan(0.1), lambda k: 0.05 * k, lambda k: 0.1),
    "theorem2_printed": (
        steps.theorem2_printed(3.0),
        lambda k: 1 / (6 * math.sqrt(k + 1)),
        None,
    ),
    "theorem2": (steps.theorem2(3.0, 0.5), lambda k: k / (12 + 0.5 * k * math.sqrt(k)), None),
    "theorem2 no noise": (steps.theorem2(3.0, 0.0), lambda k: k / 12, None),
    "theorem2 no curvature": (steps.theorem2(0.0, 2.0), lambda k: 0.5 / math.sqrt(k), None),
    "theorem3_printed": (steps.theorem3_printed(0.2), lambda k: 10 / k, None),
    "theorem3_printed k+1": (
        steps.theorem3_printed(0.2, "k+1", delta=0.1),
        lambda k: 1 / (k + 1),
        None,
    ),
    "theorem3": (
        steps.theorem3(0.2, 3.0),
        lambda k: 1 / (0.2 * (k - 1) / 2 + 12 / k),
        None,
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_are_their_formulas(name: str) -> None:
    rule, gamma, beta = RULES[name]
    for k in (1, 2, 3, 10, 1000, 10**9):
        alpha = rational_alpha(k) if "momentum" not in name else (1.0 if k == 1 else 0.25)
        assert rule.alpha(k) == pytest.approx(alpha, rel=1e-14)
        assert rule.gamma(k) == pytest.approx(gamma(k), rel=1e-14)
        expected = (
            beta(k) if beta else alpha / (alpha + (1 - alpha) * (1 + rule.mu * rule.gamma(k)))
        )
        assert rule.beta(k) == pytest.approx(expected, rel=1e-14)
    assert rule.algorithm == ("convex" if beta is None else "nonconvex")


@pytest.mark.parametrize("name", RULES)
def test_scalars_and_arrays_agree(name: str) -> None:
    rule = RULES[name][0]
    for schedule in (rule.alpha, rule.beta, rule.gamma):
        assert isinstance(schedule(3), float)
        assert isinstance(schedule(np.int32(3)), float)
        grid = schedule(np.array([[1, 2], [3, 4]], dtype=np.uint8))
        assert grid.shape == (2, 2)
        assert grid.dtype == np.float64
        np.testing.assert_array_equal(grid.ravel(), [schedule(k) for k in (1, 2, 3, 4)])
        assert schedule(np.array([], dtype=int)).shape == (0,)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_passes_its_own_checks(name: str) -> None:
    check_steps(RULES[name][0], 3000, L=0.0 if "no curvature" in name else 3.0)


@pytest.mark.parametrize("k", [0, -1, [1, 0], np.array([-3])])
def test_k_below_one_is_refused(k: Any) -> None:
    with pytest.raises(ValueError, match="steps count from 1"):
        steps.sgd(0.1).alpha(k)


@pytest.mark.parametrize("k", [1.0, "1", True, None, [1.5], np.array([True]), [1, 2.0]])
def test_k_that_is_no_integer_is_refused(k: Any) -> None:
    with pytest.raises(TypeError, match="integer"):
        steps.theorem3(0.1, 1.0).gamma(k)


@pytest.mark.parametrize("name", RULES)
def test_eta_is_gamma_after_the_proximal_term(name: str) -> None:
    rule, gamma, _ = RULES[name]
    for k in (1, 2, 10, 10**6):
        assert rule.eta(k) == pytest.approx(1 / (1 / gamma(k) + rule.mu), rel=1e-14)
    np.testing.assert_array_equal(rule.eta(K), [rule.eta(int(k)) for k in K])


def test_mu_zero_gives_beta_equal_to_alpha() -> None:
    for rule in (steps.theorem2(1.0, 0.3), steps.theorem2_printed(1.0)):
        np.testing.assert_array_equal(rule.beta(K), rule.alpha(K))


@given(mu=positive, ratio=st.floats(1.0, 1e4))
def test_theorem3_meets_both_conditions_with_equality_in_c2(mu: float, ratio: float) -> None:
    L = mu * ratio
    rule = steps.theorem3(mu, L)
    check_steps(rule, 2000, conditions=("C1", "C2"), L=L)
    k = K[1:]
    left = k / rule.gamma(k)
    right = (k - 1) / rule.gamma(k - 1) * (1 + mu * rule.gamma(k - 1))
    np.testing.assert_allclose(left, right, rtol=1e-12)


@given(L=positive, c=st.floats(0.0, 1e3))
def test_theorem2_meets_c1(L: float, c: float) -> None:
    check_steps(steps.theorem2(L, c), 2000, conditions=("C1",), L=L)


@pytest.mark.parametrize(
    ("rule", "excess_over_mu"),
    [
        (steps.theorem3_printed(0.4, "k"), 0.5),
        (steps.theorem3_printed(0.4, "k+1"), 1.0),
    ],
)
def test_printed_theorem3_breaks_c2_by_a_constant(rule: StepSizes, excess_over_mu: float) -> None:
    k = K[1:]
    left = k / rule.gamma(k)
    right = (k - 1) / rule.gamma(k - 1) * (1 + 0.4 * rule.gamma(k - 1))
    np.testing.assert_allclose(left - right, excess_over_mu * 0.4, rtol=1e-9)
    with pytest.raises(ValueError, match="at k = 2 "):
        check_steps(rule, 10, conditions=("C2",))


@pytest.mark.parametrize("kappa", [4.0, 100.0, 1e4])
@pytest.mark.parametrize("denominator", ["k", "k+1"])
def test_printed_theorem3_breaks_c1_up_to_two_root_kappa(denominator: Any, kappa: float) -> None:
    """(k + 1)(k + 2) > 4 kappa, or (k + 1)(k + 3) > 4 kappa, is what C1 asks."""
    rule = steps.theorem3_printed(1.0, denominator)
    shift = 2 if denominator == "k" else 3
    good = next(k for k in range(1, 10**4) if (k + 1) * (k + shift) > 4 * kappa)
    with pytest.raises(ValueError, match="at k = 1 "):
        check_steps(rule, 10**4, conditions=("C1",), L=kappa)
    for k in range(1, 300):
        left = kappa * rule.alpha(k) * rule.gamma(k)
        assert (left < 1 + rule.gamma(k)) == (k >= good)


def test_printed_theorem2_breaks_c2_at_every_k() -> None:
    rule = steps.theorem2_printed(1.0)
    k = K[1:]
    assert (k / rule.gamma(k) > (k - 1) / rule.gamma(k - 1)).all()


def made(**change: Any) -> StepSizes:
    fields: dict[str, Any] = {
        "name": "mine",
        "alpha": lambda k: 2 / (k + 1),
        "beta": lambda k: 0.1,
        "gamma": lambda k: 0.1,
    }
    return StepSizes(**(fields | change))


def at(k_bad: int, bad: float, good: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda k: np.where(k == k_bad, bad, good(k))


FAILING = {
    "alpha_1": (made(alpha=lambda k: 1 / (k + 1)), {}, "alpha_1 = 1 at k = 1 .*off by 0.5"),
    "alpha 0": (made(alpha=at(7, 0.0, lambda k: 2 / (k + 1))), {}, "0 < alpha_k at k = 7 "),
    "alpha large": (
        made(alpha=at(9, 1.25, lambda k: 2 / (k + 1))),
        {},
        "alpha_k <= 1 at k = 9 .*off by 0.25",
    ),
    "beta negative": (
        made(beta=at(70000, -0.5, lambda k: 0.1)),
        {},
        "0 <= beta_k at k = 70000 .*off by 0.5",
    ),
    "gamma NaN": (made(gamma=at(5, np.nan, lambda k: 0.1)), {}, "gamma_k at k = 5 "),
    "gamma inf": (made(gamma=at(5, np.inf, lambda k: 0.1)), {}, "gamma_k <= 1e300 at k = 5 "),
    "first of two": (
        made(alpha=at(8, 0.0, lambda k: 2 / (k + 1)), gamma=at(6, -1.0, lambda k: 0.1)),
        {},
        "0 <= gamma_k at k = 6 ",
    ),
    "theorem1 above": (
        steps.theorem1(0.1, at(4, 0.15, lambda k: 0.1)),
        {},
        r"gamma_k <= \(1 \+ alpha_k\) beta_k at k = 4 .*off by 0.01",
    ),
    "theorem1 below": (
        steps.theorem1(0.1, at(4, 0.09, lambda k: 0.1)),
        {},
        "beta_k <= gamma_k at k = 4 .*off by 0.01",
    ),
    "C1": (steps.theorem2(0.0, 1.0), {"L": 100.0}, "L alpha_k gamma_k .* at k = 1 .*off by 99"),
    "C1 without L": (steps.theorem2(1.0, 1.0), {}, "pass L"),
    "paper weights": (
        steps.ghadimi_lan(0.1),
        {"conditions": ("paper_weights",), "L": 2.0},
        "L gamma_k < 1 at k = 10 .*left side is 1, the right side 1, off by",
    ),
    "beta is no mixing weight": (made(), {"algorithm": "convex"}, "rounding at k = 1 "),
    "unknown condition": (
        made(),
        {"conditions": ("C3",)},
        "conditions must be one of .*: got 'C3'",
    ),
    "unknown algorithm": (
        made(),
        {"algorithm": "both"},
        "algorithm must be one of 'nonconvex', 'convex': got 'both'",
    ),
    "empty algorithm": (made(), {"algorithm": ""}, "algorithm must be one of .*: got ''"),
    "negative L": (made(), {"L": -1.0}, r"L must lie in \[0, inf\): got -1"),
}


@pytest.mark.parametrize("name", FAILING)
def test_the_error_names_the_first_k_and_the_gap(name: str) -> None:
    rule, arguments, message = FAILING[name]
    with pytest.raises(ValueError, match=message):
        check_steps(rule, 100_000, **arguments)


def test_check_of_long_runs_takes_constant_memory() -> None:
    import tracemalloc

    peaks = []
    for n_steps in (10**6, 4 * 10**6):
        tracemalloc.start()
        check_steps(steps.theorem1(0.1), n_steps)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


BAD = {
    "step zero": (lambda: steps.sgd(0.0), ValueError, "step"),
    "beta negative": (lambda: steps.nesterov(-1.0), ValueError, "beta"),
    "beta NaN": (lambda: steps.ghadimi_lan(math.nan), ValueError, "beta"),
    "step bool": (lambda: steps.sgd(True), TypeError, "step"),
    "step text": (lambda: steps.sgd("0.1"), TypeError, "step"),
    "beta array": (lambda: steps.theorem1([0.1, 0.2]), TypeError, "beta"),
    "beta callable in theorem1": (lambda: steps.theorem1(lambda k: 0.1), TypeError, "beta"),
    "gamma word": (lambda: steps.theorem1(0.1, "middle"), ValueError, "largest"),
    "momentum one": (lambda: steps.nesterov(0.1, 1.0), ValueError, "momentum"),
    "momentum negative": (lambda: steps.nesterov(0.1, -0.1), ValueError, "momentum"),
    "L zero": (lambda: steps.theorem2_printed(0.0), ValueError, "L must"),
    "L and c zero": (lambda: steps.theorem2(0.0, 0.0), ValueError, "both"),
    "c infinite": (lambda: steps.theorem2(1.0, math.inf), ValueError, "c must"),
    "mu zero": (lambda: steps.theorem3(0.0, 1.0), ValueError, "mu"),
    "mu above L": (lambda: steps.theorem3(2.0, 1.0), ValueError, "exceed L"),
    "denominator": (lambda: steps.theorem3_printed(1.0, "k+2"), ValueError, "denominator"),
    "delta": (lambda: steps.theorem3_printed(1.0, delta=0.0), ValueError, "delta"),
    "not callable": (lambda: made(alpha=0.1), TypeError, "callable"),
    "mu of the object": (lambda: made(mu=-1.0), ValueError, "mu"),
    "algorithm": (lambda: made(algorithm="sgd"), ValueError, "algorithm"),
    "condition": (lambda: made(conditions=("C9",)), ValueError, "conditions"),
    "rule shape": (lambda: made(alpha=lambda k: [1.0, 2.0]).alpha(3), ValueError, "one value"),
    "rule dtype": (lambda: made(alpha=lambda k: "a").alpha(3), TypeError, "real numbers"),
    "n_steps": (lambda: check_steps(made(), 0), ValueError, "n_steps"),
    "n_steps float": (lambda: check_steps(made(), 10.0), TypeError, "n_steps"),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(
    call: Callable[[], object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_step_sizes_are_frozen() -> None:
    with pytest.raises(AttributeError):
        steps.sgd(0.1).mu = 1.0  # type: ignore[misc]


def test_a_schedule_is_shown_by_its_first_values_never_by_an_address() -> None:
    assert repr(steps.sgd(0.5)) == (
        "StepSizes(name='sgd', alpha=<alpha(k) = 1, 0.666667, 0.5, ...>, "
        "beta=<beta(k) = 0.5, 0.5, 0.5, ...>, gamma=<gamma(k) = 0.5, 0.5, 0.5, ...>, "
        "mu=0.0, algorithm='nonconvex', conditions=())"
    )
    assert repr(made(gamma=lambda k: 1 / 0).gamma) == "<gamma(k)>"


# --- schedules with a name ------------------------------------------------------------------------
# name: beta and gamma in units of beta as exact numbers; alpha is 2 / (k + 1) for all.
EXACT = {
    "sgd": lambda k: (1.0, 1.0),
    "theorem1": lambda k: (1.0, 1.0 + 2 / (k + 1)),
    "ghadimi_lan": lambda k: (1.0, k / 2),
    "nesterov": lambda k: (1.0, (k + 1) / 2),
}


def test_the_names_are_these() -> None:
    assert list(steps.SCHEDULES) == list(EXACT)


@pytest.mark.parametrize("name", EXACT)
def test_named_schedules_in_units_of_beta_are_right_to_the_last_bit(name: str) -> None:
    """The optimizer multiplies them by its lr: they must not carry a rounding of their own."""
    k = np.arange(1, 10**6 + 1)
    made = steps.from_name(name, 1.0)
    np.testing.assert_array_equal(made.alpha(k), 2 / (k + 1))
    for values, expected in zip((made.beta(k), made.gamma(k)), EXACT[name](k), strict=True):
        np.testing.assert_array_equal(values, np.broadcast_to(expected, k.shape))


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9, 0.999])
def test_constant_momentum_belongs_to_nesterov(momentum: float) -> None:
    made, expected = steps.from_name("nesterov", 0.1, momentum), steps.nesterov(0.1, momentum)
    for field in ("alpha", "beta", "gamma"):
        np.testing.assert_array_equal(getattr(made, field)(K), getattr(expected, field)(K))
    for name in set(EXACT) - {"nesterov"}:
        with pytest.raises(ValueError, match=f"momentum belongs to 'nesterov': got '{name}'"):
            steps.from_name(name, 0.1, momentum)


@pytest.mark.parametrize("name", ["adam", "", "SGD", "theorem2"])
def test_unknown_names_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="schedule must be one of 'sgd', 'theorem1'"):
        steps.from_name(name)


def test_a_schedule_without_a_name_is_refused() -> None:
    with pytest.raises(TypeError, match=r"schedule must be one of .*: got None"):
        steps.from_name(None)  # type: ignore[arg-type]


def test_names_in_words_are_different_and_the_plain_ones_have_no_tex() -> None:
    entries = steps.SCHEDULES.values()
    for field in ("label", "text", "place"):
        assert len({getattr(one, field) for one in entries}) == len(entries)
    assert not any(sign in one.text for one in entries for sign in "$\\")


def test_matched_refuses_what_is_not_of_algorithm_1() -> None:
    with pytest.raises(ValueError, match="steps must be those of Algorithm 1"):
        steps.matched(steps.theorem2(1.0, 1.0))
    with pytest.raises(TypeError, match="steps must be a StepSizes"):
        steps.matched("nesterov")  # type: ignore[arg-type]


def _one_k(k: int) -> float:
    return 1.0 if k == 1 else 0.5 / math.sqrt(k)


def test_a_rule_for_one_k_works_where_one_for_arrays_does() -> None:
    def for_arrays(k: Any) -> Any:
        return np.where(np.asarray(k) == 1, 1.0, 0.5 / np.sqrt(k))

    k = np.arange(1, 50)
    for make in (lambda rule: steps.Schedule("gamma", rule), lambda rule: steps.sgd(rule).beta):
        assert make(_one_k)(k).tolist() == make(for_arrays)(k).tolist()
        assert make(_one_k)(k.reshape(7, 7)).shape == (7, 7)
        assert make(_one_k)(3) == make(for_arrays)(3)

    def fails(k: int) -> float:
        raise ValueError(f"no value at {k}")

    with pytest.raises(ValueError, match="no value at 1"):
        steps.Schedule("gamma", fails)(k)
