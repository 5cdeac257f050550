"""The sign-flip test of chapter 13, exactly: all sign patterns are enumerated."""

from itertools import product

import numpy as np
import pytest

from amgd.statistics import holm, paired_difference

SIZES = [
    pytest.param([1.0] * 7, id="equal"),
    pytest.param([2.0**i for i in range(7)], id="powers"),
    pytest.param([100.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], id="one-large"),
    pytest.param([0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 8.0], id="zeros"),
    pytest.param([1e-9, 1e-3, 0.1, 1.0, 7.0, 50.0, 1e4], id="scales"),
]


def p_value(differences):
    return paired_difference(differences, np.zeros(len(differences))).p_value


@pytest.mark.theorem("prop-13-sign-flip")
@pytest.mark.parametrize("sizes", SIZES)
def test_no_level_is_exceeded(sizes) -> None:
    """Part 1: given the sizes, the share of sign patterns with p <= a is at most a."""
    patterns = np.array(list(product([1.0, -1.0], repeat=len(sizes))))
    p = np.array([p_value(pattern * sizes) for pattern in patterns])
    assert p.min() >= 2.0 ** (1 - len(sizes))
    for a in np.unique(p):
        assert (p <= a).mean() <= a


@pytest.mark.theorem("prop-13-sign-flip")
@pytest.mark.parametrize("n", range(2, 11))
def test_the_floor_is_reached_by_agreement(n) -> None:
    """Parts 2 and 3: 2^(1-n) if all signs agree, more if one does not, and six pairs for 0.05."""
    sizes = np.arange(1.0, n + 1)
    floor = 2.0 ** (1 - n)
    assert p_value(sizes) == p_value(-sizes) == floor
    assert p_value(np.r_[-sizes[:1], sizes[1:]]) > floor
    assert (floor <= 0.05) == (n >= 6)


@pytest.mark.theorem("prop-13-sign-flip")
@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 19])
def test_the_pairs_that_a_correction_needs(m) -> None:
    """Part 3: the smallest of m values can pass exactly from n = 1 + log2(20 m) pairs on."""
    for n in range(2, 13):
        smallest = p_value(np.arange(1.0, n + 1))
        corrected = holm([smallest] + [1.0] * (m - 1))[0]
        assert (corrected <= 0.05) == (n >= 1 + np.log2(20 * m))
