"""Certificates for the exact worst case of Algorithm 2 without noise, checked in fractions.

The statement for a number of steps k: f(x_bar_k) - f* <= r_0^2 / (4 S_k), see `prop-exact`.
Its proof is a weighted sum of inequalities that hold for every convex L-smooth f and every convex
set. The weights are closed formulas (`weights`); that they prove the statement is a finite check
(`proves`): they are nonnegative, the values of f cancel, and what is left is a quadratic form
without negative directions. Everything is a fraction, so that a check is a proof for its k.

    python -m tools.certificates 1 500        writes book/certificates.csv
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "book" / "certificates.csv"
COLUMNS = ("k", "bound", "smallest_weight", "smallest_pivot")
BITS = 256  # of a number in the elimination

# A vector is a sum of x_0 - x*, the x_bar_t - x* and the gradients G_1, ..., G_{k+1}, by name.
Vector = Mapping[str, Fraction]
Weights = dict[tuple[int, int], Fraction]


def growing(theta: Fraction) -> Callable[[int], list[Fraction]]:
    """Return the steps gamma_t = theta t, for L = 1."""
    return lambda k: [theta * t for t in range(1, k + 1)]


def travel(gamma: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Return T_t and S_t, t = 0, ..., k: how far x and x_bar move on a line of slope 1."""
    T, weighted, S = [Fraction(0)], Fraction(0), [Fraction(0)]
    for t, step in enumerate(gamma, 1):
        T.append(T[-1] + step)
        weighted += t * T[-1]
        S.append(2 * weighted / (t * (t + 1)))
    return T, S


def weights(gamma: Sequence[Fraction], eta: Fraction = Fraction(1)) -> tuple[Weights, Weights]:
    """Return the weights of the certificate, for L = 1.

    Parameters
    ----------
    gamma : sequence of Fraction, length k
        The steps.
    eta : Fraction in [0, 1]
        How much weight the pairs of gradients at distance two have.

    Returns
    -------
    projections : dict
        (t, z): weight of <x_{t-1} - gamma_t G_t - x_t, x_t - x_z> >= 0, where z = 0 is x*.
    interpolations : dict
        (p, q): weight of f(y_q) - f(y_p) <= <G_q, y_q - y_p> - |G_p - G_q|^2 / 2, where y_{k+1} is
        x_bar_k and p = 0 is x*, without the square.

    Examples
    --------
    >>> weights([Fraction(1, 4)])[0]
    {(1, 0): Fraction(4, 1)}
    """
    k = len(gamma)
    T, S = travel(gamma)
    rho = [Fraction(t * (t + 1), k * (k + 1)) for t in range(k + 1)]
    B = [2 * rho[j] * (S[k] - S[j]) - (1 - rho[j]) * T[j] for j in range(k + 1)]
    after, before = [Fraction(0)] * (k + 1), [Fraction(0)] * (k + 1)
    for j in range(1, k):
        after[j] = max(B[j], Fraction(0)) / (2 * S[k] - T[j + 1])
        before[j] = max(-B[j], Fraction(0)) / (2 * S[k] - T[j])

    projections: Weights = {}
    for t, step in enumerate(gamma, 1):
        own = Fraction(2 * t, k * (k + 1)) - after[t] + after[t - 1] + before[t] - before[t - 1]
        if t > 1 and before[t - 1]:
            projections[t, t - 1] = before[t - 1] / step
        if after[t]:
            projections[t, t + 1] = after[t] / step
        projections[t, 0] = own / step

    def y(i: int) -> Fraction:  # where the line is taken, in units of its slope
        return 2 * S[k] - S[i] + Fraction(2, i + 1) * gamma[i - 1]

    skip = [eta * after[i] * (i - 1) / 2 if 1 < i <= k else Fraction(0) for i in range(k + 2)]
    interpolations, passed = {}, Fraction(0)
    for i in range(1, k + 1):
        flow = rho[i] * S[i] + (1 - rho[i]) * T[i]
        if skip[i]:
            flow -= skip[i] * y(i - 1)
            interpolations[i - 1, i + 1] = skip[i]
        interpolations[i, i + 1] = flow / y(i) - skip[i + 1]
        now = interpolations[i, i + 1] + skip[i] + skip[i + 1]
        interpolations[0, i] = now - passed
        passed = now
    interpolations[0, k + 1] = 1 - passed
    return projections, interpolations


def balanced(k: int, interpolations: Weights) -> bool:
    """Whether the values of f cancel but for f(x_bar_k) - f(x*)."""
    flow: dict[int, Fraction] = defaultdict(Fraction)
    for (p, q), weight in interpolations.items():
        flow[q] += weight
        flow[p] -= weight
    return {node: x for node, x in flow.items() if x} == {0: Fraction(-1), k + 1: Fraction(1)}


def _sum(*terms: tuple[Fraction, Vector]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = defaultdict(Fraction)
    for factor, vector in terms:
        for name, value in vector.items():
            total[name] += factor * value
    return total


def form(
    gamma: Sequence[Fraction], top: Fraction, projections: Weights, interpolations: Weights
) -> list[dict[int, Fraction]]:
    """Return top |x_0 - x*|^2 minus the weighted sum of the right sides, a symmetric matrix.

    Row i holds the entries that are not 0. In the order x_0, x_bar_1, G_1, x_bar_2, G_2, ... the
    matrix is banded: each inequality joins a few neighbours.
    """
    k, one = len(gamma), Fraction(1)
    names = ["x0", *(f"{v}{t}" for t in range(1, k + 1) for v in ("b", "G")), f"G{k + 1}"]
    place = {name: i for i, name in enumerate(names)}
    matrix: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in names]

    def subtract(weight: Fraction, u: Vector, v: Vector) -> None:
        for first, a in u.items():
            for second, b in v.items():
                i, j, part = place[first], place[second], weight * a * b / 2
                matrix[i][j] -= part
                matrix[j][i] -= part

    x: list[Vector] = [{"x0": one}]
    x_bar: list[Vector] = [{"x0": one}]
    y: list[Vector] = [{}]
    for t in range(1, k + 1):
        a = Fraction(2, t + 1)
        y.append(_sum((1 - a, x_bar[-1]), (a, x[-1])))
        x_bar.append({f"b{t}": one})
        x.append(_sum((1 / a, x_bar[-1]), (-(1 - a) / a, x_bar[-2])))
    y.append(x_bar[-1])
    gradient: list[Vector] = [{}, *({f"G{i}": one} for i in range(1, k + 2))]

    subtract(-top, x[0], x[0])
    for (p, q), weight in interpolations.items():
        subtract(weight, gradient[q], _sum((one, y[q]), (-one, y[p])))
        if p:
            difference = _sum((one, gradient[p]), (-one, gradient[q]))
            subtract(-weight / 2, difference, difference)
    for (t, z), weight in projections.items():
        left = _sum((one, x[t - 1]), (-gamma[t - 1], gradient[t]), (-one, x[t]))
        subtract(weight, left, _sum((one, x[t]), (-one, x[z])) if z else x[t])
    return matrix


def in_kernel(matrix: list[dict[int, Fraction]], vector: Sequence[Fraction]) -> bool:
    """Whether the matrix sends the vector to 0."""
    return not any(sum(value * vector[j] for j, value in row.items()) for row in matrix)


def smallest_pivot(matrix: list[dict[int, Fraction]], rows: range) -> Fraction | None:
    """Prove that the minor of these rows is positive definite; None if this does not show it.

    Elimination in integers, that is in multiples of 2^-BITS, so that the digits do not grow with
    the matrix. An entry is rounded down by less than one unit, and in exchange the diagonal loses
    a unit for each entry of its row that was rounded. What remains is then below the exact
    remainder, as a form, and if it is positive definite, so is that.
    """
    unit = 1 << BITS
    rest = [
        {j: (value * unit).__floor__() for j, value in matrix[i].items() if j in rows and value}
        for i in rows
    ]
    rest = [{j - rows.start: value for j, value in row.items()} for row in rest]
    for i, row in enumerate(rest):
        row[i] = row.get(i, 0) - len(row) - 1
    least = None
    for i, row in enumerate(rest):
        pivot = row[i]
        if pivot <= 0:
            return None
        least = pivot if least is None else min(least, pivot)
        later = {j: value for j, value in row.items() if j > i}
        for j, value in later.items():
            for m, other in later.items():
                rest[j][m] = rest[j].get(m, 0) + -value * other // pivot
            rest[j][j] -= len(later)
    return Fraction(least or 0, unit)


def proves(gamma: Sequence[Fraction], eta: Fraction = Fraction(1)) -> dict[str, object] | None:
    """Check f(x_bar_k) - f* <= r_0^2 / (4 S_k), L = 1; None if these weights do not prove it.

    Returns
    -------
    dict or None
        A row of the table.

    Examples
    --------
    >>> proves([Fraction(1, 4), Fraction(2, 4)])["bound"]
    Fraction(3, 7)
    >>> proves(growing(Fraction(1))(6)) is None  # steps of 6 / L: beyond what convergence allows
    True
    """
    k, (T, S) = len(gamma), travel(gamma)
    if T[k] >= 2 * S[k]:
        return None
    projections, interpolations = weights(gamma, eta)
    least = min([*projections.values(), *interpolations.values()])
    if least < 0 or not balanced(k, interpolations):
        return None
    top = 1 / (4 * S[k])
    matrix = form(gamma, top, projections, interpolations)
    line, equal = [2 * S[k]], [Fraction(0)]
    for t in range(1, k + 1):
        line += [2 * S[k] - S[t], Fraction(1)]
        equal += [Fraction(0), Fraction(1)]
    # The form vanishes on the line, and where all gradients change alike. Both vectors are fixed by
    # their first and last entry: the form has no negative direction if it has none without these.
    if not all(in_kernel(matrix, [*vector, Fraction(1)]) for vector in (line, equal)):
        return None
    pivot = smallest_pivot(matrix, range(1, 2 * k + 1))
    if pivot is None:
        return None
    return dict(zip(COLUMNS, (k, top, float(least), float(pivot)), strict=True))


def main() -> None:
    """Check a range of k for gamma_t = t / (4 L) and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for k in range(options.first, options.last + 1):
            row = proves(growing(Fraction(1, 4))(k))
            if row is None:
                raise SystemExit(f"not proved for k = {k}")
            table.writerow(row | {name: f"{row[name]:.6g}" for name in COLUMNS[2:]})
            file.flush()


if __name__ == "__main__":
    main()
