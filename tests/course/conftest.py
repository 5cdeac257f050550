"""What a notebook of the coursework sets in this process ends with its module of tests."""

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(scope="module", autouse=True)
def print_options() -> Iterator[None]:
    """Keep how arrays are printed: the doctests of the package print some."""
    with np.printoptions():
        yield
