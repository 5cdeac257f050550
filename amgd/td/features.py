r"""Fourier features of the cells of a grid.

The Fourier basis of Konidaris, Osentoski and Thomas (2011) on the unit square is
:math:`\phi_{ij}(x, y) = \cos(\pi(ix + jy))` for :math:`0 \le i, j \le` `order`.
The paper's "three Fourier basis vectors" are read as :math:`1, \cos\pi x, \cos\pi y`.
The *product* basis :math:`\cos(\pi ix)\cos(\pi jy)` at the cells' mid-points is the discrete cosine
transform: its vectors are eigenvectors of the uniform walk that stays when it bumps, so that the
matrix :math:`A` of TD(0) is diagonal there (`amgd.td.evaluation.product_basis_spectrum`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from amgd import _checks as check
from amgd._checks import FloatArray

__all__ = ["fourier_features"]


@check.arguments
def fourier_features(
    n: Annotated[int, check.count, "a grid needs a start and a goal", 2],
    kind: Literal["three", "order"] = "three",
    order: Annotated[int, check.count, "order is the largest frequency", 0] = 3,
    product: bool = False,
    coordinates: Literal["midpoint", "unit"] = "midpoint",
) -> FloatArray:
    r"""Return the Fourier features of the n x n cells of a grid.

    Parameters
    ----------
    n : int
        Cells on a side, at least 2.
    kind : {"three", "order"}
        ``"three"``: :math:`1, \cos\pi x, \cos\pi y`.
        ``"order"``: all :math:`\cos(\pi(ix + jy))` with :math:`0 \le i, j \le` `order`.
    order : int
        Largest frequency of kind ``"order"`` (not used by ``"three"``).
    product : bool
        Use :math:`\cos(\pi ix)\cos(\pi jy)` in place of :math:`\cos(\pi(ix + jy))`.
        For kind ``"three"`` the two are the same.
    coordinates : {"midpoint", "unit"}
        Coordinate of row or column :math:`c`: :math:`(c + 1/2)/n`, or :math:`c/(n - 1)`, which puts
        the corner cells at the corners of the unit square.

    Returns
    -------
    ndarray of float64, shape (n * n, d)
        Row s = n * row + column holds :math:`\phi(s)`, with :math:`x` the coordinate of the column
        and :math:`y` that of the row; d is 3 or (order + 1)**2.
        Feature :math:`(i, j)` stands in column i * (order + 1) + j.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, of the wrong type, or an unknown name.

    References
    ----------
    Konidaris, Osentoski and Thomas (2011), "Value function approximation in reinforcement
    learning using the Fourier basis", AAAI, equation for the even multivariate basis.

    Examples
    --------
    >>> fourier_features(2).round(3)
    array([[ 1. ,  0.707,  0.707],
           [ 1. , -0.707,  0.707],
           [ 1. ,  0.707, -0.707],
           [ 1. , -0.707, -0.707]])
    >>> fourier_features(10, "order", order=3).shape
    (100, 16)
    """
    check.room("n and order", n, n, (order + 1) ** 2, cure="take a smaller grid or order")
    cell = np.arange(n)
    grid = (cell + 0.5) / n if coordinates == "midpoint" else cell / (n - 1)
    y, x = (axis.ravel() for axis in np.meshgrid(grid, grid, indexing="ij"))
    if kind == "three":
        frequency = np.array([[0, 0], [1, 0], [0, 1]])
    else:
        frequency = np.array([(i, j) for i in range(order + 1) for j in range(order + 1)])
    i, j = frequency.T
    along_x, along_y = np.pi * np.outer(x, i), np.pi * np.outer(y, j)
    if product:
        return np.asarray(np.cos(along_x) * np.cos(along_y))
    return np.asarray(np.cos(along_x + along_y))
