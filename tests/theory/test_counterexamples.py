"""Every printed statement, refuted by its smallest counterexample. No Monte Carlo.

The numbers are recomputed here; the digits on the right of a comparison are those the book shows.
"""

import math

import numpy as np
import pytest
from enumeration import squared, step2, tree

from amgd.descent import bounds, problems
from amgd.descent.steps import (
    StepSizes,
    check_steps,
    sgd,
    theorem2,
    theorem2_printed,
    theorem3,
    theorem3_printed,
)
from amgd.markov import MarkovChain, iid, sticky, two_state

# --- Corollary 1 and Lemma 1 ---------------------------------------------------------------------

BIASED = sticky([0.25, 0.75], 0.5)  # states (-, +), second eigenvalue 1/2, d(k) = (3/4) 2^-k


@pytest.mark.theorem("cor-1-printed")
@pytest.mark.theorem("cor-1")
def test_corollary_1_is_false():
    M, gamma, k = 4.0, 0.25, 2
    assert BIASED.mixing_time(gamma) == k
    assert BIASED.mixing_constant == pytest.approx(1 / math.log(2), rel=1e-12)
    G = M * np.array([-1.0, 1.0])
    bias = abs(np.linalg.matrix_power(BIASED.transition, k)[0] @ G - BIASED.stationary @ G)
    assert bias == pytest.approx(1.5, abs=1e-14)
    assert bias > bounds.corollary1_printed(gamma=gamma) == 0.25
    assert bounds.corollary1(k, chain=BIASED, M=M) == pytest.approx(bias, abs=1e-14)  # attained


@pytest.mark.theorem("cor-1-printed")
def test_corollary_1_is_false_in_the_full_l1_norm_too():
    """With TV as the whole l1 norm gamma = 3/4, tau = 1 refutes it: 3 > 0.75."""
    assert 2 * BIASED.tv_distance(1) == pytest.approx(0.75)
    G = 4.0 * np.array([-1.0, 1.0])
    bias = abs(BIASED.transition[0] @ G - BIASED.stationary @ G)
    assert bias == pytest.approx(3.0) and bias > bounds.corollary1_printed(gamma=0.75)  # noqa: PT018


def lemma_1_sides(chain, M, beta, k, omega):
    """E f(x_k), and the right sides of the printed and of the corrected Lemma 1, lag tau(beta)."""
    tau = chain.mixing_time(beta)
    problem = problems.sine_counterexample([-M, M], frequency=omega, stationary=chain.stationary)
    steps, L = sgd(beta), M * omega
    means = [(0.0, 0.0)]
    for level in tree(problem, chain, steps, [0.0], 0, k, algorithm=1):
        slope = level.mean(squared(problem.gradient(level.y)))
        means.append((level.mean(problem.value(level.x)), slope))
    before, (after, slope) = means[k - 1][0], means[k]
    printed = before - beta * (1 - L * beta) * slope
    printed += bounds.lemma1_printed(k, tau, steps=steps, L=L, M=M)
    corrected = before - beta * slope
    corrected += beta * bounds.lemma1(k, tau, steps=steps, L=L, M=M, chain=chain)
    return after, printed, corrected


@pytest.mark.theorem("lem-1-printed")
@pytest.mark.theorem("lem-1")
def test_lemma_1_is_false():
    after, printed, corrected = lemma_1_sides(BIASED, M=4.0, beta=0.25, k=3, omega=1e-6)
    assert after == pytest.approx(-0.375000, abs=5e-7)
    assert printed == pytest.approx(-0.499919, abs=5e-7)
    assert corrected == pytest.approx(0.750, abs=5e-4)
    assert printed < after <= corrected


@pytest.mark.theorem("lem-1-printed")
def test_lemma_1_is_false_for_every_M_above_one_half():
    """A rare state that is left slowly: beta = d(1), tau = 1, k = 2, bias close to 2 M beta."""
    for M in (0.501, 0.55, 0.7, 1.0, 10.0):
        chain = sticky([1e-4, 1 - 1e-4], 1e-4)
        beta = chain.tv_distance(1)
        assert chain.mixing_time(beta) == 1
        after, printed, corrected = lemma_1_sides(chain, M, beta, k=2, omega=1e-9)
        assert printed < after <= corrected
    after, printed, _ = lemma_1_sides(chain, 0.5, beta, k=2, omega=1e-9)
    assert after <= printed


# --- Theorem 1 -----------------------------------------------------------------------------------


def mean_of_affine(A, b, K):
    """(1/K) sum of z_0, ..., z_{K-1} for z_k = A z_{k-1} + b from z_0 = 0: closed form."""
    eye = np.eye(len(b))
    limit = np.linalg.solve(eye - A, b)
    power = np.linalg.matrix_power(A, K) if K < 10**4 else np.zeros_like(A)
    return limit - np.linalg.solve(eye - A, (eye - power) @ limit) / K


def huber_pair_mean(K, L, M, flip, sign=1.0):
    """(1/K) sum_k E f'(y_k)^2 of SGD with beta = 1/sqrt(K) on `huber_pair` from x_0 = 0.

    z = (E x_k^2, E x_k xi_k) obeys a linear recursion: x_k = (1-a) x_{k-1} + a h xi_k.
    xi_0 = sign, but the two-state chain is symmetric, so the second moments do not depend on it.
    """
    a, h, eigenvalue = L / math.sqrt(K), M / (2 * L), 1 - 2 * flip
    A = np.array([[(1 - a) ** 2, 2 * a * (1 - a) * h * eigenvalue], [0.0, (1 - a) * eigenvalue]])
    return L**2 * mean_of_affine(A, np.array([(a * h) ** 2, a * h]), K)[0]


def test_closed_form_is_the_enumeration():
    for K, flip in ((4, 0.5), (9, 0.2), (9, 0.9)):
        L, M = math.sqrt(K) / 4, 0.3
        problem, chain = problems.huber_pair(L, M), two_state(flip, flip)
        steps = sgd(1 / math.sqrt(K))
        exact = np.mean(
            [
                level.mean(squared(problem.gradient(level.y)))
                for level in tree(problem, chain, steps, [0.0], 0, K, algorithm=1)
            ]
        )
        assert huber_pair_mean(K, L, M, flip) == pytest.approx(exact, rel=1e-12)


@pytest.mark.theorem("thm-1-printed")
@pytest.mark.parametrize(
    ("K", "L", "M", "flip", "C", "measured", "printed"),
    [
        (6_400_000_000, 20_000.0, 0.003, 0.5, 0.0, 3.21429e-7, 2.98500e-7),
        (6_400_000_000, 20_000.0, 0.003, 0.5, 1e-3, 3.21429e-7, 3.03377e-7),
        (6_400_000_000, 20_000.0, 0.003, 0.5, 0.0047, 3.21429e-7, 3.21422e-7),
        (10**12, 250_000.0, 1.33e-4, (1 - math.exp(-1)) / 2, 1.0, 1.11320e-9, 1.06499e-9),
        (10**12, 250_000.0, 1.33e-4, (1 - math.exp(-1)) / 2, 1.0926, 1.11320e-9, 1.11314e-9),
    ],
)
def test_theorem_1_is_false(K, L, M, flip, C, measured, printed):
    chain = two_state(flip, flip)
    assert chain.mixing_constant <= C + 1e-12 if flip < 0.5 else chain.mixing_constant == 0
    value = huber_pair_mean(K, L, M, flip)
    bound = bounds.theorem1_printed(K, L=L, M=M, initial_gap=0.0, C=C)
    assert value == pytest.approx(measured, rel=3e-6)
    assert bound == pytest.approx(printed, rel=3e-6)
    assert value > bound
    # The corrected theorem and the last line of the printed proof do hold here.
    known = {"L": L, "M": M, "initial_gap": 0.0}
    assert value <= bounds.theorem1_lag(K, chain=chain, schedule="sgd", **known)
    assert value <= bounds.theorem1(K, T=chain.mixing_sum, schedule="sgd", **known)
    assert value <= bounds.theorem1_proof_line(K, C=C, **known)


@pytest.mark.theorem("thm-1-printed")
@pytest.mark.theorem("prop-simplex")
@pytest.mark.parametrize(
    ("n", "K", "M", "measured", "printed"),
    [
        (3, 1_600_000_000, 0.004329, 8.92394e-7, 8.79098e-7),
        (64, 342_250_000, 0.00639205, 2.87285e-6, 2.81849e-6),
    ],
)
def test_theorem_1_is_false_on_a_simplex(n, K, M, measured, printed):
    """Minimisers at the corners of a regular simplex of edge M / L, i.i.d. uniform samples."""
    L = math.sqrt(K) / 4
    problem = problems.huber_simplex(n, L, M)
    a = L / math.sqrt(K)
    radius = np.linalg.norm(problem._centres, axis=1)
    np.testing.assert_allclose(radius, M / L * math.sqrt((1 - 1 / n) / 2), rtol=1e-12)
    # x_k is an average of corners, so |x_k - corner| <= edge and no gradient is ever clipped:
    # x_k = (1-a) x_{k-1} + a corner, E|x_k|^2 = (1-a)^2 E|x_{k-1}|^2 + (a radius)^2.
    A, b = np.array([[(1 - a) ** 2]]), np.array([(a * radius[0]) ** 2])
    value = L**2 * mean_of_affine(A, b, K)[0]
    bound = bounds.theorem1_printed(K, L=L, M=M, initial_gap=0.0, C=0.0)
    assert value == pytest.approx(measured, rel=3e-6)
    assert bound == pytest.approx(printed, rel=3e-6)
    assert value > bound
    # The same recursion at a small size, against the enumeration.
    if n == 3:
        small = problems.huber_simplex(3, 0.75, 1.0)
        chain, A = iid(np.full(3, 1 / 3)), np.array([[0.75**2]])
        exact = [
            level.mean(squared(small.gradient(level.y)))
            for level in tree(small, chain, sgd(1 / 3), [0.0, 0.0], 0, 6, algorithm=1)
        ]
        square = (0.25 / 0.75) ** 2 / 3
        expected = 0.75**2 * mean_of_affine(A, np.array([square]), 6)[0]
        assert np.mean(exact) == pytest.approx(expected, rel=1e-12)
        # The proposition, step by step: M = 1, a = 1/4, q = (1 - a)^2 = 9/16.
        k, q = np.arange(1, 7), 9 / 16
        stationary = (1 - 1 / 3) / 2 * 0.25 / 1.75
        np.testing.assert_allclose(exact, stationary * (1 - q ** (k - 1)), atol=1e-14)
        average = stationary * (1 - (1 - q**6) / (6 * (1 - q)))
        assert np.mean(exact) == pytest.approx(average, rel=1e-12)


def countdown_mean(K, L, M, x0, m):
    """(1/K) sum of H'(y_k)^2, H' = clip(L x, -M, M), when x climbs by M/sqrt(K) in steps 1..m-1."""
    beta = 1 / math.sqrt(K)
    climb = x0 + beta * M * np.arange(m - 1)
    total = np.sum(np.minimum(L * climb, M) ** 2)
    top = x0 + beta * M * (m - 1)
    down = max(0, math.ceil((top - M / L) / (beta * M)))  # steps with the gradient still M
    left = K - (m - 1) - down
    assert left > 0
    total += down * M**2
    shrink = (1 - L * beta) ** 2
    total += (L * (top - down * beta * M)) ** 2 * (1 - shrink**left) / (1 - shrink)
    return total / K


def countdown_chain(m, leave):
    """c_m -> ... -> c_1 -> o; o stays but for a probability `leave` of c_m. State 0 is o."""
    P = np.zeros((m + 1, m + 1))
    P[0, 0], P[0, m] = 1 - leave, leave
    P[np.arange(1, m + 1), np.arange(m)] = 1.0
    return MarkovChain(P)


@pytest.mark.theorem("thm-1-printed")
@pytest.mark.parametrize(
    ("root", "L", "M", "x0", "m", "measured", "printed"),
    [
        (2050, 8.0788894e-4, 5.5684311e-3, 3.5425969, 2_494_954, 2.67854e-5, 2.66763e-5),
        (2100, 7.9e-4, 5.49e-3, 3.54, 2_621_000, 2.59716e-5, 2.56131e-5),
        (2500, 6.84e-4, 4.94e-3, 3.508, 3_746_000, 2.08882e-5, 1.91785e-5),
    ],
)
def test_theorem_1_is_false_when_C_may_depend_on_gamma(root, L, M, x0, m, measured, printed):
    """The definition of tau as printed fixes C after gamma. K is ten times smaller then.

    xi_0 = c_m; G = -M at every c_j and H'(x) at o. The chain leaves o so rarely (probability
    eps) that f = H to rounding, and d(k) <= 2 m eps for k >= m, so that tau(beta) = m allows
    C = m / log(1/beta).
    """
    K, beta = root**2, 1 / root
    C = m / math.log(1 / beta)
    gap = L * x0**2 / 2
    assert x0 < M / L
    value = countdown_mean(K, L, M, x0, m)  # times (1 - eps)^K -> 1 as eps -> 0
    bound = bounds.theorem1_printed(K, L=L, M=M, initial_gap=gap, C=C)
    assert value == pytest.approx(measured, rel=3e-6)
    assert bound == pytest.approx(printed, rel=3e-6)
    assert value > bound


def test_countdown_chain():
    for m, leave in ((4, 1e-3), (9, 1e-6)):
        chain = countdown_chain(m, leave)
        curve = chain.tv_distance(np.arange(1, 4 * m))
        assert np.all(curve[m - 1 :] <= 2 * m * leave)
        assert curve[m - 2] > 1 - 2 * m * leave  # so a uniform C is huge and nothing is refuted
        assert chain.mixing_constant > (m - 1) / (3 * m * leave)
    # countdown_mean is SGD on the path c_m, c_{m-1}, ..., c_1, o, o, ...
    K, L, M, x0, m = 400, 0.3, 0.2, 0.1, 60
    x, total = x0, 0.0
    for k in range(1, K + 1):
        slope = min(L * x, M)
        total += slope**2
        x -= (-M if k <= m - 1 else slope) / math.sqrt(K)
    assert countdown_mean(K, L, M, x0, m) == pytest.approx(total / K, rel=1e-12)


@pytest.mark.theorem("thm-1-printed")
@pytest.mark.theorem("prop-scale")
def test_why_K_must_be_large():
    """With i.i.d. samples and gamma = beta no K <= 31 719 424 refutes the printed Theorem 1.

    E|grad f|^2 <= 2 gap beta + M^2 a / 2 (Theorem 1' keeps gap beta only), a = L beta <= 1/4,
    and 4 M / sqrt K + 22 L M^3 / sqrt K >= 2 sqrt(88 L / K) M^2 for every M: compare.
    """
    a = np.linspace(1e-3, 0.25, 1000)
    assert np.min(352 * a / (a / 2) ** 2) ** 2 == pytest.approx(31_719_424)
    K = 31_719_424
    for L in np.linspace(0.05, 0.25, 9) * math.sqrt(K):
        M = math.sqrt(4 / (22 * L)) * np.linspace(0.5, 2, 13)
        for size in M:
            known = {"L": float(L), "M": float(size), "initial_gap": 0.0}
            corrected = bounds.theorem1_lag(
                K, chain=iid([0.5, 0.5]), schedule="sgd", beta=1 / math.sqrt(K), **known
            )
            assert corrected <= bounds.theorem1_printed(K, C=0.0, **known) * (1 + 1e-12)


# --- Theorems 2 and 3 ----------------------------------------------------------------------------


def noiseless(problem, steps, x0, n, x_bar0=None):
    """x_bar_1, ..., x_bar_n of Algorithm 2 without noise."""
    x = np.asarray(x0, float)
    x_bar = x if x_bar0 is None else np.asarray(x_bar0, float)
    path = []
    for k in range(1, n + 1):
        _, _, x, x_bar = step2(problem, steps, k, x, x_bar, np.array(0))
        path.append(x_bar)
    return np.array(path)


def gap(problem, path):
    return problem.value(path) - problem.minimum


def violated(measured, bound):
    """The k at which measured > bound."""
    return (np.flatnonzero(measured > bound) + 1).tolist()


def interval(radius):
    return problems.Box(-radius, radius)


@pytest.mark.theorem("thm-2-printed")
def test_ce_a_theorem_2_is_not_invariant_under_shifts_of_f():
    problem = problems.Quadratic([1.0], offset=-1e4, domain=interval(1.0))
    measured = gap(problem, noiseless(problem, theorem2_printed(1.0), [1.0], 40))
    f0 = float(problem.value([1.0]))
    printed = bounds.theorem2_printed(np.arange(1, 41), L=1.0, D=1.0, M=1.0, f_x_bar0=f0)
    assert measured[9] == pytest.approx(0.00807, abs=5e-6)
    assert printed[9] == pytest.approx(-33.1, abs=0.05)
    assert violated(measured, printed) == list(range(1, 22))


@pytest.mark.theorem("thm-2-printed")
def test_ce_b_theorem_2_has_a_negative_logarithm():
    problem = problems.Quadratic([0.1], domain=interval(10.0))
    measured = gap(problem, noiseless(problem, theorem2_printed(0.1), [10.0], 20))
    printed = bounds.theorem2_printed(np.arange(1, 21), L=0.1, D=10.0, M=1.0, f_x_bar0=5.0)
    assert measured[0] == pytest.approx(2.09, abs=5e-3)
    assert printed[0] == pytest.approx(-62.9, abs=0.05)
    assert violated(measured, printed) == [1, 2, 3, 4]


@pytest.mark.theorem("thm-2-printed")
@pytest.mark.parametrize(
    ("robust", "measured", "printed"), [(False, 3.359e5, 1.330e4), (True, 3.185e5, 1.330e4)]
)
def test_ce_c_theorem_2_without_noise_and_with_logarithm_0(robust, measured, printed):
    k, D, slope = 50, 5000.0, 49.5074
    L = 1 / (2 * math.sqrt(k))
    assert pytest.approx(0.0707107, abs=5e-8) == L
    if robust:  # f' = min(slope, L (x + D)): this f is not L'-smooth for any smaller L'
        problem = problems.clipped_linear(slope, L, D)
    else:
        problem = problems.Linear([[slope]], domain=interval(D))
    f0 = float(problem.value([D])) - problem.minimum  # f* = 0, the choice that favours the bound
    value = gap(problem, noiseless(problem, theorem2_printed(L), [D], k))[-1]
    bound = bounds.theorem2_printed(k, L=L, D=D, M=slope, f_x_bar0=f0)
    assert value == pytest.approx(measured, rel=2e-4)
    assert bound == pytest.approx(printed, rel=5e-4)
    assert value > 20 * bound
    assert value <= bounds.proposition_a(k, L=L, B=2 * D, sigma=0.0, M=slope, ell=0.0, T=0.0)


def frozen_gap(size, curvature, flip, k):
    """A chain +-size that has not flipped: x = x_0 = size is a fixed point, f - f* = a size^2 / 2.

    F = (a/2)(x - xi)^2; the mean gradient is a x, and (1 - flip)^k is the chance of no flip.
    """
    matrix = np.array([curvature])
    problem = problems.Quadratic(
        matrix, curvature * np.array([[size], [-size]]), domain=interval(size)
    )
    for steps in (theorem2_printed(curvature), theorem3_printed(curvature)):
        path = noiseless(problem, steps, [size], 5)  # state 1: G = a (x - size)
        state = np.array(1)
        x = x_bar = np.array([size])
        for j in range(1, 6):
            _, _, x, x_bar = step2(problem, steps, j, x, x_bar, state)
            assert x_bar[0] == pytest.approx(size, rel=1e-15)
        assert path.shape == (5, 1)
    assert two_state(flip, flip).stationary == pytest.approx([0.5, 0.5])
    return (1 - flip) ** k * float(gap(problem, np.array([size])))


@pytest.mark.theorem("thm-2-printed")
@pytest.mark.parametrize(
    ("size", "curvature", "flip", "k", "M", "measured", "printed"),
    [
        (1.0, 1.0, 1e-7, 250_000, 2.0, 0.4877, 0.4541),  # CE-D
        (1e4, 0.04, 1e-5, 200, 800.0, 1.996e6, 1.822e6),  # CE-D2, logarithm 0.123 > 0
    ],
)
def test_ce_d_theorem_2_has_no_constant_of_the_chain(
    size, curvature, flip, k, M, measured, printed
):
    value = frozen_gap(size, curvature, flip, k)  # a lower bound on the expected gap
    f0 = curvature * size**2  # f(x_0), f including its noise floor
    bound = bounds.theorem2_printed(k, L=curvature, D=size, M=M, f_x_bar0=f0)
    assert value == pytest.approx(measured, rel=3e-4)
    assert bound == pytest.approx(printed, rel=3e-4)
    assert value > bound


@pytest.mark.theorem("thm-3-printed")
def test_ce_e_theorem_3_has_a_negative_logarithm():
    problem = problems.Quadratic([0.1], domain=interval(1.0))
    measured = gap(problem, noiseless(problem, theorem3_printed(0.1), [1.0], 20))
    known = {"mu": 0.1, "L": 0.1, "D": 1.0, "M": 0.1, "f_x_bar0": 0.05}
    printed = bounds.theorem3_printed(np.arange(1, 21), **known)
    assert measured[0] == pytest.approx(0.00556, abs=5e-6)
    assert printed[0] == pytest.approx(-17.8, abs=0.05)
    assert violated(measured, printed) == [1, 2, 3]


@pytest.mark.theorem("thm-3-printed")
@pytest.mark.parametrize(("mu", "D", "last"), [(1e-2, 20.0, 65), (1e-3, 200.0, 582)])
def test_ce_e_prime_the_printed_bound_is_negative_for_long(mu, D, last):
    k = np.arange(1, 3000)
    for f0 in (0.0, mu * D**2 / 2, D**2 / 2):  # whatever f(x_bar_0) of a problem with M = L D
        printed = bounds.theorem3_printed(k, mu=mu, L=1.0, D=D, M=D, f_x_bar0=f0)
        assert k[printed < 0].tolist() == list(range(1, last + 1))


@pytest.mark.theorem("thm-3-printed")
def test_ce_f_theorem_3_has_no_constant_of_the_chain():
    k = 4211
    value = frozen_gap(1.0, 1.0, 1e-6, k)
    bound = bounds.theorem3_printed(k, mu=1.0, L=1.0, D=1.0, M=2.0, f_x_bar0=1.0)
    assert value == pytest.approx(0.4979, abs=5e-5)
    assert bound < 0.45 < value
    # The corrected theorem knows the chain: its bound is trivial here, as it must be.
    slow = two_state(1e-6, 1e-6)
    known = {"mu": 1.0, "L": 1.0, "r0": 1.0, "B": 2.0, "sigma": 1.0, "M": 2.0, "ell": 0.0}
    assert bounds.theorem3(k, T=slow.mixing_sum, **known) > 2.0
    # Almost surely (no expectation), it fails even for i.i.d. samples: the path of all + has
    # probability 2^-k > 0 and a gap of 1/2.
    assert bound < 0.5


@pytest.mark.theorem("lem-2-printed")
def test_ce_g_the_printed_lemma_2_is_false():
    """f' = min(4, x + 20) on [-20, 20], from x_0 = 20, without noise, one step."""
    D, L, M, gamma = 20.0, 1.0, 4.0, 0.25
    problem, steps = problems.clipped_linear(M, L, D), theorem2(L, 0.0)
    assert steps.gamma(1) == gamma
    check_steps(steps, 50, conditions=("C1", "C2"), L=L)  # the hypotheses of the lemma
    value = gap(problem, noiseless(problem, steps, [D], 1, x_bar0=[-D]))[0]
    f_x_bar0, alpha0_over_gamma0 = float(problem.value([-D])), 4.0
    noise = 4 * M**2 * gamma / (1 - L * gamma)
    printed = (f_x_bar0 + alpha0_over_gamma0 * D) + noise  # Gamma_1 = Gamma_0 = alpha_1 = 1
    assert value == pytest.approx(148.0, abs=1e-10)
    assert printed == pytest.approx(101.33, abs=5e-3)
    assert value > printed
    # With V(x_0, x*) = (2 D)^2 / 2 in place of D, the weight of Lemma 2' holds.
    assert value <= bounds.lemma2_excess(1, steps=steps) * (2 * D) ** 2 / 2


@pytest.mark.theorem("lem-2-printed")
def test_the_withdrawn_example_does_not_refute_lemma_2():
    """f = x^2/2 on [-20, 20] forces M >= 20, and the 4 M^2 term then saves the printed lemma."""
    D, L, M, gamma = 20.0, 1.0, 20.0, 0.25
    problem = problems.Quadratic([L], domain=interval(D))
    value = gap(problem, noiseless(problem, theorem2(L, 0.0), [D], 1, x_bar0=[0.0]))[0]
    assert value == pytest.approx(112.5)
    printed = 0.0 + 4.0 * D + 4 * M**2 * gamma / (1 - L * gamma)
    assert printed == pytest.approx(613.3, abs=0.05)


@pytest.mark.theorem("lem-2-printed")
def test_ce_h_x_bar_0_never_enters():
    problem = problems.Quadratic([1.0], domain=interval(20.0))
    for x_bar0 in (0.0, 20.0, -20.0):
        x_bar = noiseless(problem, theorem2(1.0, 0.0), [20.0], 5, x_bar0=[x_bar0])[-1, 0]
        assert x_bar == pytest.approx(0.324479, abs=5e-7)


@pytest.mark.theorem("prop-b")
@pytest.mark.theorem("prop-a")
@pytest.mark.theorem("thm-2")
@pytest.mark.parametrize(
    ("k", "printed_ratio", "sharp_ratio"),
    [(10, 1.502, 0.876), (100, 1.315, 0.9867), (1000, 1.238, 0.9987), (10_000, 1.212, 0.99987)],
)
def test_proposition_b_and_the_sharp_constant_of_theorem_2(k, printed_ratio, sharp_ratio):
    L = D = 1.0
    slope = L * D / math.sqrt(k + 1)
    problem = problems.Linear([[slope]], domain=interval(D))
    lower = bounds.proposition_b(k, L=L, D=D)
    value = gap(problem, noiseless(problem, theorem2_printed(L), [D], k))[-1]
    assert value >= lower
    assert value / lower == pytest.approx(printed_ratio, abs=5e-4)
    known = {"L": L, "B": 2 * D, "sigma": 0.0, "M": 1.0, "ell": 0.0, "T": 0.0}
    upper = bounds.proposition_a(k, **known)
    assert value <= upper
    assert upper == pytest.approx(8 * lower, rel=1e-12)  # tight up to this factor
    # The corrected steps, on the same problem and on the one that shows that 4 is sharp.
    nesterov = bounds.theorem2(k, r0=2 * D, **known)
    assert gap(problem, noiseless(problem, theorem2(L, 0.0), [D], k))[-1] <= nesterov
    worst = problems.Linear([[16 * L * D / k**2]], domain=interval(D))
    value = gap(worst, noiseless(worst, theorem2(L, 0.0), [D], k))[-1]
    assert value / nesterov == pytest.approx(sharp_ratio, abs=1e-4)
    assert value <= nesterov


# --- The conditions that the printed steps break -------------------------------------------------


def breaks_c1(steps, k, L):
    return L * steps.alpha(k) * steps.gamma(k) >= 1 + steps.mu * steps.gamma(k)


@pytest.mark.theorem("lem-2")
def test_theorem_2_steps_break_c2_at_every_k():
    k = np.arange(2, 5000)
    assert np.all(bounds.lemma2_excess(k, steps=theorem2_printed(0.7)) > 0)
    assert not breaks_c1(theorem2_printed(0.7), np.arange(1, 5000), 0.7).any()
    assert bounds.lemma2_excess(k, steps=theorem2(0.7, 0.0)).max() < 1e-8  # (C2) with equality
    for kappa in (1.0, 10.0, 1e4):
        steps = theorem3(1 / kappa, 1.0)
        assert bounds.lemma2_excess(k, steps=steps).max() < 1e-8
        assert not breaks_c1(steps, np.arange(1, 5000), 1.0).any()


@pytest.mark.theorem("lem-2")
@pytest.mark.parametrize(("denominator", "excess"), [("k", 0.5), ("k+1", 1.0)])
def test_theorem_3_steps_break_c2_by_a_constant(denominator, excess):
    mu = 0.3
    steps = theorem3_printed(mu, denominator)
    k = np.arange(2, 2000)
    np.testing.assert_allclose(bounds.lemma2_excess(k, steps=steps), excess * mu, rtol=1e-6)
    # With the delta of the experiments (k+1) the excess grows linearly: mu (k/delta - k + 1).
    if denominator == "k+1":
        slow = theorem3_printed(mu, denominator, 0.1)
        expected = mu * (k / 0.1 - k + 1)
        np.testing.assert_allclose(bounds.lemma2_excess(k, steps=slow), expected, rtol=1e-6)


@pytest.mark.theorem("prop-c")
@pytest.mark.parametrize(("denominator", "shift"), [("k", 2), ("k+1", 3)])
def test_theorem_3_steps_break_c1_up_to_two_root_kappa(denominator, shift):
    k = np.arange(1, 3000)
    for kappa in (1.2, 1.49, 1.51, 1.99, 2.01, 10.0, 1e4, 1e6):
        broken = breaks_c1(theorem3_printed(1 / kappa, denominator), k, 1.0)
        expected = (k + 1.0) * (k + shift) <= 4 * kappa
        np.testing.assert_array_equal(broken, expected)
        if denominator == "k" and kappa == 1e4:
            assert k[broken].tolist() == list(range(1, 199))
        assert broken.any() == (kappa > (1.5 if denominator == "k" else 2.0))


@pytest.mark.theorem("prop-flattest")
@pytest.mark.parametrize("delta", [0.7, 0.5, 0.1])
def test_the_flattest_direction(delta):
    """The product for x_k, and the limit of k^(4 delta) f(x_bar_k)."""
    mu, x0, n = 0.3, 2.0, 4000
    problem, steps = problems.Quadratic([mu]), theorem3_printed(mu, "k+1", delta)
    x = x_bar = np.array([x0])
    product, scaled = x0, {}
    limit = mu / 2 * (math.gamma(2 + 2 * delta) / (1 - delta) * x0) ** 2
    for k in range(1, n + 1):
        _, _, x, x_bar = step2(problem, steps, k, x, x_bar, np.array(0))
        product *= (k + 1) / (k + 1 + 2 * delta)
        assert x[0] == pytest.approx(product, rel=1e-11)
        scaled[k] = k ** (4 * delta) * float(problem.value(x_bar))
    errors = [abs(scaled[k] / limit - 1) for k in (1000, 2000, 4000)]
    assert errors[0] > errors[1] > errors[2]
    # x_bar_k - its limit falls at the slower of 1/k and k^(2 delta - 2).
    assert errors[2] < 60 * max(n ** (2 * delta - 2), 1 / n)


@pytest.mark.theorem("prop-family")
def test_the_steps_with_no_excess():
    k = np.arange(1, 400)
    rng = np.random.default_rng(601)
    for _ in range(50):
        mu, L = np.sort(10 ** rng.uniform(-3, 1, 2))
        c = L * rng.uniform(1, 20)
        rule = StepSizes(
            "family",
            lambda k: 2 / (k + 1),
            lambda k: 2 / (k + 1),
            lambda k, mu=mu, c=c: 1 / (mu * (k - 1) / 2 + c / k),
            mu,
            "convex",
        )
        gamma = rule.gamma(k)
        # (C2) multiplied out: k / gamma_k = (k - 1) (1 / gamma_{k-1} + mu); it has one solution.
        np.testing.assert_allclose(k[1:] / gamma[1:], k[:-1] * (1 / gamma[:-1] + mu), rtol=1e-10)
        assert 1 / gamma[0] == pytest.approx(c)
        if c >= 4 * L:
            assert np.all(L * rule.alpha(k) * gamma < 0.5)
            assert not breaks_c1(rule, k, L).any()


@pytest.mark.parametrize("delta", [1.0, 0.5, 0.1])
def test_a_step_shrunk_by_delta_costs_the_rate(delta):
    """f = (mu/2) x^2, no noise, gamma_k = 2 delta / (mu (k+1)): the gap falls as k^(-4 delta)."""
    problem = problems.Quadratic([1.0])
    path = noiseless(problem, theorem3_printed(1.0, "k+1", delta), [1.0], 4000)
    value = gap(problem, path)
    slopes = [math.log2(value[2 * k - 1] / value[k - 1]) for k in (500, 1000, 2000)]
    errors = np.abs(np.array(slopes) + 4 * delta)
    assert errors[-1] < 0.1 * 4 * delta
    assert errors[0] > errors[1] > errors[2]  # and -4 delta is the limit


def test_without_the_ball_the_printed_theorem_3_steps_explode():
    """kappa = 10^4, 10 eigenvalues, no noise, no projection: log10 of the gap."""
    eigenvalues = np.logspace(-4, 0, 10).astype(np.longdouble)
    problem = LongQuadratic(eigenvalues)
    steps = theorem3_printed(1e-4)
    x = x_bar = np.full(10, np.longdouble(10) / np.sqrt(np.longdouble(10)))
    assert float(problem.value(x)) == pytest.approx(7.8, abs=0.05)
    expected = {1: 8.37, 2: 15.39, 5: 34.87, 100: 323.7, 1000: 258.7}
    for k in range(1, 1001):
        _, _, x, x_bar = step2(problem, steps, k, x, x_bar, 0)
        if k in expected:
            assert float(np.log10(problem.value(x_bar))) == pytest.approx(expected[k], abs=0.05)


class LongQuadratic:
    """A diagonal quadratic in extended precision: the gap above exceeds the range of float64."""

    def __init__(self, eigenvalues):
        self.eigenvalues = eigenvalues

    def value(self, x):
        return (self.eigenvalues * x * x).sum() / 2

    def sample_gradient(self, x, xi):
        return self.eigenvalues * x

    def project(self, x):
        return x


# --- Printed against corrected on ordinary problems ----------------------------------------------


@pytest.mark.theorem("thm-3-printed")
def test_printed_theorem_3_fails_on_ordinary_problems():
    """The negative logarithm alone: no noise, unit ball, mu = 0.05, L = 1, d = 1."""
    problem = problems.Quadratic([1.0, 0.05], domain=problems.Ball(1.0))
    k = np.arange(1, 60)
    printed = bounds.theorem3_printed(k, mu=0.05, L=1.0, D=1.0, M=1.0, f_x_bar0=0.5)
    measured = gap(problem, noiseless(problem, theorem3_printed(0.05), [1.0, 0.0], 59))
    broken = violated(measured, printed)
    assert broken == list(range(1, len(broken) + 1))
    assert len(broken) > 10
