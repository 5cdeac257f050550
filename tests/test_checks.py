"""The checks of arguments: what passes comes back in standard form, what fails is told in full."""

import dataclasses
import math
import re
from fractions import Fraction
from itertools import product
from typing import Annotated, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from amgd import _checks as check

REFUSED = [
    (lambda: check.instance("n", "a", list, "c"), "n must be a list: got str; c"),
    (
        lambda: check.generator("rng", np.random.RandomState(0)),
        "rng must be a Generator: got RandomState; pass np.random.default_rng(seed)",
    ),
    (
        lambda: check.choice("c", "z", ("x", "y")),
        "c must be one of 'x', 'y': got 'z'; pick one of them",
    ),
    (
        lambda: check.choice("c", 3, ("x", "y")),
        "c must be one of 'x', 'y': got 3; pick one of them",
    ),
    (lambda: check.boolean("b", 1, "cure"), "b must be True or False: got 1; cure"),
    (lambda: check.integer("n", 2.0, 1, "c"), "n must be an integer: got 2.0 (expected >= 1); c"),
    (lambda: check.integer("n", True, 1, "c"), "n must be an integer: got True (expected >= 1); c"),
    (lambda: check.integer("n", 0, 1, "c"), "n must be at least 1: got 0; c"),
    (lambda: check.integer("n", 4, 1, "c", 3), "n must lie in 1..3: got 4; c"),
    (
        lambda: check.integers("k", [1.0], 1, "c"),
        "k must be an integer or an array of integers: got dtype float64; c",
    ),
    (
        lambda: check.integers("k", [], 1, "c"),
        "k must be an integer or an array of integers: got nothing; c",
    ),
    (lambda: check.integers("k", [3, 0, 9], 1, "c"), "k must be at least 1: got 0; c"),
    (lambda: check.integers("k", [[3], [9]], 1, "c", 8), "k must lie in 1..8: got 9; c"),
    (
        lambda: check.integers("k", np.array([2**63], dtype=np.uint64), 0, "c"),
        f"k must lie in 0..{2**63 - 1}: got {2**63}; c",
    ),
    (lambda: check.real("p", "1", "c"), "p must be a real number in (-inf, inf): got '1'; c"),
    (lambda: check.real("p", 1j, "c"), "p must be a real number in (-inf, inf): got 1j; c"),
    (lambda: check.real("p", math.nan, "c"), "p must lie in (-inf, inf): got nan; c"),
    (lambda: check.positive("p", 0, "c"), "p must lie in (0, inf): got 0.0; c"),
    (
        lambda: check.discount_factor("discount", 1),
        "discount must lie in [0, 1): got 1.0; "
        "with discount 1 the value of a continuing chain is infinite",
    ),
    (
        lambda: check.array("x", csr_array(np.eye(2)), ("n", "n"), "c"),
        "x must be a dense array: got csr_array; use .toarray()",
    ),
    (lambda: check.array("x", [True], ("n",), "c"), "x must hold real numbers: got dtype bool; c"),
    (
        lambda: check.array("x", np.ones((2, 3)), [("n",), ("n", "n"), (2, 2)], "c"),
        "x must have shape (n,) or (n, n) or (2, 2): got (2, 3); c",
    ),
    (lambda: check.array("x", [], ("n",), "c"), "x must not be empty: got shape (0,); c"),
    (lambda: check.array("x", math.inf, [()], "c"), "x must be finite: it is inf; c"),
    (lambda: check.array("x", [1, -math.inf], ("n",), "c"), "x must be finite: entry 1 is -inf; c"),
    (
        lambda: check.array("x", [[1, 2], [math.nan, 1]], ("n", "n"), "c"),
        "x must be finite: entry (1, 0) is nan; c",
    ),
    (lambda: check.points("x", [[1, 2]], 3, "c"), "x must have shape (..., 3): got (1, 2); c"),
    (lambda: check.points("x", ["a"], 1, "c"), "x must hold real numbers: got dtype <U1; c"),
    (lambda: check.points("x", [math.nan], 1, "c"), "x must be finite: entry 0 is nan; c"),
    (
        lambda: check.probabilities("p", [1.5, -0.5], ("n",)),
        "p must be non-negative: entry 1 is -0.5; a probability is at least 0",
    ),
    (
        lambda: check.probabilities("p", [2, 2], ("n",)),
        "p must sum to 1: it sums to 4 (expected 1 within 1e-08); "
        "divide by the sum if these are counts",
    ),
    (
        lambda: check.probabilities("p", np.array([[0, 1], [0.5, 0.4]], np.float32), ("n", "n")),
        "p rows must sum to 1: row 1 sums to 0.90000000596 (expected 1 within 1e-06); "
        "divide by the sum if these are counts",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_the_whole_message(call, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value) == message


class Tensor:
    """What is asked of an array or tensor of another library."""

    def __init__(self, value, requires_grad=False):
        self.value, self.requires_grad = np.asarray(value), requires_grad
        self.ndim = self.value.ndim

    def item(self):
        return self.value.item()

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("this is what PyTorch does")
        return self.value


@pytest.mark.parametrize(
    "one", [1, 1.0, np.int8(1), np.float32(1), np.array(1), Fraction(1), Tensor(1), Tensor(1.0)]
)
def test_every_kind_of_real_number_becomes_a_float(one):
    assert type(check.real("x", one, "c")) is float
    assert check.real("x", one, "c", "[1, 1]") == 1


@pytest.mark.parametrize("two", [2, np.uint8(2), np.array(2), Tensor(2)])
def test_every_kind_of_integer_becomes_an_int(two):
    assert type(check.integer("n", two, 1, "c")) is int


def test_a_tensor_without_a_number_is_no_number():
    for read in (check.real, lambda *given: check.integer(*given[:2], 0, "c")):
        with pytest.raises(TypeError, match=r"x must be an? .*: got <.*Meta object"):
            read("x", Meta(1), "c")


@pytest.mark.parametrize("huge", [10**400, -(10**400), Fraction(10**400, 3)])
def test_numbers_beyond_the_floats_are_refused_not_an_overflow(huge):
    with pytest.raises(ValueError, match=r"x must lie in \(-inf, inf\): got -?inf; c"):
        check.real("x", huge, "c")
    with pytest.raises(TypeError, match="x must hold real numbers: got dtype object; c"):
        check.array("x", [huge], ("n",), "c")


READERS = {
    "array": lambda value: check.array("x", value, ("n",), "c"),
    "points": lambda value: check.points("x", value, 2, "c"),
    "probabilities": lambda value: check.probabilities("x", value, ("n",)),
    "numeric": lambda value: check.numeric("x", value, "c"),
}
every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@every_reader
@pytest.mark.parametrize(
    "value",
    [
        (0.25, 0.75),
        [Fraction(1, 4), Fraction(3, 4)],
        np.array([Fraction(1, 4), 0.75], dtype=object),
        np.array([0.25, 0.75], np.float16),
        np.array([[0.25, 0], [0.75, 0]])[:, 0],
        Tensor([0.25, 0.75]),
    ],
    ids=["tuple", "fractions", "object", "float16", "strided", "tensor"],
)
def test_every_kind_of_array_becomes_float64(read, value):
    result = read(value)
    assert result.dtype == np.float64
    assert result.tolist() == [0.25, 0.75]


class Meta(Tensor):
    """A tensor without numbers, or of a type that NumPy lacks."""

    def item(self):
        raise RuntimeError("no numbers")

    def __array__(self, dtype=None, copy=None):
        raise TypeError("no numbers")


@every_reader
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (Meta([0.5, 0.5]), TypeError, "an array: got Meta: no numbers;"),
        (Tensor([0.5, 0.5], requires_grad=True), TypeError, r"got Tensor.*use \.detach\(\)"),
        (csr_array([[0.5, 0.5]]), TypeError, r"got csr_array; use \.toarray\(\)"),
        ([[0.5], [0.5, 1]], ValueError, "rectangular"),
        ([None, 1.0], TypeError, "dtype object"),
        ([Fraction(1), True], TypeError, "dtype object"),
        ("ab", TypeError, "dtype <U2"),
        ([0.5, 0.5j], TypeError, "dtype complex128"),
    ],
)
def test_every_reader_refuses_what_is_no_array_of_numbers(read, value, error, message):
    with pytest.raises(error, match=f"x must .*{message}"):
        read(value)


@given(st.floats(), st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([*product("([", ")]")]))
def test_intervals(x, low, high, brackets):
    left, right = brackets
    inside = (low < x or (left == "[" and low == x)) and (x < high or (right == "]" and x == high))
    try:
        assert check.real("x", x, "c", f"{left}{low}, {high}{right}") == x
        assert inside
    except ValueError:
        assert not inside


def test_arrays_are_copied_and_laws_divided_by_their_sum():
    given = np.array([0.5, 0.5 + 2**-30])
    assert not np.shares_memory(check.array("x", given, ("n",), "c"), given)
    law = check.probabilities("p", given, (2,))
    np.testing.assert_array_equal(law, given / (1 + 2**-30))
    assert given[1] == 0.5 + 2**-30


def test_the_fields_of_a_dataclass_arrive_as_arguments_do() -> None:
    @dataclasses.dataclass(frozen=True)
    class Made:
        size: Annotated[float, check.positive, "it is a size"]
        number: Annotated[int | None, check.integer, 1, "it counts"] = None
        kind: ClassVar[str] = "made"

        def __post_init__(self) -> None:
            check.fields(self)

    class Bare(Made):
        """It has the fields of its base."""

    @dataclasses.dataclass(frozen=True)
    class More(Made):
        third: Annotated[int, check.integer, 3, "it is the third"] = 3

    made = Made(2)
    assert (type(made.size), made.number, vars(made).keys()) == (float, None, {"size", "number"})
    for cls in (Made, Bare, More):
        with pytest.raises(ValueError, match=re.escape("number must be at least 1: got 0; it cou")):
            cls(2.0, 0)
        with pytest.raises(ValueError, match=re.escape("size must lie in (0, inf): got -1.0")):
            cls(-1.0)
    with pytest.raises(ValueError, match="third must be at least 3: got 2"):
        More(1.0, third=2)
