"""Compare an answer with what a hidden test expects: the one place that decides.

A test that fails says at which level: missing, wrong type, wrong shape, or a wrong value, here (in
the visible test) or elsewhere (in the hidden one).
"""

from contextvars import ContextVar
from typing import Any

import numpy as np

NUMBERS = "iuf"  # kinds of NumPy's types: whole numbers and floats
MISSING, STOPS, TYPE, SHAPE, HERE, ELSEWHERE = LEVELS = (
    "missing",
    "stops with an error",
    "wrong type",
    "wrong shape",
    "wrong value here",
    "wrong elsewhere",
)
# At which level the last comparison failed; the tester reads it when a hidden test has failed.
failed: ContextVar[str] = ContextVar("failed", default="")


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


def level(found: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-8) -> str:
    """First level at which an answer fails; empty if it is right.

    >>> level(None, 1.0), level("one", 1.0), level([1.0], 1.0), level(2.0, 1.0), level(1, 1.0)
    ('missing', 'wrong type', 'wrong shape', 'wrong elsewhere', '')
    """
    values, wanted = np.asarray(found), np.asarray(expected)
    if not wanted.size:
        raise ValueError("nothing is compared: an expected answer must hold numbers, got none")
    if found is None:
        return MISSING
    if values.dtype.kind not in NUMBERS:
        return TYPE
    if values.shape != wanted.shape:
        return SHAPE
    return "" if np.allclose(values, wanted, rtol=rtol, atol=atol) else ELSEWHERE


def same(found: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether an answer holds numbers, has the shape that is expected, and its values.

    A sequence counts as the array that NumPy makes of it. Nothing is stretched to fit: an empty
    array has no value of the right shape, and a number is no array of one number.

    >>> same([1, 2.0], np.array([1.0, 2.0])), same(np.empty((0, 2)), np.ones((3, 2)))
    (True, False)
    """
    failed.set(level(found, expected, rtol, atol))
    return not failed.get()
