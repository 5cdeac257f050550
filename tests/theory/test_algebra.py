"""The algebra of the proofs, by computer algebra: each identity is linked from its proof."""

import pytest
import sympy as sp

k, t, m, n = sp.symbols("k t m n", positive=True, integer=True)
mu, L, gamma, alpha, c, r = sp.symbols("mu L gamma alpha c r", positive=True)


def is_zero(expression):
    return sp.simplify(sp.expand(sp.together(expression))) == 0


@pytest.mark.theorem("lem-2")
def test_the_average_moves_with_the_long_step():
    """x_bar_k - y = alpha (x_k - x_tilde), and the weights of the three points."""
    x, x_bar, x_new = sp.symbols("x x_bar x_new")
    w = 1 + mu * gamma
    beta = alpha / (alpha + (1 - alpha) * w)
    y = (1 - beta) * x_bar + beta * x
    x_tilde = (x + mu * gamma * y) / w
    assert is_zero((1 - alpha) * x_bar + alpha * x_new - y - alpha * (x_new - x_tilde))
    # the paper's condition on beta, solved
    assert is_zero(beta * (1 - alpha) / (alpha * (1 - beta)) - 1 / w)


@pytest.mark.theorem("prop-family")
def test_weights_telescope():
    """Gamma_k = 2 / (k (k + 1)), alpha_t / Gamma_t = t, and (C2) is an equality for the family."""
    Gamma, a = 2 / (k * (k + 1)), 2 / (k + 1)
    assert is_zero(Gamma - (1 - a) * Gamma.subs(k, k - 1))
    assert is_zero(a / Gamma - k)
    assert is_zero(sp.summation(t, (t, 1, k)) * Gamma - 1)
    inverse = mu * (k - 1) / 2 + c / k  # 1 / gamma_k
    assert is_zero(k * inverse - (k - 1) * (inverse.subs(k, k - 1) + mu))
    # the largest step: L alpha gamma < 1/2 + mu gamma / 2 for c = 4 L
    step = 1 / inverse.subs(c, 4 * L)
    slack = sp.together(sp.Rational(1, 2) + mu * step / 2 - L * a * step)
    numerator = sp.Poly(sp.expand(sp.numer(slack)), k, mu, L)
    assert all(coefficient >= 0 for coefficient in numerator.coeffs())


@pytest.mark.theorem("thm-3")
def test_the_bounds_of_the_steps():
    """eta and the squared noise in the proof of Theorem 3'."""
    inverse = mu * (t - 1) / 2 + 4 * L / t
    assert is_zero(inverse + mu - (mu * (t + 1) / 2 + 4 * L / t))  # 1 / eta
    assert is_zero(mu * (t - 1) / 2 + 2 * mu - mu * (t + 3) / 2)
    assert sp.limit(t / (t + 3), t, sp.oo) == 1


@pytest.mark.theorem("prop-c")
def test_products_of_gronwalls_inequality():
    for factor, total in (
        ((t + 1) ** 2 / (t * (t + 2)), 2 * k / (k + 1)),
        ((t + 1) * (t + 2) / (t * (t + 3)), 3 * k / (k + 2)),
    ):
        assert total.subs(k, 1) == 1
        assert is_zero(total.subs(k, k + 1) / total - factor.subs(t, k))
    # A_t and a_t of both variants
    for shift, size in ((0, 2), (1, 3)):
        inverse = mu * (t + shift) / 2
        assert is_zero(t * (inverse + mu) - mu * t * (t + size) / 2)
        assert is_zero((inverse + mu) * (t + 1) / 2 - mu * (t + 1) * (t + size) / 4)
    assert is_zero(1 / (t * (t + 2)) + 1 - (t + 1) ** 2 / (t * (t + 2)))


@pytest.mark.theorem("thm-2")
def test_a_trapezoid_below_the_root():
    """sum_{t <= k} sqrt t <= 2/3 sqrt k (k + 1): the induction step, squared and expanded."""
    # need 2/3 sqrt(k+1) (k+2) - sqrt(k+1) >= 2/3 sqrt k (k+1)
    left = (sp.Rational(2, 3) * (k + 2) - 1) ** 2 * (k + 1)
    right = sp.Rational(4, 9) * k * (k + 1) ** 2
    difference = sp.Poly(sp.expand(left - right), k)
    assert all(coefficient >= 0 for coefficient in difference.coeffs())


@pytest.mark.theorem("lem-04-identities")
def test_identities_of_algorithm_1():
    x, x_bar, G, b, after = sp.symbols("x x_bar G b after")
    y = (1 - alpha) * x_bar + alpha * x
    new, new_bar = x - gamma * G, y - b * G
    assert is_zero(y - x - (1 - alpha) * (x_bar - x))
    assert is_zero(new_bar - new - ((1 - alpha) * (x_bar - x) + (gamma - b) * G))
    y_next = (1 - after) * new_bar + after * new
    assert is_zero(y_next - y + b * G + after * (new_bar - new))
    assert is_zero(y_next - new - (1 - after) * (new_bar - new))  # between x and x_bar


@pytest.mark.theorem("prop-scale")
def test_curvature_terms_of_the_refutation():
    bracket = (1 + alpha) * (3 - alpha) / 2
    assert is_zero(bracket - (3 + 2 * alpha - alpha**2) / 2)
    assert is_zero(sp.diff(bracket, alpha) - (1 - alpha))  # it increases up to alpha = 1
    M, a = sp.symbols("M a", positive=True)
    top = c * a * M - 22 * a * M**2
    assert is_zero(top.subs(M, sp.solve(sp.diff(top, M), M)[0]) - a * c**2 / 88)


@pytest.mark.theorem("prop-poisson-constant")
def test_the_constant_of_a_cycle():
    for size in range(2, 9):
        P = sp.zeros(size, size)
        for i in range(size):
            P[i, (i + 1) % size] = 1
        Z = (sp.eye(size) - P + sp.ones(size, size) / size).inv()
        row = [sp.Rational(size + 1, 2 * size) - sp.Rational(j, size) for j in range(1, size + 1)]
        assert sorted((Z - sp.eye(size)).row(0)) == sorted(row)
        assert sum(map(abs, row)) / 2 == sp.Rational(size**2 // 4, 2 * size)


@pytest.mark.theorem("prop-07-limit")
def test_limits_of_the_two_methods():
    """The Lyapunov equation (N + 1/2) S + S (N + 1/2)^T + b b^T = 0 of both methods."""
    a, b, d = sp.symbols("a b d")
    S, push = sp.Matrix([[a, b], [b, d]]), sp.Matrix([0, -2 / mu])
    cases = (
        (sp.Matrix([[-2, 2], [2 - 2 * r, -2]]), 16 * r / (48 * r - 21)),
        (sp.Matrix([[-2, 2], [0, -2 * r]]), 16 * r / (3 * (2 * r + 1) * (4 * r - 1))),
    )
    limits = []
    for N, phi in cases:
        drift = N + sp.eye(2) / 2
        equation = drift * S + S * drift.T + push * push.T
        found = sp.solve(list(equation), [a, b, d], dict=True)[0][a]
        assert is_zero(mu * (r * mu / 2) * found - phi)
        limits.append(phi)
    ratio = (2 * r + 1) * (4 * r - 1) / (16 * r - 7)
    assert is_zero(limits[0] / limits[1] - ratio)
    assert is_zero((2 * r + 1) * (4 * r - 1) - (16 * r - 7) - 2 * (4 * r - 3) * (r - 1))


@pytest.mark.theorem("thm-2")
def test_the_sharp_line():
    """S_k for gamma_t = t / (4 L): how far x_bar_k moves on a line of slope 1."""
    T = sp.summation(t, (t, 1, m)) / (4 * L)
    S = sp.summation(sp.expand(m * T), (m, 1, k)) * 2 / (k * (k + 1))
    assert is_zero(1 / (4 * S) - 12 * L / ((3 * k + 1) * (k + 2)))
