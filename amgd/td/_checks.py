"""Checks of arguments at the door of `amgd.td`: each error says what, got, expected and cure."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def integer(name: str, value: Any, least: int, cure: str) -> int:
    """Return `value` as an int that is at least `least`; a bool or a float is refused."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer: got {value!r} (expected >= {least}); {cure}")
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} is too small: got {number} (expected >= {least}); {cure}")
    return number


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name} is unknown: got {value!r} (expected one of {listed}); pick one")
    return value


def discount_factor(value: Any) -> float:
    """Return the discount of a Markov decision process, a real number in [0, 1)."""
    cure = "with discount 1 the value of a continuing chain is infinite"
    number = real("discount", value, cure)
    if not 0.0 <= number < 1.0:
        raise ValueError(
            f"discount is out of range: got {number} (expected 0 <= discount < 1); {cure}"
        )
    return number


def positive(name: str, value: Any, cure: str) -> float:
    """Return `value` as a finite float above 0."""
    number = real(name, value, cure)
    if number <= 0.0:
        raise ValueError(f"{name} must be positive: got {number} (expected > 0); {cure}")
    return number


def real(name: str, value: Any, cure: str) -> float:
    """Return `value` as a finite float; a bool is refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number: got {value!r} (expected a finite float); {cure}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} is not finite: got {number} (expected a finite float); {cure}")
    return number


def array(
    name: str, value: ArrayLike, shape: tuple[int | None, ...], cure: str
) -> NDArray[np.float64]:
    """Return a finite float64 copy of `value` with the given shape (None: any length)."""
    result = np.array(value)
    if result.dtype == bool or not np.issubdtype(result.dtype, np.number):
        raise TypeError(
            f"{name} must hold numbers: got dtype {result.dtype} (expected float64); {cure}"
        )
    if np.iscomplexobj(result):
        raise TypeError(f"{name} must be real: got dtype {result.dtype} (expected float64); {cure}")
    fits = result.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(result.shape, shape, strict=True)
    )
    if not fits:
        wanted = "(" + ", ".join("any" if want is None else str(want) for want in shape) + ")"
        raise ValueError(
            f"{name} has the wrong shape: got {result.shape} (expected {wanted}); {cure}"
        )
    if not np.isfinite(result).all():
        raise ValueError(f"{name} holds NaN or infinity (expected finite numbers); {cure}")
    return result.astype(np.float64)


def law(name: str, value: ArrayLike, n_states: int) -> NDArray[np.float64]:
    """Return a probability vector over the states."""
    cure = "divide the vector by its sum if it holds counts"
    result = array(name, value, (n_states,), cure)
    if result.min() < 0.0:
        raise ValueError(f"{name} has a negative entry: got {result.min()} (expected >= 0); {cure}")
    if abs(result.sum() - 1.0) > 1e-8:
        raise ValueError(
            f"{name} must sum to 1: got {result.sum()} (expected 1 within 1e-8); {cure}"
        )
    return result


def generator(rng: Any) -> np.random.Generator:
    """Return `rng` if it is a NumPy Generator."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a NumPy Generator: got {type(rng).__name__} "
            "(expected numpy.random.Generator); pass np.random.default_rng(seed)"
        )
    return rng
