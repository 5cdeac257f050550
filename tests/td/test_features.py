"""Fourier features against the definition of Konidaris et al. (2011)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgd.td import fourier_features

COORDINATES = ("midpoint", "unit")


def definition(n, order, product, coordinates):
    """phi_c(s) = cos(pi c . s), c in {0, ..., order}^2, one number at a time."""
    rows = []
    for row, column in itertools.product(range(n), repeat=2):
        if coordinates == "midpoint":
            x, y = (column + 0.5) / n, (row + 0.5) / n
        else:
            x, y = column / (n - 1), row / (n - 1)
        rows.append(
            [
                math.cos(math.pi * i * x) * math.cos(math.pi * j * y)
                if product
                else math.cos(math.pi * (i * x + j * y))
                for i, j in itertools.product(range(order + 1), repeat=2)
            ]
        )
    return np.array(rows)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("product", [False, True])
@given(n=st.integers(2, 12), order=st.integers(0, 4))
def test_order_basis_is_the_definition(n, order, product, coordinates):
    features = fourier_features(n, "order", order, product, coordinates)
    expected = definition(n, order, product, coordinates)
    np.testing.assert_allclose(features, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("product", [False, True])
def test_three_vectors_are_part_of_the_order_basis(product, coordinates):
    three = fourier_features(6, "three", product=product, coordinates=coordinates)
    whole = definition(6, 1, product, coordinates)
    np.testing.assert_allclose(three, whole[:, [0, 2, 1]], rtol=0, atol=1e-13)


def test_defaults():
    np.testing.assert_array_equal(
        fourier_features(5), fourier_features(5, "three", coordinates="midpoint")
    )
    np.testing.assert_array_equal(
        fourier_features(5, "order"), fourier_features(5, "order", order=3, product=False)
    )


def test_x_runs_along_the_columns():
    features = fourier_features(4, coordinates="unit").reshape(4, 4, 3)
    assert features[0, 3].tolist() == pytest.approx([1, -1, 1])
    assert features[3, 0].tolist() == pytest.approx([1, 1, -1])


@pytest.mark.parametrize("n", [2, 5, 10])
def test_product_basis_at_midpoints_is_orthogonal(n):
    features = fourier_features(n, "order", order=n - 1, product=True)
    gram = features.T @ features / n**2
    weight = np.where(np.arange(n) > 0, 0.5, 1.0)
    np.testing.assert_allclose(gram, np.diag(np.outer(weight, weight).ravel()), atol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"n": 1}, ValueError, "n must be at least 2: got 1"),
        ({"n": 2.5}, TypeError, "n must be an integer"),
        ({"n": False}, TypeError, "got False"),
        ({"n": 4, "kind": "four"}, ValueError, "kind must be one of 'three', 'order': got 'four'"),
        ({"n": 4, "kind": "order", "order": -1}, ValueError, "order must be at least 0: got -1"),
        ({"n": 4, "kind": "order", "order": 1.0}, TypeError, "order must be an integer"),
        (
            {"n": 4, "coordinates": "corner"},
            ValueError,
            "coordinates must be one of 'midpoint', 'unit': got 'corner'",
        ),
        ({"n": 4, "product": 1}, TypeError, "product must be True or False: got 1"),
    ],
)
def test_bad_input_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        fourier_features(**arguments)
