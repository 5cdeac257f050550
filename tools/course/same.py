"""Compare an answer with what a hidden test expects: the one place that decides."""

from typing import Any

import numpy as np

NUMBERS = "iuf"  # kinds of NumPy's types: whole numbers and floats


def numbers(found: Any) -> np.ndarray:
    """An answer as an array; whatever is no number is refused.

    Raises
    ------
    TypeError
        For text, truth values, objects and complex numbers.
    """
    values = np.asarray(found)
    if values.dtype.kind not in NUMBERS:
        raise TypeError(f"numbers were expected, got an array of type {values.dtype}")
    return values


def same(found: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether an answer holds numbers, has the shape that is expected, and its values.

    A sequence counts as the array that NumPy makes of it. Nothing is stretched to fit: an empty
    array has no value of the right shape, and a number is no array of one number.

    >>> same([1, 2.0], np.array([1.0, 2.0])), same(np.empty((0, 2)), np.ones((3, 2)))
    (True, False)
    """
    values, wanted = np.asarray(found), np.asarray(expected)
    if not wanted.size:
        raise ValueError("nothing is compared: an expected answer must hold numbers, got none")
    return (
        values.shape == wanted.shape
        and values.dtype.kind in NUMBERS
        and bool(np.allclose(values, wanted, rtol=rtol, atol=atol))
    )
