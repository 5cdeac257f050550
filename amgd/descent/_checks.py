"""Checks of what a caller hands in: each says what is wrong, what was got, and what to pass instead."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def real_array(name: str, value: ArrayLike, ndim: tuple[int, ...] | None = None) -> FloatArray:
    """Return `value` as a new float64 array; refuse booleans, text, complex numbers, NaN, infinity."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers: got dtype {array.dtype}")
    if ndim is not None and array.ndim not in ndim:
        wanted = " or ".join(str(n) for n in ndim)
        raise ValueError(f"{name} must have {wanted} dimension(s): got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty: got shape {array.shape}")
    result = np.array(array, dtype=np.float64)
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite: got {value!r}; remove NaN and infinity")
    return result


def real(name: str, value: Any, low: float = -np.inf, *, strict: bool = False) -> float:
    """Return one finite real number that is >= `low` (> `low` when `strict`)."""
    if isinstance(value, (bool, np.bool_, str, bytes, complex)) or np.ndim(value) != 0:
        raise TypeError(f"{name} must be one real number: got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be one real number: got {value!r}") from None
    if not np.isfinite(number) or number < low or (strict and number == low):
        relation = f" {'>' if strict else '>='} {low:g}" if np.isfinite(low) else ""
        raise ValueError(
            f"{name} must be finite{' and' if relation else ''}{relation}: got {value!r}"
        )
    return number


def count(name: str, value: Any, low: int = 1) -> int:
    """Return one integer >= `low`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer: got {value!r}")
    if value < low:
        raise ValueError(f"{name} must be at least {low}: got {value}")
    return int(value)


def probabilities(name: str, value: ArrayLike) -> FloatArray:
    """Return a probability vector; its sum may be off by 1e-8 and is then mended."""
    vector = real_array(name, value, (1,))
    if vector.min() < 0:
        i = int(vector.argmin())
        raise ValueError(f"{name} must not be negative: entry {i} is {vector[i]:g}")
    total = vector.sum()
    if abs(total - 1.0) > 1e-8:
        raise ValueError(
            f"{name} must sum to 1: got {total:.10g} (expected 1 within 1e-8); "
            "divide it by its sum if it holds counts"
        )
    return np.asarray(vector / total)


def generator(rng: Any) -> np.random.Generator:
    """Refuse everything but a NumPy Generator: no seed is made up here."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy.random.Generator: got {type(rng).__name__}; "
            "pass np.random.default_rng(seed)"
        )
    return rng
