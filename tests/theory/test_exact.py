"""The exact worst case of Algorithm 2 without noise: certificates, in fractions."""

import csv
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from amgd.descent import bounds
from amgd.descent.algorithms import amgd_convex
from amgd.descent.problems import Box, Linear
from amgd.descent.steps import theorem2
from amgd.markov import iid
from tools import certificates, worst_cases
from tools.certificates import growing, proves, travel, weights

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


QUARTER = growing(Fraction(1, 4))


@pytest.mark.theorem("prop-exact")
@pytest.mark.parametrize("k", CERTIFICATES)
def test_the_formulas_give_the_stored_weights(k):
    for stored, found in zip(CERTIFICATES[k][1:], weights(QUARTER(k)), strict=True):
        assert found == {pair: Fraction(w.p, w.q) for pair, w in stored.items()}


@pytest.mark.theorem("prop-exact")
@pytest.mark.parametrize("k", [1, 2, 5])
def test_both_programs_write_the_same_form(k):
    """SymPy above has the moves x_{t-1} - x_t for coordinates, the tool has the x_bar_t."""
    rng = np.random.default_rng(k)
    projections, interpolations = weights(QUARTER(k))
    top = Q(12, (3 * k + 1) * (k + 2))
    pairs = [{p: Q(w.numerator, w.denominator) for p, w in part.items()}
             for part in (projections, interpolations)]  # fmt: skip
    other = residual(k, top, *pairs)
    matrix = certificates.form(
        QUARTER(k), Fraction(int(top.p), int(top.q)), projections, interpolations
    )
    for _ in range(4):
        start, *moves = (Fraction(int(n)) for n in rng.integers(-9, 10, k + 1))
        gradients = [Fraction(int(n)) for n in rng.integers(-9, 10, k + 1)]
        x = x_bar = start
        tool = [start]
        for t in range(1, k + 1):
            x -= moves[t - 1]
            x_bar += Fraction(2, t + 1) * (x - x_bar)
            tool += [x_bar, gradients[t - 1]]
        tool.append(gradients[-1])
        value = sum(v * tool[i] * tool[j] for i, row in enumerate(matrix) for j, v in row.items())
        vector = sp.Matrix([Q(n.numerator, n.denominator) for n in (start, *moves, *gradients)])
        assert (vector.T * other * vector)[0] == Q(value.numerator, value.denominator)


@pytest.mark.theorem("prop-exact")
def test_rows_of_the_recorded_table():
    with certificates.TABLE.open(encoding="utf8", newline="") as file:
        rows = {int(row["k"]): row for row in csv.DictReader(file)}
    assert sorted(rows) == list(range(1, max(rows) + 1))
    assert max(rows) >= 500
    for k in (*range(1, 21), 60, 150):
        found = proves(QUARTER(k))
        assert found is not None
        assert found["bound"] == Fraction(12, (3 * k + 1) * (k + 2)) == Fraction(rows[k]["bound"])
        for name in ("smallest_weight", "smallest_pivot"):
            assert found[name] > 0
            assert f"{found[name]:.6g}" == rows[k][name]


@pytest.mark.theorem("prop-certificate")
@pytest.mark.parametrize(
    ("rule", "eta", "most"),
    [
        (lambda t: Fraction(t, 3), Fraction(1, 2), 18),
        (lambda t: Fraction(t + 1, 4), 1, 18),
        (lambda t: Fraction(1, 4), 1, 18),
        (lambda t: Fraction(t, 2), Fraction(1, 2), 17),
        (lambda t: Fraction(1, 2), 1, 17),
        (lambda t: t / (4 + Fraction(t * t, 10)), 1, 14),
        (lambda t: Fraction(3 * t, 4), 0, 5),
    ],
)
def test_other_steps(rule, eta, most):
    """The bound 1 / (4 S_k) for steps of other shapes."""
    for k in range(1, most + 1):
        gamma = [rule(t) for t in range(1, k + 1)]
        row = proves(gamma, Fraction(eta))
        assert row is not None, k
        assert row["bound"] == 1 / (4 * travel(gamma)[1][-1])


def test_a_wrong_certificate_is_refused(monkeypatch):
    gamma = QUARTER(4)
    right = weights(gamma)
    assert proves(gamma) is not None
    for part in (0, 1):
        for pair in right[part]:
            wrong = [dict(right[0]), dict(right[1])]
            wrong[part][pair] += Fraction(1, 1000)
            monkeypatch.setattr(certificates, "weights", lambda *_, wrong=wrong: wrong)
            assert proves(gamma) is None
    # more steps than (C1) allows, and steps that leave the line's range
    monkeypatch.undo()
    assert proves([Fraction(t) for t in range(1, 7)]) is None
    assert proves([Fraction(1), Fraction(100)]) is None


@pytest.mark.parametrize("seed", range(4))
def test_positive_definite_is_what_eigenvalues_say(seed):
    """Banded matrices of integers: proved if and only if the least eigenvalue is positive."""
    rng = np.random.default_rng(seed)
    size, seen = 8, set()
    for _ in range(30):
        A = np.triu(np.tril(rng.integers(-5, 6, (size, size)), 2), -2)
        A = A @ A.T - int(rng.integers(0, 3)) * np.eye(size, dtype=int)
        rows = [{j: Fraction(int(v)) for j, v in enumerate(row) if v} for row in A]
        least = np.linalg.eigvalsh(A)[0]
        if abs(least) > 1e-9:
            proved = certificates.smallest_pivot(rows, range(size)) is not None
            assert proved == (least > 0)
            seen.add(proved)
    assert seen == {True, False}


# Worst cases by semidefinite programming


def recorded_worst_cases():
    with worst_cases.TABLE.open(encoding="utf8", newline="") as file:
        return {(row["statement"], int(row["k"])): row for row in csv.DictReader(file)}


def test_no_recorded_worst_case_breaks_a_bound():
    rows = recorded_worst_cases()
    longest = {name: worst_cases.LONGEST.get(name, 10) for name in worst_cases.STATEMENTS}
    assert set(rows) == {(name, k) for name, most in longest.items() for k in range(1, most + 1)}
    for (statement, k), row in rows.items():
        worst, bound, ratio = (float(row[name]) for name in ("worst", "bound", "ratio"))
        assert worst_cases.STATEMENTS[statement][1](k) == pytest.approx(bound, rel=1e-5)
        assert ratio == pytest.approx(worst / bound, rel=1e-4)
        if statement in ("prop-exact", "unconstrained"):
            assert ratio == pytest.approx(1.0, abs=1e-5)
        elif statement == "prop-b":  # a floor
            assert ratio >= 1
        else:
            assert ratio < 1


@pytest.mark.parametrize("statement", worst_cases.STATEMENTS)
def test_the_programmes_give_the_recorded_numbers(statement):
    pytest.importorskip("PEPit", reason="needs the extra certify")
    k = 1 if statement in worst_cases.LONGEST else 2
    row = worst_cases.row(statement, k)
    worst = float(recorded_worst_cases()[statement, k]["worst"])
    assert float(row["worst"]) == pytest.approx(worst, rel=2e-5)
