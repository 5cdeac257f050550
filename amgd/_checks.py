"""Checks of what a caller hands in, one for each kind of argument.

Each function returns the argument in the form the package works with, or refuses it.
The error says what is wrong, what is expected, what was got and how to mend it, as in
``n must be at least 2: got 1; a grid needs a start and a goal``.
An argument of the wrong kind is a TypeError, one with a wrong value a ValueError.

The annotations of a signature say most of it already: `arguments` makes them hold, so a body need
not check what its signature says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_MOST_GIGABYTES = 4.0  # of one array that an argument asks for
# One axis is an int (its length) or a letter (any length, equal letters for equal lengths).
Shape = tuple[int | str, ...]
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def arguments(function: F) -> F:
    """Decorate a function: an argument arrives as its annotation says, or is refused.

    ``Annotated[float, positive, "it is a step"]`` names a check and what else that takes; None
    passes where the type has it. ``Annotated[float, "(0, 1]"]`` asks for a number in an interval.
    Entries of sequences and mappings are looked at too. An annotation that cannot be tested, such
    as ArrayLike, is left to the body.
    """
    parameters = inspect.signature(function).parameters
    ordered = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    variadic = [name for name, one in parameters.items() if one.kind is one.VAR_POSITIONAL]

    @functools.wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        names = [*ordered, *variadic * (len(given) - len(ordered))]
        extra = given[len(names) :]  # too many: Python refuses them
        arrived = [_arrived(function, *pair) for pair in zip(names, given, strict=False)]
        return function(*arrived, *extra, **{n: _arrived(function, n, named[n]) for n in named})

    return typing.cast(F, checked)


def fields(made: Any) -> None:
    """Let the fields of a dataclass arrive as arguments do, also those of a frozen one."""
    for name in (one.name for one in dataclasses.fields(made)):
        object.__setattr__(made, name, _arrived(type(made), name, getattr(made, name)))


def _arrived(owner: Any, name: str, value: Any) -> Any:
    """Return the value of a parameter or a field as its annotation says, or refuse it."""
    hint = _hints(owner).get(name, Any)
    kind, *rest = typing.get_args(hint) or (hint,)
    if typing.get_origin(hint) is typing.Annotated and callable(rest[0]):
        optional = value is None and types.NoneType in typing.get_args(kind)
        return value if optional else rest[0](name, value, *rest[1:])
    if not fits(value, hint):
        wrong = ValueError if fits(value, hint, ranges=False) else TypeError
        raise wrong(
            f"{name} must be {_told(hint)}: got {_shown(value)}; see "
            f"help({owner.__module__}.{owner.__qualname__})"
        )
    return value


@functools.cache  # filled at the first call: by then all modules are there
def _hints(owner: Any) -> dict[str, Any]:
    """Return the annotations of a function, or of a class and its bases.

    Those with names that only a type checker knows are left out.
    """
    hints = {}
    for one in reversed(inspect.getmro(owner)) if inspect.isclass(owner) else [owner]:
        names = getattr(sys.modules.get(one.__module__), "__dict__", {})
        for name, text in inspect.get_annotations(one).items():
            with contextlib.suppress(NameError):
                hints[name] = eval(text, names) if isinstance(text, str) else text
    return hints


def fits(value: Any, hint: Any, *, ranges: bool = True) -> bool:
    """Whether a value is what an annotation says, as far as that can be told."""
    kind: Any = typing.get_origin(hint) or hint
    parts = typing.get_args(hint)
    if kind is typing.Annotated:
        return fits(value, parts[0]) and (not ranges or _inside(_scalar(value), parts[1]))
    if kind in (typing.Union, types.UnionType):
        return any(fits(value, part, ranges=ranges) for part in parts)
    if kind is Literal:
        return isinstance(value, str) and (value in parts or not ranges)
    if kind in (None, types.NoneType):
        return value is None
    if kind in _NUMBERS:
        one = _scalar(value)
        return isinstance(one, _NUMBERS[kind]) and (kind is bool or not isinstance(one, bool))
    if kind is np.ndarray:
        entries = typing.get_args(parts[1])[0] if len(parts) == 2 else Any
        plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
        return plain and value.dtype.kind in _KINDS.get(entries, "biuf")
    if kind is Sequence and isinstance(value, np.ndarray):
        value = value.tolist()
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True  # not to be told
    if not isinstance(value, kind):
        return False
    if kind in (str, bytes):
        return True
    if issubclass(kind, Iterable) and (
        isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    ):
        return False
    held: Any = value[:1] if isinstance(value, range) else value
    if issubclass(kind, Mapping):
        return all(fits(k, parts[0]) and fits(v, parts[1]) for k, v in held.items() if parts)
    if issubclass(kind, tuple) and parts and parts[-1] is not ...:
        return len(held) == len(parts) and all(map(fits, held, parts))
    if issubclass(kind, Sequence) and parts:
        return all(fits(one, parts[0]) for one in held)
    return True


_KINDS: dict[Any, str] = {np.float64: "iuf", np.int64: "iu", np.bool_: "b"}
_NUMBERS: dict[Any, Any] = {
    bool: bool | np.bool_,
    int: numbers.Integral,
    float: numbers.Real,
}


def _told(hint: Any) -> str:
    """Say an annotation in a few words."""
    kind, parts = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind is typing.Annotated:
        return f"{_told(parts[0])} in {parts[1]}"
    if kind in (typing.Union, types.UnionType):
        arrays = set(typing.get_args(ArrayLike))
        arrays = arrays if arrays <= set(parts) else set()
        others = [part for part in parts if part not in arrays | {types.NoneType}]
        return " or ".join(["an array"] * bool(arrays) + [_told(part) for part in others])
    if kind is Literal:
        return "one of " + ", ".join(map(repr, parts))
    word = _WORDS.get(kind) or f"a {getattr(kind, '__name__', kind)}"
    if parts and isinstance(kind, type) and issubclass(kind, Iterable) and kind is not np.ndarray:
        entries = [_told(part) for part in parts if part not in (..., Any)]
        return f"{word} of ({', '.join(entries)})" if entries else word
    return word


_WORDS: dict[Any, str] = {
    bool: "True or False",
    int: "an integer",
    float: "a real number",
    np.ndarray: "an ndarray",
    Callable: "a function",
}


def _shown(value: Any) -> str:
    """Return an argument as text that is not longer than a line."""
    text, kind = " ".join(repr(value).split()), type(value).__name__
    if len(text) > 60:
        return kind
    return text if isinstance(value, str | int | float | None) else f"{kind} {text}"


def later(name: str, value: T) -> T:
    """Leave an argument to the body: all methods that take it ask one function."""
    return value


def instance(name: str, value: Any, kind: type[T], cure: str) -> T:
    """Return `value` if it is an object of the class `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}: got {type(value).__name__}; {cure}")
    return value


def generator(name: str, rng: Any) -> np.random.Generator:
    """Return `rng` if it is a NumPy Generator: no seed is made up here."""
    return instance(name, rng, np.random.Generator, "pass np.random.default_rng(seed)")


def choice(name: str, value: Any, options: Collection[str]) -> str:
    """Return `value` if it is one of `options`, which may have grown since the annotation."""
    if isinstance(value, str) and value in options:
        return value
    listed = ", ".join(repr(option) for option in options)
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} must be one of {listed}: got {value!r}; pick one of them")


def among(name: str, value: T, known: Iterable[Any]) -> T:
    """Return `value` if it is one of those that are known."""
    listed = list(known)
    if value not in listed:
        raise ValueError(f"{name} must be one of {_shown(listed)}: got {value!r}; pick one of them")
    return value


def strings(name: str, values: Any) -> list[str]:
    """Return a list of str from an iterable of them that is no str itself."""
    listed = list(values) if fits(values, Iterable) else None
    if listed is None or not all(isinstance(one, str) for one in listed):
        raise TypeError(f"{name} must be a list of str: got {_shown(values)}; list names")
    return listed


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
    array = as_array(name, value, cure)
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


def count(name: str, value: Any, cure: str, least: int = 1) -> int:
    """Return `value` as an int from `least` to a billion: nobody waits for more of anything."""
    number = integer(name, value, least, cure)
    if number > 10**9:
        raise ValueError(f"{name} must be at most 10**9: got {number:.3g}; it would never end")
    return number


def room(names: str, *counts: int, cure: str) -> None:
    """Refuse an array of so many float64 numbers, the product of the counts, that it fills memory.

    `names` are those of the arguments that the counts come from.
    """
    size = 8e-9 * float(np.prod([float(count) for count in counts]))
    if not size <= _MOST_GIGABYTES:
        raise ValueError(
            f"{names} must ask for at most {_MOST_GIGABYTES:g} GB: got {size:.3g} GB of numbers, "
            f"{' x '.join(f'{count:.3g}' for count in counts)}; {cure}"
        )


class _OutOfRange(ValueError):
    """Says which arguments of the outermost function were too large or too small."""


def in_range(function: F) -> F:
    """Decorate a function: numbers so large or small that results leave the floats are refused."""

    @functools.wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return function(*given, **named)
        except (FloatingPointError, OverflowError, _OutOfRange) as error:
            numbers = inspect.signature(function).bind(*given, **named).arguments
            told = ", ".join(f"{n}={v!r:.40}" for n, v in numbers.items() if n != "self")
            raise _OutOfRange(
                f"arguments must be such that all results are floats: got {told}; "
                "measure in other units"
            ) from error

    return typing.cast(F, checked)


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
    if not _inside(number, interval):
        raise ValueError(f"{name} must lie in {interval}: got {number}; {cure}")
    return number


def _inside(number: float, interval: str) -> bool:
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = low < number if interval[0] == "(" else low <= number
    below = number < high if interval[-1] == ")" else number <= high
    return above and below  # NaN is neither


def positive(name: str, value: Any, cure: str) -> float:
    """Return `value` as a finite float above 0."""
    return real(name, value, cure, "(0, inf)")


def discount_factor(name: str, value: Any) -> float:
    """Return the discount of a Markov decision process, a real number in [0, 1)."""
    cure = "with discount 1 the value of a continuing chain is infinite"
    return real(name, value, cure, "[0, 1)")


def array(name: str, value: ArrayLike, shapes: Shape | list[Shape], cure: str) -> FloatArray:
    """Return a finite, non-empty float64 copy of `value` that has one of the shapes."""
    given = _numbers(name, value, shapes if isinstance(shapes, list) else [shapes], cure)
    result = given.astype(np.float64)
    _refuse(name, result, ~np.isfinite(result), "finite", cure)
    return result


def points(name: str, value: ArrayLike, dim: int, cure: str, *, finite: bool = True) -> FloatArray:
    """Return a float64 array of shape (..., dim): points of R^dim, not copied."""
    result = value if type(value) is np.ndarray else as_array(name, value, cure)
    if result.dtype != np.float64:
        result = _real(name, result, cure).astype(np.float64)
    if result.ndim == 0 or result.shape[-1] != dim:
        raise ValueError(f"{name} must have shape (..., {dim}): got {result.shape}; {cure}")
    if finite:
        _refuse(name, result, ~np.isfinite(result), "finite", cure)
    return result


def numeric(name: str, value: ArrayLike, cure: str) -> FloatArray:
    """Return a float64 array of any shape, NaN and infinity included."""
    return _real(name, as_array(name, value, cure), cure).astype(np.float64)


def probabilities(name: str, value: ArrayLike, shape: Shape) -> FloatArray:
    """Return a law, or a matrix whose rows are laws, divided by the sums.

    The sums must be 1 within 1e-8, or within 1e-6 for float32, whose rounding is of that size.
    """
    given = _numbers(name, value, [shape], "give the probability of each state")
    result = given.astype(np.float64)
    return np.asarray(result / _sums(name, result, result, given.dtype)[..., None])


def transition_matrix(name: str, value: Any) -> Any:
    """Return a square matrix whose rows are `probabilities`.

    A sparse one stays sparse: a CSR array without stored zeros.
    """
    if not hasattr(value, "tocsr"):
        return probabilities(name, value, ("n", "n"))
    from scipy.sparse import csr_array  # loaded already: `value` is of this library

    cure = "give the probability of each state"
    _suits(name, _real(name, value, cure), [("n", "n")], cure)
    result = csr_array(value, dtype=np.float64, copy=True)
    result.sum_duplicates()
    result.eliminate_zeros()
    result.data /= np.repeat(_sums(name, result, result.data, value.dtype), np.diff(result.indptr))
    return result


def _sums(name: str, array: Any, entries: FloatArray, dtype: np.dtype[Any]) -> FloatArray:
    """Return the sums over the last axis, if the entries are probabilities of this precision."""
    cure = "divide by the sum if these are counts"
    _refuse(name, array, ~np.isfinite(entries), "finite", cure)
    _refuse(name, array, entries < 0, "non-negative", "a probability is at least 0")
    with np.errstate(over="ignore"):
        sums = np.asarray(array.sum(axis=-1))
    tolerance = 1e-6 if dtype.kind == "f" and dtype.itemsize < 8 else 1e-8
    off = np.flatnonzero(~(np.abs(sums - 1.0) <= tolerance))
    if off.size:
        if array.shape[-1] == array.shape[0] and array.ndim == 2:
            columns = np.asarray(array.sum(axis=0))
            if (np.abs(columns - 1.0) <= tolerance).all():
                cure = "its columns do, so pass P.T, or use MarkovChain.from_columns(P)"
        what, which = (f"{name} rows", f"row {off[0]}") if sums.ndim else (name, "it")
        raise ValueError(
            f"{what} must sum to 1: {which} sums to {sums.flat[off[0]]:.12g} "
            f"(expected 1 within {tolerance:g}); {cure}"
        )
    return sums


def _numbers(name: str, value: ArrayLike, shapes: list[Shape], cure: str) -> NDArray[Any]:
    """Return `value` as a dense, non-empty array of real numbers that has one of the shapes."""
    array = _real(name, as_array(name, value, cure), cure)
    _suits(name, array, shapes, cure)
    return array


def _suits(name: str, array: Any, shapes: list[Shape], cure: str) -> None:
    """Refuse an array that has none of the shapes, or is empty."""
    if not any(_fits(array.shape, shape) for shape in shapes):
        wanted = " or ".join(str(shape).replace("'", "") for shape in shapes)
        raise ValueError(f"{name} must have shape {wanted}: got {array.shape}; {cure}")
    if 0 in array.shape:
        raise ValueError(f"{name} must not be empty: got shape {array.shape}; {cure}")


def _scalar(value: Any) -> Any:
    """Return the number in an array or a tensor without axes, anything else as it is."""
    with contextlib.suppress(RuntimeError):  # a tensor on the meta device has no number
        if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
            return value.item()
    return value


def as_array(name: str, value: ArrayLike | None, cure: str) -> NDArray[Any]:
    """Return `value` as a NumPy array of whatever dtype."""
    kind = type(value).__name__
    if hasattr(value, "toarray"):
        raise TypeError(f"{name} must be a dense array: got {kind}; use .toarray()")
    if hasattr(value, "transition"):
        raise TypeError(f"{name} must be an array: got {kind}; use its .transition")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be an array: got {kind}; use .filled(number) or drop entries")
    if getattr(value, "requires_grad", False):
        raise TypeError(f"{name} must be an array: got {kind} with a gradient; use .detach()")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array: got {error}; {cure}") from None
    except (TypeError, RuntimeError) as error:  # a tensor without numbers, or not of NumPy's types
        raise TypeError(f"{name} must be an array: got {kind}: {error}; {cure}") from None


def _real(name: str, array: NDArray[Any], cure: str) -> NDArray[Any]:
    """Return an array of real numbers: fractions, and integers beyond 64 bits, become float64."""
    if array.dtype.kind == "O" and all(
        isinstance(entry, numbers.Real) and not isinstance(entry, bool) for entry in array.flat
    ):
        with contextlib.suppress(OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers: got dtype {array.dtype}; {cure}")
    return array


def _fits(have: tuple[int, ...], want: Shape) -> bool:
    """Whether the lengths agree; a letter takes the first length it meets."""
    letters: dict[str, int] = {}
    return len(have) == len(want) and all(
        length == (letters.setdefault(axis, length) if isinstance(axis, str) else axis)
        for length, axis in zip(have, want, strict=True)
    )


def _refuse(name: str, array: Any, bad: NDArray[Any], word: str, cure: str) -> None:
    """Name the first bad entry, if there is one; of a sparse matrix `bad` tells the stored ones."""
    if bad.any():
        index = tuple(np.argwhere(bad)[0].tolist())
        if hasattr(array, "tocoo"):
            entries = array.tocoo()
            entry, index = entries.data[index], tuple(int(axis[index]) for axis in entries.coords)
        else:
            entry = array[index]
        place = f"entry {index if len(index) > 1 else index[0]}" if index else "it"
        raise ValueError(f"{name} must be {word}: {place} is {entry}; {cure}")


# Annotations that many signatures share --------------------------------------------------------
Natural = typing.Annotated[int, "[0, inf)"]
Count = typing.Annotated[int, "[1, inf)"]
Positive = typing.Annotated[float, "(0, inf)"]
Share = typing.Annotated[float, "(0, 1)"]
Steps = typing.Annotated[int, count, "take at least one step"]
Replicates = typing.Annotated[int, count, "run at least one replicate"]
Generator = typing.Annotated[np.random.Generator, generator]
Average = Literal["none", "uniform", "linear"]
Discount = typing.Annotated[float, discount_factor]
