"""The exact worst case of Algorithm 2 without noise: certificates for k = 1, 2, 3, in fractions."""

import numpy as np
import pytest
import sympy as sp

from amgd.descent import bounds
from amgd.descent.algorithms import amgd_convex
from amgd.descent.problems import Box, Linear
from amgd.descent.steps import theorem2
from amgd.markov import iid

Q = sp.Rational
# L = 1, gamma_t = t / 4; x* is number 0, and y_{k+1} = x_bar_k.
# Weights of <x_{t-1} - gamma_t G_t - x_t, x_t - x_z> >= 0, and of
# f(y_q) - f(y_p) <= <G_q, y_q - y_p> - |G_p - G_q|^2 / 2 (without the square if p = 0).
CERTIFICATES = {
    1: (Q(1), {(1, 0): Q(4)}, {(1, 2): Q(1, 2), (0, 1): Q(1, 2), (0, 2): Q(1, 2)}),
    2: (
        Q(3, 7),
        {(1, 0): Q(4, 5), (1, 2): Q(8, 15), (2, 0): Q(8, 5)},
        {
            (1, 2): Q(3, 14),
            (2, 3): Q(7, 11),
            (0, 1): Q(3, 14),
            (0, 2): Q(65, 154),
            (0, 3): Q(4, 11),
        },
    ),
    3: (
        Q(6, 25),
        {
            (1, 0): Q(1, 2),
            (1, 2): Q(1, 6),
            (2, 0): Q(13, 28),
            (2, 3): Q(2, 7),
            (3, 0): Q(6, 7),
        },
        {
            (1, 2): Q(17, 350),
            (2, 3): Q(87, 308),
            (1, 3): Q(1, 14),
            (3, 4): Q(25, 34),
            (0, 1): Q(3, 25),
            (0, 2): Q(1801, 7700),
            (0, 3): Q(1997, 5236),
            (0, 4): Q(9, 34),
        },
    ),
}


def residual(k, top, projections, interpolations):
    """Matrix of top |x_0 - x*|^2 minus the weighted sum of all inequalities.

    The vectors are x_0 - x*, the moves x_{t-1} - x_t, and the gradients G_1, ..., G_{k+1}.
    """
    size = 2 * k + 2
    unit = [sp.Matrix(size, 1, lambda row, _, i=i: int(row == i)) for i in range(size)]
    move, G = [None, *unit[1 : k + 1]], [None, *unit[k + 1 :]]
    x, x_bar, y = [unit[0]], unit[0], [sp.zeros(size, 1)]
    for t in range(1, k + 1):
        a = Q(2, t + 1)
        y.append((1 - a) * x_bar + a * x[-1])
        x.append(x[-1] - move[t])
        x_bar = (1 - a) * x_bar + a * x[-1]
    y.append(x_bar)

    def inner(u, v):
        return (u * v.T + v * u.T) / 2

    form = top * inner(unit[0], unit[0])
    for (p, q), weight in interpolations.items():
        form -= weight * inner(G[q], y[q] - y[p])
        if p:
            form += weight * inner(G[q] - G[p], G[q] - G[p]) / 2
    for (t, z), weight in projections.items():
        target = x[z] if z else sp.zeros(size, 1)
        form -= weight * inner(move[t] - Q(t, 4) * G[t], x[t] - target)
    return form


@pytest.mark.theorem("prop-exact")
@pytest.mark.parametrize("k", CERTIFICATES)
def test_certificate(k):
    top, projections, interpolations = CERTIFICATES[k]
    assert top == Q(12, (3 * k + 1) * (k + 2))
    assert min([*projections.values(), *interpolations.values()]) > 0
    # the values of f cancel but for f(x_bar_k) - f(x*)
    for node in range(k + 2):
        flow = sum(w * ((q == node) - (p == node)) for (p, q), w in interpolations.items())
        assert flow == {0: -1, k + 1: 1}.get(node, 0)
    form = residual(k, top, projections, interpolations)
    # positive semidefinite: positive definite on a complement of its kernel
    rank = form.rank()
    kernel = sp.Matrix.hstack(*form.nullspace())
    basis = kernel.T.nullspace()
    assert len(basis) == rank
    V = sp.Matrix.hstack(*basis)
    inside = V.T * form * V
    assert all(inside[:j, :j].det() > 0 for j in range(1, rank + 1))


@pytest.mark.theorem("prop-exact")
@pytest.mark.parametrize("k", [1, 2, 3, 4, 10, 100])
def test_the_line_attains_it(k):
    """f = g x on [-D, D] from D, with g D = the value of the formula over 2 D^2."""
    D, S = 1.5, (3 * k + 1) * (k + 2) / 48  # L = 1
    rng = np.random.default_rng(0)
    task = Linear([[D / S]], domain=Box(-D, D))
    run = amgd_convex(task, iid([1.0]), theorem2(1.0, 0.0), k, x0=D, rng=rng, record=[k])
    exact = 12 * (2 * D) ** 2 / ((3 * k + 1) * (k + 2))
    assert float(task.value(run.x_bar[0, 0]) - task.minimum) == pytest.approx(exact, rel=1e-12)
    none = {"M": 1.0, "sigma": 0.0, "ell": 0.0, "T": 0.0}
    assert exact <= bounds.theorem2(k, L=1.0, r0=2 * D, B=2 * D, c=0.0, **none)
