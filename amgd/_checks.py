"""Checks of what a caller hands in, one for each kind of argument.

Each function returns the argument in the form the package works with, or refuses it.
The error says what is wrong, what is expected, what was got and how to mend it, as in
``n must be at least 2: got 1; a grid needs a start and a goal``.
An argument of the wrong kind is a TypeError, one with a wrong value a ValueError.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# One axis is an int (its length) or a letter (any length, equal letters for equal lengths).
Shape = tuple[int | str, ...]
T = TypeVar("T")


def instance(name: str, value: Any, kind: type[T], cure: str) -> T:
    """Return `value` if it is an object of the class `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}: got {type(value).__name__}; {cure}")
    return value


def generator(rng: Any) -> np.random.Generator:
    """Return `rng` if it is a NumPy Generator: no seed is made up here."""
    return instance("rng", rng, np.random.Generator, "pass np.random.default_rng(seed)")


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`."""
    if isinstance(value, str) and value in options:
        return value
    listed = ", ".join(repr(option) for option in options)
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} must be one of {listed}: got {value!r}; pick one of them")


def boolean(name: str, value: Any, cure: str) -> bool:
    """Return `value` as a bool; 0 and 1 are refused."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False: got {value!r}; {cure}")
    return bool(value)


def integer(name: str, value: Any, least: int, cure: str, most: int | None = None) -> int:
    """Return `value` as an int from `least` to `most`; a bool or a float is refused."""
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer: got {value!r} (expected >= {least}); {cure}")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must {_limits(least, most)}: got {number}; {cure}")
    return number


def integers(
    name: str, value: ArrayLike, least: int, cure: str, most: int | None = None
) -> IntArray:
    """Return an int64 array of any shape with entries from `least` to `most`."""
    array = _asarray(name, value, cure)
    if array.dtype.kind not in "iu":
        got = f"dtype {array.dtype}" if array.size else "nothing"
        raise TypeError(f"{name} must be an integer or an array of integers: got {got}; {cure}")
    top = 2**63 - 1 if most is None else most
    if array.size:
        low, high = int(array.min()), int(array.max())
        if low < least:
            raise ValueError(f"{name} must {_limits(least, most)}: got {low}; {cure}")
        if high > top:
            raise ValueError(f"{name} must {_limits(least, top)}: got {high}; {cure}")
    return array.astype(np.int64, copy=False)


def _limits(least: int, most: int | None) -> str:
    return f"be at least {least}" if most is None else f"lie in {least}..{most}"


def real(name: str, value: Any, cure: str, interval: str = "(-inf, inf)") -> float:
    """Return `value` as a finite float in an interval such as ``"(0, 1]"``; a bool is refused."""
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number in {interval}: got {value!r}; {cure}")
    try:
        number = float(value)
    except OverflowError:  # an integer or a fraction beyond the range of a float
        number = np.inf if value > 0 else -np.inf  # type: ignore[operator]
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = low < number if interval[0] == "(" else low <= number
    below = number < high if interval[-1] == ")" else number <= high
    if not (above and below):  # NaN is neither
        raise ValueError(f"{name} must lie in {interval}: got {number}; {cure}")
    return number


def positive(name: str, value: Any, cure: str) -> float:
    """Return `value` as a finite float above 0."""
    return real(name, value, cure, "(0, inf)")


def discount_factor(value: Any) -> float:
    """Return the discount of a Markov decision process, a real number in [0, 1)."""
    cure = "with discount 1 the value of a continuing chain is infinite"
    return real("discount", value, cure, "[0, 1)")


def array(name: str, value: ArrayLike, shapes: Shape | list[Shape], cure: str) -> FloatArray:
    """Return a finite, non-empty float64 copy of `value` that has one of the shapes."""
    given = _numbers(name, value, shapes if isinstance(shapes, list) else [shapes], cure)
    result = given.astype(np.float64)
    _refuse(name, result, ~np.isfinite(result), "finite", cure)
    return result


def points(name: str, value: ArrayLike, dim: int, cure: str, *, finite: bool = True) -> FloatArray:
    """Return a float64 array of shape (..., dim): points of R^dim, not copied."""
    result = value if isinstance(value, np.ndarray) else _asarray(name, value, cure)
    if result.dtype != np.float64:
        result = _exact_numbers(result)
        if result.dtype.kind not in "iuf":
            raise TypeError(f"{name} must hold real numbers: got dtype {result.dtype}; {cure}")
        result = result.astype(np.float64)
    if result.ndim == 0 or result.shape[-1] != dim:
        raise ValueError(f"{name} must have shape (..., {dim}): got {result.shape}; {cure}")
    if finite:
        _refuse(name, result, ~np.isfinite(result), "finite", cure)
    return result


def numeric(name: str, value: ArrayLike, cure: str) -> FloatArray:
    """Return a float64 array of any shape, NaN and infinity included."""
    array = _exact_numbers(_asarray(name, value, cure))
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers: got dtype {array.dtype}; {cure}")
    return array.astype(np.float64)


def probabilities(name: str, value: ArrayLike, shape: Shape) -> FloatArray:
    """Return a law, or a matrix whose rows are laws, divided by the sums.

    The sums must be 1 within 1e-8, or within 1e-6 for float32, whose rounding is of that size.
    """
    cure = "divide by the sum if these are counts"
    given = _numbers(name, value, [shape], "give the probability of each state")
    single = given.dtype.kind == "f" and given.dtype.itemsize < 8
    tolerance = 1e-6 if single else 1e-8
    result = given.astype(np.float64)
    _refuse(name, result, ~np.isfinite(result), "finite", cure)
    _refuse(name, result, result < 0, "non-negative", "a probability is at least 0")
    with np.errstate(over="ignore"):
        sums = np.atleast_1d(result.sum(axis=-1))
    off = np.flatnonzero(~(np.abs(sums - 1.0) <= tolerance))
    if off.size:
        what, which = (name, "it") if result.ndim == 1 else (f"{name} rows", f"row {off[0]}")
        raise ValueError(
            f"{what} must sum to 1: {which} sums to {sums[off[0]]:.12g} "
            f"(expected 1 within {tolerance:g}); {cure}"
        )
    return np.asarray(result / result.sum(axis=-1, keepdims=True))


def _numbers(name: str, value: ArrayLike, shapes: list[Shape], cure: str) -> NDArray[Any]:
    """Return `value` as a dense, non-empty array of real numbers that has one of the shapes."""
    array = _exact_numbers(_asarray(name, value, cure))
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers: got dtype {array.dtype}; {cure}")
    if not any(_fits(array.shape, shape) for shape in shapes):
        wanted = " or ".join(str(shape).replace("'", "") for shape in shapes)
        raise ValueError(f"{name} must have shape {wanted}: got {array.shape}; {cure}")
    if not array.size:
        raise ValueError(f"{name} must not be empty: got shape {array.shape}; {cure}")
    return array


def _scalar(value: Any) -> Any:
    """Return the number in an array or a tensor without axes, anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _asarray(name: str, value: ArrayLike, cure: str) -> NDArray[Any]:
    """Return `value` as a NumPy array of whatever dtype."""
    kind = type(value).__name__
    if hasattr(value, "toarray"):
        raise TypeError(f"{name} must be a dense array: got {kind}; use .toarray()")
    if hasattr(value, "transition"):
        raise TypeError(f"{name} must be an array: got {kind}; use its .transition")
    if getattr(value, "requires_grad", False):
        raise TypeError(f"{name} must be an array: got {kind} with a gradient; use .detach()")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array: {error}; {cure}") from None


def _exact_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Round fractions, and integers beyond 64 bits, to float64; leave other arrays alone."""
    if array.dtype.kind != "O" or not all(
        isinstance(entry, numbers.Real) and not isinstance(entry, bool) for entry in array.flat
    ):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:  # refused like any other dtype
        return array


def _fits(have: tuple[int, ...], want: Shape) -> bool:
    """Whether the lengths agree; a letter takes the first length it meets."""
    letters: dict[str, int] = {}
    return len(have) == len(want) and all(
        length == (letters.setdefault(axis, length) if isinstance(axis, str) else axis)
        for length, axis in zip(have, want, strict=True)
    )


def _refuse(name: str, array: FloatArray, bad: NDArray[Any], word: str, cure: str) -> None:
    """Name the first bad entry, if there is one."""
    if bad.any():
        index = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(bad)))
        place = "it" if array.ndim == 0 else f"entry {index[0] if array.ndim == 1 else index}"
        entry = np.atleast_1d(array)[index]
        raise ValueError(f"{name} must be {word}: {place} is {entry}; {cure}")
