"""Finite chains: exact answers, brute force, properties on random chains, bad input, sampling."""

from __future__ import annotations

import copy
import decimal
import itertools
import math
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.linalg import block_diag
from scipy.sparse import (
    coo_array,
    csc_matrix,
    csr_array,
    diags_array,
    dok_array,
    issparse,
    kron,
    lil_array,
)
from scipy.stats import chisquare

from amgd import markov
from amgd.markov import (
    MarkovChain,
    de_bruijn,
    iid,
    lazy_cycle,
    sticky,
    two_clusters,
    two_state,
)


def random_chain(n, seed, concentration=0.5):
    rng = np.random.default_rng(seed)
    return MarkovChain(rng.dirichlet(np.full(n, concentration), size=n))


def directed_cycle(n, stay):
    return MarkovChain(stay * np.eye(n) + (1 - stay) * np.roll(np.eye(n), 1, axis=1))


def birth_death(n, up, down):
    matrix = np.zeros((n, n))
    for i in range(n):
        matrix[i, min(i + 1, n - 1)] += up
        matrix[i, max(i - 1, 0)] += down
        matrix[i, i] += 1 - up - down
    return MarkovChain(matrix)


def kmr(n, p, eps):
    """Best replies of n players in a coordination game, one revising at a time (KMR 1993)."""
    matrix = np.zeros((n + 1, n + 1))
    for x in range(n + 1):
        adjust = lambda y: eps / 2 if y < p else (1 - eps if y > p else 0) + eps / 2  # noqa: E731
        if x > 0:
            matrix[x, x - 1] = x / n * (1 - adjust((x - 1) / (n - 1)))
        if x < n:
            matrix[x, x + 1] = (n - x) / n * adjust(x / (n - 1))
        matrix[x, x] = 1 - matrix[x].sum()
    return MarkovChain(matrix)


def brute_distances(chain, count):
    """d(1), ..., d(count) by plain multiplication."""
    power, out = np.eye(chain.n_states), []
    for _ in range(count):
        power = power @ chain.transition
        out.append(0.5 * np.abs(power - chain.stationary).sum(axis=1).max())
    return np.array(out)


# ------------------------------------------------------------------ structure and exact answers

STRUCTURE = {
    "one state": ([[1]], [(0,)], [(0,)], 1, [1], True),
    "flip": ([[0, 1], [1, 0]], [(0, 1)], [(0, 1)], 2, [1 / 2, 1 / 2], True),
    "weather": ([[0.4, 0.6], [0.2, 0.8]], [(0, 1)], [(0, 1)], 1, [1 / 4, 3 / 4], True),
    "rotation": (np.roll(np.eye(3), 1, 1), [(0, 1, 2)], [(0, 1, 2)], 3, [1 / 3] * 3, False),
    "absorbing": ([[1, 0], [0.5, 0.5]], [(0,), (1,)], [(0,)], 1, [1, 0], False),
    "identity": (np.eye(2), [(0,), (1,)], [(0,), (1,)], 1, None, False),
    "transient first": (
        [[0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]],
        [(0,), (1, 2)],
        [(1, 2)],
        2,
        [0, 1 / 2, 1 / 2],
        False,
    ),
    "periods 2 and 3": (
        block_diag(np.roll(np.eye(2), 1, 1), np.roll(np.eye(3), 1, 1)),
        [(0, 1), (2, 3, 4)],
        [(0, 1), (2, 3, 4)],
        6,
        None,
        False,
    ),
    "cycles of 4 and 6": (
        # 0-1-2-3-0 and 0-1-2-3-4-5-0 have lengths 4 and 6
        [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0],
         [0.5, 0, 0, 0, 0.5, 0], [0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0]],
        [tuple(range(6))],
        [tuple(range(6))],
        2,
        [1 / 5] * 4 + [1 / 10] * 2,
        False,
    ),
    "labels out of order": (
        [[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [1, 0, 0, 0], [0, 0, 0.5, 0.5]],
        [(0, 2), (1,), (3,)],
        [(0, 2)],
        1,
        [2 / 3, 0, 1 / 3, 0],
        False,
    ),
}  # fmt: skip


FORMS = [np.asarray, csr_array, coo_array, csc_matrix, dok_array, lil_array]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(name, form):
    matrix, classes, recurrent, period, law, reversible = STRUCTURE[name]
    chain = MarkovChain(form(matrix))
    assert issparse(chain.transition) == (form is not np.asarray)
    assert chain.communicating_classes == tuple(classes)
    assert chain.recurrent_classes == tuple(recurrent)
    assert chain.is_irreducible == (len(classes) == 1)
    assert chain.period == period
    assert chain.is_aperiodic == (period == 1)
    assert chain.is_reversible is reversible
    if law is None:
        for ask in ("stationary", "poisson_mixing"):
            with pytest.raises(ValueError, match=r"recurrent classes \{0.*\}.*one class at a time"):
                getattr(chain, ask)
        states = recurrent[1]  # the cure that the message names
        assert MarkovChain(chain.transition[np.ix_(states, states)]).stationary.sum() == 1
    else:
        np.testing.assert_allclose(chain.stationary, law, rtol=1e-15, atol=0)


@pytest.mark.parametrize("seed", range(20))
def test_period_against_powers_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    order = rng.permutation(n)
    support = np.roll(np.eye(n), 1, 1)[np.ix_(order, order)] + (rng.random((n, n)) < 0.05)
    chain = MarkovChain(support / support.sum(axis=1, keepdims=True))
    returns, reach = [], np.eye(n, dtype=int)
    for k in range(1, 3 * n * n):
        reach = ((reach @ (chain.transition > 0)) > 0).astype(int)
        if reach[0, 0]:
            returns.append(k)
    assert chain.period == math.gcd(*returns)


REVERSIBLE = [
    (lambda: two_state(0.2, 0.9), True),
    (lambda: lazy_cycle(7), True),
    (lambda: birth_death(12, 0.6, 0.3), True),
    (lambda: kmr(12, 1 / 3, 1e-6), True),
    (lambda: iid([0.1, 0.2, 0.7]), True),
    (lambda: directed_cycle(4, 0.1), False),
    (lambda: random_chain(5, 0), False),
]


@pytest.mark.parametrize(("make", "expected"), REVERSIBLE)
def test_reversible(make, expected):
    chain = make()
    assert chain.is_reversible is expected
    assert MarkovChain(csr_array(chain.transition)).is_reversible is expected


# ------------------------------------------------------------------ stationary law


def exact_law(matrix):
    """Rational stationary law of the chain with these off-diagonal entries."""
    n = len(matrix)
    p = [[Fraction(float(v)) for v in row] for row in matrix]
    for i in range(n):
        p[i][i] = 1 - sum(p[i][j] for j in range(n) if j != i)
    rows = [[p[i][j] - (i == j) for i in range(n)] for j in range(n - 1)] + [[Fraction(1)] * n]
    right = [Fraction(0)] * (n - 1) + [Fraction(1)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if rows[r][c])
        rows[c], rows[pivot], right[c], right[pivot] = rows[pivot], rows[c], right[pivot], right[c]
        for r in range(c + 1, n):
            f = rows[r][c] / rows[c][c]
            if f:
                rows[r] = [a - f * b for a, b in zip(rows[r], rows[c], strict=True)]
                right[r] -= f * right[c]
    law = [Fraction(0)] * n
    for c in range(n - 1, -1, -1):
        law[c] = (right[c] - sum(rows[c][j] * law[j] for j in range(c + 1, n))) / rows[c][c]
    return law


ILL_CONDITIONED = {
    "two_state": lambda: two_state(1e-12, 1e-9),
    "two_state near flip": lambda: two_state(1 - 1e-9, 1 - 1e-12),
    "two_state 1e-200": lambda: two_state(1e-200, 3e-200),
    "two_clusters": lambda: two_clusters(6, 1e-10),
    "kmr 3": lambda: kmr(3, 1 / 3, 1e-14),
    "kmr 12": lambda: kmr(12, 1 / 3, 1e-10),
    "kmr 27": lambda: kmr(27, 1 / 3, 1e-2),
    "birth death": lambda: birth_death(20, 0.9, 1e-6),
    "nearly decomposable": lambda: MarkovChain(
        [[0.7, 0.3 - 1e-11, 1e-11], [0.4, 0.6 - 2e-13, 2e-13], [1e-15, 3e-14, 1 - 3.1e-14]]
    ),
    "random sparse": lambda: random_chain(9, 3, 0.05),
    "random": lambda: random_chain(12, 4),
}


@pytest.mark.parametrize("name", ILL_CONDITIONED)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("blocks", [(64,), (2,), (1,)])
def test_stationary_componentwise_against_rationals(name, form, blocks, monkeypatch):
    monkeypatch.setattr(markov, "_BLOCKS", blocks)
    matrix = ILL_CONDITIONED[name]().transition
    law = MarkovChain(form(matrix)).stationary
    for computed, exact in zip(law, exact_law(matrix), strict=True):
        assert abs(Fraction(float(computed)) - exact) <= Fraction(1e-12) * exact


def decimal_law(matrix):
    """The law to 50 digits and more: elimination of one state after the other, in decimals."""
    with decimal.localcontext(prec=60):
        work = np.array([[decimal.Decimal(v) for v in row] for row in matrix.tolist()])
        for k in range(len(work) - 1, 0, -1):
            work[:k, k] /= sum(work[k, :k])
            work[:k, :k] += np.multiply.outer(work[:k, k], work[k, :k])
        law = [decimal.Decimal(1)]
        for k in range(1, len(work)):
            law.append(sum(law * work[:k, k]))
        return [float(entry / sum(law)) for entry in law]


def clusters(size, count, coupling, seed):
    """Groups of states that hardly ever meet, each with its own way of leaving."""
    rng = np.random.default_rng(seed)
    n = size * count
    matrix = coupling * rng.random((n, n)) ** 8
    for c in range(count):
        own = slice(c * size, (c + 1) * size)
        matrix[own, own] = rng.dirichlet(np.full(size, 0.1), size=size) + 1e-12
    return MarkovChain(matrix / matrix.sum(axis=1, keepdims=True))


def scales(n, seed):
    """Transitions of all sizes from 1 to 1e-14."""
    rng = np.random.default_rng(seed)
    matrix = 10.0 ** -rng.uniform(0, 14, (n, n)) * (rng.random((n, n)) < 0.1)
    matrix += 10.0 ** -rng.uniform(0, 14, n)[:, None] * np.roll(np.eye(n), 1, axis=1)
    return MarkovChain(matrix / matrix.sum(axis=1, keepdims=True))


SEVERAL_BLOCKS = {
    "random": lambda: random_chain(140, 0, 0.02),
    "clusters": lambda: clusters(45, 3, 1e-11, 1),
    "clusters, larger": lambda: clusters(70, 2, 1e-8, 2),
    "scales": lambda: scales(130, 3),
    "kmr": lambda: kmr(129, 1 / 3, 1e-2),
    "birth and death": lambda: birth_death(150, 0.5, 1e-4),
    "more than a float holds in a block": lambda: birth_death(100, 1e-7, 0.9),
    "more in eight states": lambda: birth_death(70, 1e-60, 0.9),
}


@pytest.mark.parametrize("name", SEVERAL_BLOCKS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_stationary_componentwise_of_chains_with_several_blocks(name, form):
    matrix = SEVERAL_BLOCKS[name]().transition
    order = np.random.default_rng(5).permutation(len(matrix))
    law, exact = MarkovChain(form(matrix[np.ix_(order, order)])).stationary, decimal_law(matrix)
    for computed, expected in zip(law, np.array(exact)[order], strict=True):
        assert abs(computed - expected) <= 1e-12 * expected or expected < 1e-290


@pytest.mark.parametrize(
    "make",
    [
        lambda: metropolis(3, 200),
        lambda: random_chain(300, 1, 0.05),
        lambda: birth_death(500, 0.3, 0.3),
        lambda: kmr(200, 0.4, 0.1),
    ],
)
def test_blocks_of_any_size_give_the_same_law(make, monkeypatch):
    matrix = make().transition
    laws = []
    for block in (1, 7, 64, 1000):
        monkeypatch.setattr(markov, "_BLOCKS", (block,))
        laws.append(MarkovChain(matrix).stationary)
        laws.append(MarkovChain(csr_array(matrix)).stationary)
    for law in laws[1:]:
        np.testing.assert_allclose(law, laws[0], rtol=2e-13, atol=1e-290)


def torus_walk(side, law):
    """Metropolis walk on a torus with this law."""
    n = side * side
    ring = csr_array(np.roll(np.eye(side), 1, axis=1) + np.roll(np.eye(side), -1, axis=1))
    links = (kron(ring, np.eye(side)) + kron(np.eye(side), ring)).tocoo()
    rates = 0.2 * np.minimum(1.0, law[links.col] / law[links.row])
    matrix = csr_array((rates, (links.row, links.col)), shape=(n, n))
    return MarkovChain(matrix + diags_array(1.0 - matrix.sum(axis=1)))


def test_stationary_of_a_large_sparse_chain_whose_law_is_known():
    law = np.exp(np.random.default_rng(0).normal(size=2500).cumsum())
    law /= law.sum()
    assert law.min() < 1e-25
    chain = torus_walk(50, law)
    np.testing.assert_allclose(chain.stationary, law, rtol=1e-12)
    assert chain.is_reversible
    assert chain.is_irreducible
    assert chain.period == 1


UNIFORM = {
    "de Bruijn": lambda: de_bruijn(6),
    "cycle": lambda: lazy_cycle(9),
    "clusters": lambda: two_clusters(6, 1e-13),
    "rotation": lambda: MarkovChain(np.roll(np.eye(7), 3, axis=1)),
}


@pytest.mark.parametrize("name", UNIFORM)
def test_a_balanced_sparse_chain_has_exactly_the_uniform_law(name):
    matrix = UNIFORM[name]().transition
    assert (MarkovChain(csr_array(matrix)).stationary == 1 / len(matrix)).all()


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_law_beyond_floats_is_right_or_refused(order, form):
    """State i has mass 1e-200**i: some passages are too rare for a float."""
    matrix = np.eye(4, k=1) * 1e-200
    matrix[:, 0] = 1
    chain = MarkovChain(form(matrix[np.ix_(order, order)]))
    try:
        law = chain.stationary
    except ValueError as error:
        assert "beyond floating point: passages" in str(error)  # noqa: PT017
    else:
        assert law.tolist() == [(1, 1e-200, 0, 0)[i] for i in order]


def test_nearly_balanced_is_not_balanced():
    """Column sums are one to the last digit, and the law is (3/4, 1/4)."""
    matrix = [[1 - 1e-17, 1e-17], [3e-17, 1 - 3e-17]]
    law = MarkovChain(csr_array(matrix)).stationary
    np.testing.assert_allclose(law, [0.75, 0.25], rtol=1e-15)


def test_stationary_beyond_the_range_of_floats():
    law = birth_death(400, 0.9, 0.01).stationary
    assert law[0] == 0.0
    assert law[-1] == pytest.approx(1 - 1 / 90, rel=1e-13)
    law = birth_death(400, 0.01, 0.9).stationary
    assert law[-1] == 0.0
    assert law[0] == pytest.approx(1 - 1 / 90, rel=1e-13)


# ------------------------------------------------------------------ mixing: closed forms

# name: chain, d(k), T, C*
CLOSED = {
    "two_state .05 .05": (two_state(0.05, 0.05), lambda k: 0.5 * 0.9**k, 4.5, -1 / math.log(0.9)),
    "two_state .01 .03": (two_state(0.01, 0.03), lambda k: 0.75 * 0.96**k, 18, -1 / math.log(0.96)),
    "two_state negative": (two_state(0.95, 0.9), lambda k: 0.95 / 1.85 * 0.85**k,
                           0.95 / 1.85 * 0.85 / 0.15, -1 / math.log(0.85)),
    "two_state iid": (two_state(0.25, 0.75), lambda k: 0.75 * (k == 0), 0, 0),
    "iid": (iid([0.2, 0.3, 0.5]), lambda k: 0.8 * (k == 0), 0, 0),
    "iid uneven": (iid([1e-9, 1 / 3, 2 / 3 - 1e-9]), lambda k: (1 - 1e-9) * (k == 0), 0, 0),
    "sticky": (sticky([0.2, 0.3, 0.5], 0.1), lambda k: 0.8 * 0.9**k, 7.2, -1 / math.log(0.9)),
    "sticky p=1": (sticky([0.2, 0.3, 0.5], 1), lambda k: 0.8 * (k == 0), 0, 0),
    "de_bruijn 5": (de_bruijn(5), lambda k: max(0, 1 - 2.0 ** (k - 5)), 3 + 2**-4, None),
    "de_bruijn 8": (de_bruijn(8), lambda k: max(0, 1 - 2.0 ** (k - 8)), 6 + 2**-7,
                    1 / math.log(256 / 254)),
    "one state": (MarkovChain([[1]]), lambda k: 0, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms(name):
    chain, distance, total, constant = CLOSED[name]
    ks = np.array([0, 1, 2, 3, 5, 8, 13, 40])
    expected = [distance(int(k)) for k in ks]
    np.testing.assert_allclose(chain.tv_distance(ks), expected, rtol=1e-12, atol=0)
    assert chain.mixing_sum == pytest.approx(total, rel=1e-12, abs=0)
    assert chain.mixing_sum_error <= 1e-12 * total
    if constant is not None:
        assert chain.mixing_constant == pytest.approx(constant, rel=1e-9, abs=0)
    for delta in (1.0, 0.6, 0.3, 0.07, 1e-2, 1e-5):
        first = next(k for k in range(1, 1000) if distance(k) <= delta * (1 + 1e-12))
        assert chain.mixing_time(delta) == first


def test_two_clusters_closed_form():
    chain = two_clusters(8, 0.01)
    ks = np.arange(1, 60)
    np.testing.assert_allclose(chain.tv_distance(ks), 0.5 * 0.98**ks, rtol=1e-12)
    assert chain.tv_distance(0) == 1 - 1 / 8


# Rows of the table in section "how to compute the mixing constant": 1/log(1/rho), C*, T, t_mix(.01)
TABLE = {
    "two_state .05 .05": (two_state(0.05, 0.05), 9.491, 9.491, 4.5, 38),
    "two_state .01 .03": (two_state(0.01, 0.03), 24.497, 24.497, 18, 106),
    "lazy cycle 12": (lazy_cycle(12), 14.422, 14.422, 9.153, 60),
    "directed cycle 8": (directed_cycle(8, 0.1), 36.927, 36.927, 24.546, 154),
    "two clusters": (two_clusters(8, 0.01), 49.498, 49.498, 24.5, 194),
    "de Bruijn 5": (de_bruijn(5), 0, 15.495, 3.0625, 5),
    "de Bruijn 8": (de_bruijn(8), 0, 127.499, 6.008, 8),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name):
    chain, limit, constant, total, time = TABLE[name]
    rho = chain.second_modulus
    assert (1 / math.log(1 / rho) if rho else 0) == pytest.approx(limit, abs=6e-4)
    assert chain.mixing_constant == pytest.approx(constant, abs=6e-4)
    assert chain.mixing_constant_error <= 1e-9 * constant
    assert chain.mixing_sum == pytest.approx(total, abs=6e-4)
    assert chain.mixing_time(0.01) == time


SLOW = [(1e-9, 1e-9), (1e-12, 1e-9), (1e-6, 3e-6), (1 - 1e-6, 1 - 2e-6), (1e-200, 2e-200)]


@pytest.mark.parametrize(("p", "q"), SLOW)
def test_slow_two_state_exact(p, q):
    chain = two_state(p, q)
    # The entries below the diagonal's rounding are the data: 1 - p is not p's complement in floats.
    small = [min(row, key=float) for row in chain.transition]
    gap = float(Fraction(small[0]) + Fraction(small[1]))  # 1 - |1 - p - q|
    top = max(p, q) / (p + q)
    assert chain.mixing_sum == pytest.approx(top * (1 - gap) / gap, rel=1e-11)
    assert chain.mixing_sum_error <= 1e-11 * chain.mixing_sum
    assert chain.mixing_constant == pytest.approx(-1 / math.log1p(-gap), rel=1e-11)
    expected = math.log(top / 0.01) / -math.log1p(-gap)
    assert chain.mixing_time(0.01) == pytest.approx(expected, rel=1e-11, abs=1)


def test_slow_clusters():
    chain = two_clusters(8, 1e-10)
    assert chain.mixing_sum == pytest.approx(0.5 * (1 - 2e-10) / 2e-10, rel=1e-11)
    assert chain.mixing_time(0.01) == pytest.approx(
        math.log(50) / -math.log1p(-2e-10), rel=1e-11, abs=1
    )
    assert chain.mixing_constant == pytest.approx(-1 / math.log1p(-2e-10), rel=1e-11)


@pytest.mark.parametrize(
    "make",
    [lambda: directed_cycle(3, 1e-4), lambda: directed_cycle(3, 1 - 2e-4), lambda: lazy_cycle(12)],
)
def test_block_sum_brackets_the_plain_sum(make, monkeypatch):
    """The route for slow chains, on chains that plain addition can still check."""
    chain = make()
    value, error = chain._block_sum(chain.tv_distance(1), chain._dyadic(1), 2000)
    step, power, plain = chain.transition - chain.stationary, None, []
    power = step
    while not plain or plain[-1] > 1e-9:
        plain.append(0.5 * np.abs(power).sum(axis=1).max())
        power = power @ step
    assert abs(math.fsum(plain) - value) <= error + 1e-8 * value
    assert error <= 0.05 * value


def metropolis(seed, n, slow=1.0):
    """A reversible chain: random proposals, thinned so that its law is a given one."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(n, 5.0))
    proposal = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    proposal = (proposal + proposal.T + np.eye(n, k=1) + np.eye(n, k=-1)) / (2 * n)
    matrix = slow * proposal * np.minimum(1, law[None, :] / law[:, None])
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    return MarkovChain(matrix)


SPECTRAL = {
    "random": lambda: metropolis(0, 9),
    "random, slow": lambda: metropolis(1, 6, slow=0.05),
    "two states": lambda: two_state(0.02, 0.05),
    "alternating": lambda: two_state(0.99, 0.97),
    "equal slow modes": lambda: lazy_cycle(12),
    "all modes equal": lambda: sticky([0.2, 0.3, 0.5], 0.05),
    "modes +rho and -rho": lambda: MarkovChain(
        np.kron(two_state(0.5, 0.5).transition, [[0.02, 0.98], [0.98, 0.02]])),
    "birth and death": lambda: birth_death(8, 0.3, 0.3),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECTRAL)
def test_spectral_sum_is_the_plain_sum(name):
    """The route for slow reversible chains, on chains that powers can still check."""
    chain = SPECTRAL[name]()
    assert chain.is_reversible
    found = chain._spectral_sum(0)
    assert found is not None
    assert found[1] <= 1e-12 * chain.mixing_sum
    assert found[0] == pytest.approx(chain.mixing_sum, rel=2e-12)
    assert chain._spectral_sum(10**7) is None  # powers reach as far


def test_spectral_sum_declines_what_it_cannot_do_well():
    assert two_state(1e-6, 0.5)._spectral_sum(0) is None  # masses too far apart
    assert two_state(1e-9, 1e-9)._spectral_sum(0) is None  # too slow for the digits
    assert lazy_cycle(500)._spectral_sum(0) is None  # too long


def test_sum_of_a_slow_cycle_by_its_fourier_series():
    n = 120
    m, x = np.arange(1, n), np.arange(n)
    values = np.cos(np.pi * m / n) ** 2
    waves = np.cos(2 * np.pi * np.outer(m, x) / n) / n
    times = np.arange(1, 34 * n**2 // 10)
    modes = np.abs(values[:, None]) ** np.arange(1, len(times), 512) > 1e-18
    total = 0.0
    for block, start in enumerate(range(1, len(times), 512)):
        keep = modes[:, block]
        powers = values[keep] ** np.arange(start, start + 512)[:, None]
        total += 0.5 * np.abs(powers @ waves[keep]).sum()
    chain = lazy_cycle(n)
    assert chain.mixing_sum == pytest.approx(total, rel=1e-11)
    assert chain.mixing_sum_error <= 1e-12 * total


def test_threads_share_a_chain(monkeypatch):
    """Threads that build the powers of one chain at the same time build the same powers."""
    matrix = metropolis(2, 20, slow=0.1).transition
    ks = [1, 2**10, 2**11 + 3]
    expected = MarkovChain(matrix).tv_distance(ks).tolist()
    multiply = MarkovChain._multiply

    def slow_multiply(self, left, right):
        result = multiply(self, left, right)
        time.sleep(0.002)
        return result

    monkeypatch.setattr(MarkovChain, "_multiply", slow_multiply)
    chain = MarkovChain(matrix)
    with ThreadPoolExecutor(8) as pool:
        found = [curve.tolist() for curve in pool.map(chain.tv_distance, [ks] * 8)]
    assert found == [expected] * 8
    assert chain.tv_distance(ks).tolist() == expected


def test_constant_of_a_chain_with_a_tiny_state():
    # d(1) = 1 - 2 min(pi): the constant is about 1/(2 min(pi)), far above the relaxation time
    chain = birth_death(30, 0.6, 0.3)
    overlap = float(np.minimum(chain.transition, chain.stationary).sum(axis=1).min())
    assert chain.mixing_constant == pytest.approx(-1 / math.log1p(-overlap), rel=1e-12)


def test_nilpotent_chain_with_inexact_entries():
    # a window of three draws from (0.3, 0.7): exactly stationary after 3 steps, not in floats
    matrix = np.zeros((8, 8))
    for x in range(8):
        matrix[x, 2 * x % 8], matrix[x, (2 * x + 1) % 8] = 0.3, 0.7
    chain = MarkovChain(matrix)
    assert chain.tv_distance(2) == pytest.approx(0.7, rel=1e-14)
    assert chain.tv_distance([3, 4, 10**6]).tolist() == [0, 0, 0]
    assert chain.second_modulus == 0.0


def test_second_modulus_where_all_powers_fall_below_the_floor():
    # a strong drift: d(k) stays at one for 400 steps and is below rounding soon after
    n, up, down = 400, 0.9, 0.01
    expected = 1 - up - down + 2 * math.sqrt(up * down) * math.cos(math.pi / n)
    assert birth_death(n, up, down).second_modulus == pytest.approx(expected, rel=1e-10)
    assert birth_death(n, up, down).mixing_constant == math.inf


# ------------------------------------------------------------------ mixing: brute force, properties


@st.composite
def chains(draw):
    n = draw(st.integers(1, 6))
    weights = draw(hnp.arrays(float, (n, n), elements=st.floats(1e-3, 1)))
    zero = draw(hnp.arrays(bool, (n, n))) & ~np.eye(n, dtype=bool)
    weights[zero & (np.roll(np.eye(n), 1, axis=1) == 0)] = 0
    return MarkovChain(weights / weights.sum(axis=1, keepdims=True))


@settings(max_examples=60)
@given(chains())
def test_properties(chain):
    pi, p = chain.stationary, chain.transition
    np.testing.assert_allclose(pi @ p, pi, rtol=1e-13)
    assert pi.sum() == pytest.approx(1, rel=1e-15)
    assert (pi > 0).all()
    d = chain.tv_distance(np.arange(41))
    assert (np.diff(d) <= 1e-12 * d[:-1]).all()
    np.testing.assert_allclose(d[1:], brute_distances(chain, 40), rtol=1e-9, atol=1e-14)
    for s, t in ((1, 1), (3, 7), (10, 20)):
        assert d[s + t] <= 2 * d[s] * d[t] * (1 + 1e-12) + 1e-15
    for delta in (0.5, 0.1, 1e-6):
        k = chain.mixing_time(delta)
        assert chain.tv_distance(k) <= delta * (1 + 2e-12)
        assert k == 1 or chain.tv_distance(k - 1) > delta
    assert chain.mixing_sum * (1 + 1e-10) + 1e-14 >= chain.poisson_mixing
    assert chain.mixing_sum <= chain.mixing_constant * (1 + 1e-10)


@settings(max_examples=40)
@given(chains())
def test_sum_and_constant_against_brute_force(chain):
    count = chain.mixing_time(1e-10)
    d = chain.tv_distance(np.arange(1, min(count, 3000) + 1))
    if count <= 3000:
        assert chain.mixing_sum == pytest.approx(d.sum(), rel=1e-7, abs=1e-9)
    k = np.arange(1, len(d) + 1)
    with np.errstate(divide="ignore"):
        quotients = k / -np.log(d)
    constant, error = chain.mixing_constant, chain.mixing_constant_error
    assert quotients.max() <= constant * (1 + 1e-9) + error
    rho = max(np.sort(np.abs(np.linalg.eigvals(chain.transition - chain.stationary)))[-1], 1e-300)
    assert max(quotients.max(), 1 / -np.log(rho)) >= constant * (1 - 1e-6) - error


@pytest.mark.parametrize("n", [1, 2, 6, 20, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_chains_against_brute_force(n, seed):
    chain = random_chain(n, seed, 0.3)
    d = brute_distances(chain, 30)
    np.testing.assert_allclose(chain.tv_distance(np.arange(1, 31)), d, rtol=1e-10, atol=1e-14)
    for k in (1, 7, 22):
        assert chain.tv_distance(k) == pytest.approx(d[k - 1], rel=1e-10, abs=1e-14)


def test_tv_distance_shapes_and_order():
    chain = lazy_cycle(5)
    assert isinstance(chain.tv_distance(3), float)
    table = chain.tv_distance([[4, 1], [1, 0]])
    assert table.shape == (2, 2)
    assert table[0, 1] == table[1, 0] == chain.tv_distance(np.int32(1))
    assert table[1, 1] == 0.8
    assert chain.tv_distance([]).shape == (0,)
    assert chain.tv_distance(10**30) == 0.0


def test_distance_of_periodic_and_transient_chains():
    assert two_state(1, 1).tv_distance([0, 1, 2, 999]).tolist() == [0.5] * 4
    absorbing = MarkovChain([[1, 0], [0.25, 0.75]])
    np.testing.assert_allclose(absorbing.tv_distance([1, 2, 50]), [0.75, 0.75**2, 0.75**50])


def test_poisson_mixing_is_the_deviation_sum():
    chain = random_chain(6, 5)
    step = chain.transition - chain.stationary
    power, total = step, np.zeros((6, 6))
    for _ in range(400):
        total, power = total + power, power @ step
    # (I - P + 1 pi')^-1 - I is the sum of P^t - 1 pi' over t >= 1
    assert chain.poisson_mixing == pytest.approx(0.5 * np.abs(total).sum(axis=1).max(), rel=1e-12)


def test_law():
    chain = random_chain(5, 6)
    power = np.linalg.matrix_power(chain.transition, 9)
    np.testing.assert_allclose(chain.law(9, 3), power[3], rtol=1e-13)
    start = np.array([0.5, 0, 0, 0.25, 0.25])
    np.testing.assert_allclose(chain.law(9, start), start @ power, rtol=1e-13)
    assert chain.law(0, 2).tolist() == [0, 0, 1, 0, 0]
    assert MarkovChain(np.eye(2)).law(4, 1).tolist() == [0, 1]


def test_occupancy():
    chain = random_chain(5, 7)
    start = np.array([0.5, 0, 0, 0.25, 0.25])
    for first, law in ((2, np.eye(5)[2]), (start, start)):
        laws = [law @ np.linalg.matrix_power(chain.transition, t) for t in range(12)]
        np.testing.assert_allclose(chain.occupancy(12, first), np.mean(laws, axis=0), rtol=1e-13)
        assert chain.occupancy(1, first).tolist() == law.tolist()


# ------------------------------------------------------------------ sparse and dense

RATIONAL = st.integers(0, 3)


@st.composite
def matrices(draw):
    """Small matrices: reducible, periodic, with transient and absorbing states, or none of it."""
    n = draw(st.integers(1, 7))
    weights = draw(hnp.arrays(float, (n, n), elements=RATIONAL.map(lambda v: [0, 0, 1, 3][v])))
    for i in range(n):
        if not weights[i].any():
            weights[i, draw(st.integers(0, n - 1))] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def level(chain):
    return np.full(chain.n_states, 1 / chain.n_states)


def answer(chain, ask):
    """What a property or call gives, or the message with which it refuses."""
    try:
        return ask(chain)
    except ValueError as error:
        return str(error)


QUESTIONS = {
    "n_states": lambda c: c.n_states,
    "communicating_classes": lambda c: c.communicating_classes,
    "recurrent_classes": lambda c: c.recurrent_classes,
    "is_irreducible": lambda c: c.is_irreducible,
    "is_aperiodic": lambda c: c.is_aperiodic,
    "is_reversible": lambda c: c.is_reversible,
    "period": lambda c: c.period,
    "stationary": lambda c: c.stationary,
    "law 0": lambda c: c.law(0, 0),
    "law 3": lambda c: c.law(3, c.n_states - 1),
    "law 20": lambda c: c.law(20, level(c)),
    "occupancy": lambda c: c.occupancy(9, 0),
    "tv_distance": lambda c: c.tv_distance([0, 1, 2, 9]),
    "mixing_time": lambda c: c.mixing_time(0.05),
    "mixing_sum": lambda c: c.mixing_sum,
    "mixing_constant": lambda c: c.mixing_constant,
    "second_modulus": lambda c: c.second_modulus,
    "poisson_mixing": lambda c: c.poisson_mixing,
    "poisson_mixing_centred": lambda c: c.poisson_mixing_centred,
    "sample": lambda c: c.sample(20, rng=RNG(1), replicates=9, initial=0),
    "sample from a law": lambda c: c.sample(3, rng=RNG(2), replicates=9, initial=level(c)),
    "sample from the stationary law": lambda c: c.sample(9, rng=RNG(3), replicates=5),
}  # fmt: skip


@settings(max_examples=150)
@given(matrices(), st.sampled_from(FORMS[1:]))
def test_a_sparse_chain_answers_like_the_dense_one(matrix, form):
    dense, sparse = MarkovChain(matrix), MarkovChain(form(matrix))
    for name, ask in QUESTIONS.items():
        expected, found = answer(dense, ask), answer(sparse, ask)
        assert type(found) is type(expected), name
        if name == "second_modulus" and np.linalg.cond(np.linalg.eig(matrix)[1]) > 1e6:
            continue  # no basis of eigenvectors: it loses digits, as its docstring says
        if isinstance(expected, float | np.ndarray):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15, err_msg=name)
        else:
            assert found == expected, name


def test_every_public_name_is_among_the_questions():
    named = {name.split()[0] for name in QUESTIONS}
    errors = {"mixing_sum_error", "mixing_constant_error"}
    made = {"transition", "labels", "from_counts", "from_columns"}
    assert named | errors | made == {n for n in dir(MarkovChain) if n[0] != "_"}


@settings(max_examples=60)
@given(matrices(), st.sampled_from([0.6, 0.3, 0.01, 1e-6]))
def test_walking_from_every_start_answers_like_powers(matrix, delta):
    """The route for large sparse chains, on small ones."""
    dense = MarkovChain(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markov, "_DENSE_UP_TO", 0)
        sparse = MarkovChain(csr_array(matrix))
        for ask in (
            lambda c: c.tv_distance([[3, 0], [1, 17]]),
            lambda c: c.tv_distance(5),
            lambda c: c.mixing_time(delta),
            lambda c: c.mixing_sum,
            lambda c: c.law(30, 0),
        ):
            expected, found = answer(dense, ask), answer(sparse, ask)
            if isinstance(expected, str):
                assert found == expected
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        if dense.is_irreducible and dense.is_aperiodic:
            # error bounds add up; the rounding of both routes comes on top
            error = sparse.mixing_sum_error + dense.mixing_sum_error
            assert abs(sparse.mixing_sum - dense.mixing_sum) <= error + 1e-12 * dense.mixing_sum
            assert sparse.mixing_sum_error <= 1e-10 * (1 + sparse.mixing_sum)


def test_a_walk_goes_through_the_starts_in_blocks(monkeypatch):
    monkeypatch.setattr(markov, "_DENSE_UP_TO", 100)
    chain = random_chain(800, 3, 0.01)  # 2**19 // 800 = 655 starts at once
    ks = np.array([0, 1, 2, 5])
    expected = chain.tv_distance(ks)
    found = MarkovChain(csr_array(chain.transition)).tv_distance(ks)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


MATRICES = r"dense matrices of 0\.8 GB \(expected at most 4096 states\); lump .*P\.toarray\(\)"
STEPS = (
    r"is out of reach .* 10000 states: it needs \d+ steps or more .*at most 2e\+10 in all.*law\("
)
OUT_OF_REACH = {
    "mixing_constant": (lambda c: c.mixing_constant, MATRICES),
    "mixing_constant_error": (lambda c: c.mixing_constant_error, MATRICES),
    "second_modulus": (lambda c: c.second_modulus, MATRICES),
    "poisson_mixing": (lambda c: c.poisson_mixing, MATRICES),
    "poisson_mixing_centred": (lambda c: c.poisson_mixing_centred, MATRICES),
    "tv_distance": (lambda c: c.tv_distance(10**30), f"tv_distance {STEPS}"),
    "mixing_time": (lambda c: c.mixing_time(1e-3), f"mixing_time {STEPS}"),
    "mixing_sum": (lambda c: c.mixing_sum, f"mixing_sum {STEPS}"),
    "mixing_sum_error": (lambda c: c.mixing_sum_error, f"mixing_sum {STEPS}"),
    "law": (lambda c: c.law(10**9, 0), f"law {STEPS}"),
}


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_a_large_slow_chain_says_what_it_would_cost(name):
    ask, message = OUT_OF_REACH[name]
    n = 10_000
    ring = diags_array(
        [0.5, 0.25, 0.25, 0.25, 0.25], offsets=[0, 1, -1, n - 1, 1 - n], shape=(n, n)
    )
    started = time.perf_counter()
    with pytest.raises(ValueError, match=message):
        ask(MarkovChain(ring))
    assert time.perf_counter() - started < 20  # at once, not after the work


def test_an_elimination_that_is_too_large_says_what_it_would_cost(monkeypatch):
    matrix = csr_array(random_chain(100, 0).transition)
    monkeypatch.setattr(markov, "_ELIMINATION_COST", 1e5)
    text = (
        r"stationary law .* 100 states: it needs \d.* and .* GB, .*at most 1e\+05 and 4 GB\); if it"
    )
    with pytest.raises(ValueError, match=text):
        MarkovChain(matrix).stationary  # noqa: B018
    assert MarkovChain(matrix.toarray()).stationary.sum() == pytest.approx(1)


@pytest.mark.parametrize("bits", [13, 14])
def test_large_windows(bits):
    chain, n = de_bruijn(bits), 2**bits
    assert issparse(chain.transition)
    assert chain.transition.nnz == 2 * n
    assert (chain.is_irreducible, chain.is_aperiodic, chain.is_reversible) == (True, True, False)
    assert (chain.stationary == 1 / n).all()
    assert chain.tv_distance(0) == 1 - 1 / n
    path = chain.sample(50, rng=RNG(0), replicates=100)
    assert np.isin(path[:, 1:] - 2 * path[:, :-1], [0, 1, -n, 1 - n]).all()
    assert chain.law(bits, 5).tolist() == [1 / n] * n


@pytest.mark.parametrize("eps", [1e-300, 1e-310])
def test_a_chain_too_slow_for_floats_has_infinite_constants(eps):
    chain = MarkovChain([[1.0, eps], [eps, 1.0]])  # T = T* = 1 / (4 eps), C = 1 / (2 eps)
    for factor, found in (
        (4, chain.mixing_sum),
        (4, chain.poisson_mixing),
        (4, chain.poisson_mixing_centred),
        (2, chain.mixing_constant),
    ):
        assert found == pytest.approx(1 / eps / factor, rel=1e-9)
    assert chain.mixing_sum_error <= (1e-9 / eps if eps > 1e-305 else math.inf)


def test_windows_by_walking(monkeypatch):
    monkeypatch.setattr(markov, "_DENSE_UP_TO", 512)
    chain = de_bruijn(10)
    assert issparse(chain.transition)
    expected = [max(0, 1 - 2.0 ** (k - 10)) for k in range(1, 13)]
    assert chain.tv_distance(np.arange(1, 13)).tolist() == expected
    assert (chain.mixing_time(0.01), chain.mixing_time(0.6)) == (10, 9)
    assert (chain.mixing_sum, chain.mixing_sum_error) == (8 + 2**-9, 0)


# ------------------------------------------------------------------ bad input

GOOD = [[0.5, 0.5], [0.5, 0.5]]
BAD_MATRICES = [
    ([0.5, 0.5], ValueError, r"transition must have shape \(n, n\): got \(2,\)"),
    ([[0.5, 0.5]], ValueError, r"transition must have shape \(n, n\): got \(1, 2\)"),
    (np.zeros((0, 0)), ValueError, r"transition must not be empty: got shape \(0, 0\)"),
    (np.full((2, 2, 2), 0.5), ValueError, r"shape \(n, n\): got \(2, 2, 2\)"),
    (1.0, ValueError, r"shape \(n, n\): got \(\)"),
    ([[1.0], [0.5, 0.5]], ValueError, "rectangular array"),
    (np.eye(2, dtype=bool), TypeError, "real numbers: got dtype bool"),
    (np.eye(2, dtype=complex), TypeError, "real numbers: got dtype complex"),
    (np.array([[0.5, 0.5], [None, 1]]), TypeError, "real numbers: got dtype object"),
    (np.array([[0.5, 0.5], [True, 0.0]], dtype=object), TypeError, "got dtype object"),
    (MarkovChain(GOOD), TypeError, r"an array: got MarkovChain; use its \.transition"),
    ([["a", "b"], ["c", "d"]], TypeError, "real numbers"),
    ([[0.5, 0.5], [np.nan, 1]], ValueError, r"finite: entry \(1, 0\) is nan"),
    ([[np.inf, 0.5], [0, 1]], ValueError, r"finite: entry \(0, 0\) is inf"),
    ([[0.5, 0.5], [1.5, -0.5]], ValueError, r"non-negative: entry \(1, 1\) is -0.5"),
    ([[0.5, 0.5], [0.5, 0.43]], ValueError, r"row 1 sums to 0.93 \(expected 1 within 1e-08\)"),
    ([[1, 0.8], [0.5, 0.5]], ValueError, "row 0 sums to 1.8"),
    ([[0.5, 0.5], [0.5, 0.5 + 2e-8]], ValueError, "row 1 sums to 1.00000002"),
    ([[1e308, 1e308], [0, 1]], ValueError, "row 0 sums to inf"),
    (np.array([[0.5, 0.50001], [0, 1]], dtype=np.float32), ValueError, "within 1e-06"),
    ([[3, 1], [1, 1]], ValueError, "row 0 sums to 4.*counts"),
]


def test_fractions_are_a_matrix_like_any_other():
    third = Fraction(1, 3)
    chain = MarkovChain([[1 - third, third], [Fraction(1, 2), Fraction(1, 2)]])
    np.testing.assert_allclose(chain.transition, [[2 / 3, 1 / 3], [0.5, 0.5]], rtol=3e-16)


@pytest.mark.parametrize(("matrix", "error", "message"), BAD_MATRICES)
def test_bad_matrix(matrix, error, message):
    with pytest.raises(error, match=message):
        MarkovChain(matrix)


BAD_NUMBERS = [
    ([[0.5, 0.5]], ValueError, r"transition must have shape \(n, n\): got \(1, 2\)"),
    (np.zeros((0, 0)), ValueError, r"transition must not be empty: got shape \(0, 0\)"),
    (np.eye(2) * 1j, TypeError, "real numbers: got dtype complex"),
    ([[0.5, 0.5], [np.nan, 1]], ValueError, r"finite: entry \(1, 0\) is nan"),
    ([[np.inf, 0.5], [0, 1]], ValueError, r"finite: entry \(0, 0\) is inf"),
    ([[0.5, 0.5], [1.5, -0.5]], ValueError, r"non-negative: entry \(1, 1\) is -0.5"),
    ([[0.5, 0.5], [0.5, 0.43]], ValueError, r"row 1 sums to 0.93 \(expected 1 within 1e-08\)"),
    ([[1.0, 0.0], [0.0, 0.0]], ValueError, "row 1 sums to 0 "),
    (np.array([[0.5, 0.50001], [0, 1]], dtype=np.float32), ValueError, "within 1e-06"),
    ([[3, 1], [1, 1]], ValueError, "row 0 sums to 4.*counts"),
]


@pytest.mark.parametrize(("matrix", "error", "message"), BAD_NUMBERS)
@pytest.mark.parametrize("form", FORMS[1:])
def test_bad_sparse_matrix(matrix, error, message, form):
    with pytest.raises(error, match=message):
        MarkovChain(form(matrix))


def test_a_sparse_matrix_of_truth_values_is_refused():
    with pytest.raises(TypeError, match="real numbers: got dtype bool"):
        MarkovChain(csr_array(np.eye(2, dtype=bool)))


def test_what_a_sparse_matrix_may_store():
    """Entries twice, out of order, zero: they are added up, sorted, left out; nothing is shared."""
    row, column = np.array([1, 0, 0, 1, 0, 1]), np.array([1, 1, 0, 0, 1, 0])
    given = coo_array((np.array([0.5, 0.25, 0.5, 0.5, 0.25, 0.0]), (row, column)), shape=(2, 2))
    given = csr_array(given, copy=True)
    chain = MarkovChain(given)
    given.data[:] = 7.0
    assert chain.transition.toarray().tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert chain.transition.nnz == 4
    assert MarkovChain(csr_array(([1.0, 0.0, 1.0], [0, 1, 1], [0, 2, 3]))).transition.nnz == 2
    with pytest.raises(ValueError, match="read-only"):
        chain.transition[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        chain.transition.data[0] = 1.0


RNG = np.random.default_rng
BAD_CALLS = [
    (lambda c: c.tv_distance(-1), ValueError, "at least 0: got -1"),
    (lambda c: c.tv_distance([1, -2]), ValueError, "at least 0: got -2"),
    (lambda c: c.tv_distance(1.0), TypeError, "k must be an integer or"),
    (lambda c: c.tv_distance(True), TypeError, "k must be an integer or"),
    (lambda c: c.tv_distance("3"), TypeError, "k must be an integer or"),
    (lambda c: c.tv_distance(None), TypeError, "k must be an integer or"),
    (lambda c: c.mixing_time(0), ValueError, r"delta must lie in \(0, 1\]: got 0"),
    (lambda c: c.mixing_time(1.5), ValueError, "got 1.5"),
    (lambda c: c.mixing_time(math.nan), ValueError, "got nan"),
    (lambda c: c.mixing_time(True), TypeError, "delta must be a real number"),
    (lambda c: c.mixing_time("0.1"), TypeError, "delta must be a real number"),
    (lambda c: c.law([1, 2], 0), TypeError, r"k must be an integer: got \[1, 2\]"),
    (lambda c: c.law(-1, 0), ValueError, "k must be at least 0: got -1"),
    (lambda c: c.occupancy(0, 0), ValueError, "length must be at least 1: got 0"),
    (lambda c: c.occupancy(1, 2), ValueError, r"initial must lie in 0\.\.1: got 2"),
    (lambda c: c.occupancy(1, [0.5, 0.6]), ValueError, "initial must sum to 1: it sums to 1.1"),
    (lambda c: c.law(1, 2), ValueError, r"lie in 0\.\.1: got 2"),
    (lambda c: c.law(1, [0.5, 0.6]), ValueError, "it sums to 1.1"),
    (lambda c: c.sample(0, rng=RNG(0)), ValueError, "length must be at least 1"),
    (lambda c: c.sample(2.0, rng=RNG(0)), TypeError, "length must be an integer"),
    (lambda c: c.sample(True, rng=RNG(0)), TypeError, "length must be an integer"),
    (lambda c: c.sample(2, rng=RNG(0), replicates=0), ValueError, "replicates must be at least 1"),
    (lambda c: c.sample(2, rng=0), TypeError, "Generator: got int.*default_rng"),
    (lambda c: c.sample(2, rng=np.random.RandomState(0)), TypeError, "Generator: got RandomState"),
    (lambda c: c.sample(2, rng=np.random), TypeError, "Generator: got module"),
    (lambda c: c.sample(2, rng=RNG(0), initial=2), ValueError, r"lie in 0\.\.1: got 2"),
    (lambda c: c.sample(2, rng=RNG(0), initial=-1), ValueError, r"lie in 0\.\.1: got -1"),
    (lambda c: c.sample(2, rng=RNG(0), initial=0.0), TypeError, "got dtype float64"),
    (lambda c: c.sample(2, rng=RNG(0), initial=True), TypeError, "got dtype bool"),
    (lambda c: c.sample(2, rng=RNG(0), initial=[0, 1]), ValueError, r"shape \(2,\).*\(1,\)"),
    (lambda c: c.sample(2, rng=RNG(0), initial=[1.0]), ValueError, r"shape \(2,\): got \(1,\)"),
    (lambda c: c.sample(2, rng=RNG(0), initial=[0.5, 0.4]), ValueError, "it sums to 0.9"),
    (lambda c: c.sample(2, rng=RNG(0), initial=[1.5, -0.5]), ValueError, "entry 1 is -0.5"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD_CALLS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_bad_call(call, error, message, form):
    with pytest.raises(error, match=message):
        call(MarkovChain(form(GOOD)))


MIXING = {
    "mixing_time": lambda c: c.mixing_time(0.1),
    "mixing_sum": lambda c: c.mixing_sum,
    "mixing_sum_error": lambda c: c.mixing_sum_error,
    "mixing_constant": lambda c: c.mixing_constant,
    "mixing_constant_error": lambda c: c.mixing_constant_error,
    "second_modulus": lambda c: c.second_modulus,
}


@pytest.mark.parametrize("name", MIXING)
def test_mixing_refused(name):
    reducible = MarkovChain([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]])
    classes = r"\{0\}, \{1\}, \{2\}, of which \{0\}, \{2\} recurrent"
    with pytest.raises(ValueError, match=f"{name} needs an irreducible.*{classes}"):
        MIXING[name](reducible)
    with pytest.raises(ValueError, match=rf"{name} needs an aperiodic.*period 3.*lazy"):
        MIXING[name](directed_cycle(3, 0))


BAD_MAKERS = [
    (lambda: iid([0.5, 0.6]), ValueError, "stationary must sum to 1: it sums to 1.1"),
    (lambda: iid([[0.5, 0.5]]), ValueError, r"stationary must have shape \(n,\): got \(1, 2\)"),
    (lambda: iid([]), ValueError, r"stationary must not be empty: got shape \(0,\)"),
    (lambda: iid([True]), TypeError, "dtype bool"),
    (lambda: iid([0.5, math.nan]), ValueError, "entry 1 is nan"),
    (lambda: sticky([0.5, 0.5], 0), ValueError, r"p must lie in \(0, 1\]: got 0"),
    (lambda: sticky([0.5, 0.5], True), TypeError, "p must be a real number"),
    (lambda: sticky([0.5, -0.5], 0.5), ValueError, "entry 1 is -0.5"),
    (lambda: two_state(0, 0.5), ValueError, "p must lie"),
    (lambda: two_state(0.5, 1.01), ValueError, "q must lie"),
    (lambda: two_state(math.nan, 0.5), ValueError, "p must lie"),
    (lambda: two_state("0.5", 0.5), TypeError, "p must be a real number"),
    (lambda: lazy_cycle(1), ValueError, "n must be at least 2: got 1"),
    (lambda: lazy_cycle(4.0), TypeError, "n must be an integer"),
    (lambda: two_clusters(7, 0.1), ValueError, "n must be even.*use 8"),
    (lambda: two_clusters(8, 0), ValueError, "eps must lie"),
    (lambda: de_bruijn(0), ValueError, r"bits must lie in 1\.\.20: got 0"),
    (lambda: de_bruijn(21), ValueError, r"bits must lie in 1\.\.20: got 21"),
    (lambda: de_bruijn(True), TypeError, "bits must be an integer"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD_MAKERS)
def test_bad_maker(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_matrix_is_copied_and_read_only():
    matrix = np.array(GOOD)
    chain = MarkovChain(matrix)
    matrix[0] = [1, 0]
    assert chain.transition.tolist() == GOOD
    for result in (chain.transition, chain.stationary, chain.tv_distance([1, 2])):
        with pytest.raises(ValueError, match="read-only"):
            result[0] = 0
    with pytest.raises(AttributeError):
        chain.transition = matrix


def test_integer_and_single_precision_matrices():
    assert MarkovChain(np.eye(3, dtype=int)[[1, 2, 0]]).period == 3
    rows = np.random.default_rng(0).dirichlet(np.ones(5), size=5).astype(np.float32)
    sums = MarkovChain(rows).transition.sum(axis=1)
    assert np.abs(rows.astype(float).sum(axis=1) - 1).max() > 1e-8
    np.testing.assert_allclose(sums, 1, atol=1e-15)


# ------------------------------------------------------------------ sampling


class Fixed(np.random.Generator):
    """A generator whose uniforms are given."""

    def __init__(self, *values):
        super().__init__(np.random.PCG64(0))
        self.values = list(values)

    def random(self, size=None):
        count = int(np.prod(size))
        taken, self.values = self.values[:count], self.values[count:]
        return np.array(taken, dtype=float).reshape(size)


BELOW_ONE = 1 - 2.0**-53
HAND_PICKED = [
    # row, u, expected state
    ([0.25, 0.5, 0.25], 0.0, 0),
    ([0.25, 0.5, 0.25], np.nextafter(0.25, 0), 0),
    ([0.25, 0.5, 0.25], 0.25, 1),
    ([0.25, 0.5, 0.25], 0.75, 2),
    ([0.25, 0.5, 0.25], BELOW_ONE, 2),
    ([0, 0.5, 0.5], 0.0, 1),
    ([0, 0, 1], 0.0, 2),
    ([0.5, 0, 0.5], np.nextafter(0.5, 0), 0),
    ([0.5, 0, 0.5], 0.5, 2),
    ([0.5, 0.5, 0], BELOW_ONE, 1),
    ([1, 0, 0], BELOW_ONE, 0),
    ([0.5, 0.5 - 1e-9, 0], BELOW_ONE, 1),
    ([0.3, 0.3, 0.4 - 1e-9], BELOW_ONE, 2),
    ([0.1] * 10 + [0], BELOW_ONE, 9),
    ([0.1] * 10, BELOW_ONE, 9),
    ([1 / 49] * 49 + [0] * 3, BELOW_ONE, 48),
    (np.array([0.1] * 10 + [0], dtype=np.float32), BELOW_ONE, 9),
    ([1 - 1e-17, 1e-17], BELOW_ONE, None),  # either state is possible
]


@pytest.mark.parametrize(("row", "u", "expected"), HAND_PICKED)
def test_inversion_of_hand_picked_uniforms(row, u, expected):
    n = len(row)
    chain = MarkovChain(np.tile(np.asarray(row), (n, 1)))
    state = chain.sample(2, rng=Fixed(u), initial=0)[0, 1]
    assert state in (0, 1) if expected is None else state == expected
    as_initial = chain.sample(1, rng=Fixed(u), initial=chain.transition[0])[0, 0]
    assert as_initial == state


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 33, 100])
def test_inversion_against_searchsorted(n):
    rng = np.random.default_rng(n)
    matrix = rng.dirichlet(np.full(n, 0.1), size=n)
    matrix[rng.random((n, n)) < 0.3] = 0
    matrix[~matrix.any(axis=1), 0] = 1
    chain = MarkovChain(matrix / matrix.sum(axis=1, keepdims=True))
    uniforms = rng.random(500)
    start = rng.integers(n, size=500)
    drawn = chain.sample(2, rng=Fixed(*uniforms), replicates=500, initial=start)
    cumulative = np.cumsum(chain.transition, axis=1)
    pairs = zip(start, uniforms, strict=True)
    expected = [np.searchsorted(cumulative[s], u, "right") for s, u in pairs]
    assert drawn[:, 1].tolist() == expected
    assert (chain.transition[start, drawn[:, 1]] > 0).all()


def hub(n):
    """One state leads to all, all others to it: rows of very different lengths."""
    matrix = np.zeros((n, n))
    matrix[0], matrix[1:, 0] = 1 / n, 1
    return matrix


@pytest.mark.parametrize(
    "matrix", [hub(40), lazy_cycle(33).transition, random_chain(50, 1, 0.02).transition]
)
def test_rows_of_all_lengths_against_searchsorted(matrix):
    uniforms, start = RNG(0).random(500), RNG(1).integers(len(matrix), size=500)
    cumulative = np.cumsum(MarkovChain(matrix).transition, axis=1)
    pairs = zip(start, uniforms, strict=True)
    expected = [np.searchsorted(cumulative[s], u, "right") for s, u in pairs]
    for form in (np.asarray, csr_array):
        chain = MarkovChain(form(matrix))
        drawn = chain.sample(2, rng=Fixed(*uniforms), replicates=500, initial=start)
        assert drawn[:, 1].tolist() == expected


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_chain_that_has_worked_can_be_sent_to_another_process(form):
    chain = MarkovChain(form(lazy_cycle(5).transition))
    path, total = chain.sample(9, rng=RNG(0)), chain.mixing_sum
    arrived = pickle.loads(pickle.dumps(chain))
    assert (arrived.sample(9, rng=RNG(0)) == path).all()
    assert arrived.mixing_sum == total


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda chain: pickle.loads(pickle.dumps(chain))]
)
@pytest.mark.parametrize("worked", [False, True])
def test_a_copy_is_read_only_as_the_chain_is(form, again, worked):
    chain = MarkovChain(form(two_state(0.25, 0.5).transition))
    if worked:
        assert chain.stationary.sum() == 1
    arrived = again(chain)
    for array in (arrived.transition, arrived.stationary):
        with pytest.raises(ValueError, match="read-only"):
            (array.data if hasattr(array, "tocsr") else array)[0] = 1.0


def test_sample_shape_type_and_determinism():
    chain = random_chain(4, 0)
    path = chain.sample(7, rng=RNG(3), replicates=5)
    assert path.shape == (5, 7)
    assert path.dtype == np.int64
    assert (path == chain.sample(7, rng=RNG(3), replicates=5)).all()
    assert len({tuple(row) for row in path.tolist()}) > 1  # paths differ from each other
    given_states = np.array([3, 2, 1, 0, 3])
    drawn = chain.sample(2, rng=RNG(0), replicates=5, initial=given_states)
    assert (drawn[:, 0] == given_states).all()
    assert (chain.sample(2, rng=RNG(0), replicates=5, initial=np.uint8(2))[:, 0] == 2).all()


def test_given_initial_state_uses_no_random_number():
    chain, rng = random_chain(4, 0), RNG(3)
    chain.sample(1, rng=rng, replicates=5, initial=1)
    assert rng.random() == RNG(3).random()


@pytest.mark.parametrize("initial", [None, 1, [0.1, 0.2, 0.3, 0.4], [0, 1, 2]])
@pytest.mark.parametrize("cuts", [[1], [2, 3, 9], list(range(1, 12))])
@pytest.mark.parametrize("block", [1, 7, 2**20])
def test_blocks_equal_one_go(initial, cuts, block, monkeypatch):
    chain = random_chain(4, 1)
    whole = chain.sample(12, rng=RNG(8), replicates=3, initial=initial)
    monkeypatch.setattr("amgd.markov._BLOCK", block)
    rng, pieces = RNG(8), []
    for start, stop in zip([0, *cuts], [*cuts, 12], strict=True):
        if start == 0:
            pieces.append(chain.sample(stop, rng=rng, replicates=3, initial=initial))
        else:
            more = chain.sample(stop - start + 1, rng=rng, replicates=3, initial=pieces[-1][:, -1])
            pieces.append(more[:, 1:])
    assert (np.concatenate(pieces, axis=1) == whole).all()


def test_transition_frequencies():
    chain = random_chain(5, 2, 1.0)
    path = chain.sample(400, rng=RNG(1), replicates=500)
    before, after = path[:, :-1].ravel(), path[:, 1:].ravel()
    for state in range(5):
        counts = np.bincount(after[before == state], minlength=5)
        assert chisquare(counts, counts.sum() * chain.transition[state]).pvalue > 1e-4
    # columns, each over independent replicates, follow the stationary law from the first on
    for column in (0, 1, 399):
        counts = np.bincount(path[:, column], minlength=5)
        assert chisquare(counts, 500 * chain.stationary).pvalue > 1e-4


def test_initial_law_is_used():
    law = np.array([0.7, 0.0, 0.2, 0.1])
    first = random_chain(4, 0).sample(1, rng=RNG(5), replicates=20_000, initial=law)[:, 0]
    counts = np.bincount(first, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[law > 0], 20_000 * law[law > 0]).pvalue > 1e-4


def test_sampling_a_reducible_chain_needs_a_given_start():
    chain = MarkovChain(np.eye(2))
    assert chain.sample(4, rng=RNG(0), initial=1).tolist() == [[1, 1, 1, 1]]
    with pytest.raises(ValueError, match="not unique"):
        chain.sample(4, rng=RNG(0))


# ------------------------------------------------------------------ import


def test_import_is_light():
    heavy = {"torch", "matplotlib", "scipy.sparse"}
    code = f"import sys, amgd.markov; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------ laws and Poisson, exactly

F = Fraction
SMALL = {
    "drifting rows": [[F(9, 10), F(1, 10)], [F(4, 10), F(6, 10)]],
    "nearly stuck": [[1 - F(1, 10**9), F(1, 10**9)], [F(1, 10**7), 1 - F(1, 10**7)]],
    "periodic": [[F(0), F(1), F(0)], [F(0), F(0), F(1)], [F(1), F(0), F(0)]],
    "absorbing twice": [[F(1, 3)] * 3, [F(0), F(1), F(0)], [F(0), F(0), F(1)]],
    "two scales": [
        [F(1, 2), F(1, 2) - F(1, 10**6), F(1, 10**6)],
        [F(1, 4), F(3, 4), F(0)],
        [F(1, 10**8), F(0), 1 - F(1, 10**8)],
    ],
    "three states": [
        [F(1, 7), F(2, 7), F(4, 7)],
        [F(3, 11), F(5, 11), F(3, 11)],
        [F(1, 13), F(6, 13), F(6, 13)],
    ],
}


def exact_square(A):
    columns = list(zip(*A, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in A]


def as_floats(matrix):
    return np.array([[float(entry) for entry in row] for row in matrix])


@pytest.mark.parametrize("name", SMALL)
def test_law_is_the_law(name):
    power = SMALL[name]
    chain = MarkovChain(as_floats(power))
    for k in (1, 2, 4, 8, 16):
        for start in range(chain.n_states):
            np.testing.assert_allclose(
                chain.law(k, start), as_floats(power)[start], rtol=1e-14 * chain.n_states * k
            )
        power = exact_square(power)
    for exponent in range(31):
        for start in range(chain.n_states):
            law = chain.law(10**exponent, start)
            assert law.min() >= 0
            assert abs(law.sum() - 1) <= 4e-16


@pytest.mark.parametrize(("p", "q"), [(0.1, 0.4), (1e-9, 1e-7), (1e-30, 1e-28), (0.5, 1e-12)])
def test_law_of_two_states_after_any_time(p, q):
    for exponent in range(31):
        log_power = 10.0**exponent * math.log1p(-(p + q))
        stayed = (q + p * math.exp(log_power)) / (p + q)
        left = p / (p + q) * -math.expm1(log_power)
        law = two_state(p, q).law(10**exponent, 0)
        np.testing.assert_allclose(law, [stayed, left], rtol=1e-12)


def exact_poisson(P):
    """Z - I by Gauss-Jordan in fractions, and the stationary law from I - P + J."""
    n = len(P)
    identity = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]

    def inverse(A):
        rows = [[*a, *e] for a, e in zip(A, identity, strict=True)]
        for i in range(n):
            pivot = next(r for r in range(i, n) if rows[r][i])
            rows[i], rows[pivot] = rows[pivot], rows[i]
            rows[i] = [x / rows[i][i] for x in rows[i]]
            for r in range(n):
                if r != i:
                    rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
        return [row[n:] for row in rows]

    spread = [[identity[i][j] - P[i][j] + 1 for j in range(n)] for i in range(n)]
    law = [sum(column) for column in zip(*inverse(spread), strict=True)]  # 1 (I - P + J)^-1
    Z = inverse([[identity[i][j] - P[i][j] + law[j] for j in range(n)] for i in range(n)])
    return [[Z[i][j] - identity[i][j] for j in range(n)] for i in range(n)], law


@pytest.mark.parametrize("name", [name for name in SMALL if name != "absorbing twice"])
def test_poisson_constants_are_exact(name):
    chain = MarkovChain(as_floats(SMALL[name]))
    # the chain that float64 holds, exactly: off the diagonal its entries, on it what closes the row
    P = [[Fraction(e) for e in row] for row in chain.transition.tolist()]
    for i, row in enumerate(P):
        row[i] = 1 - sum(row) + row[i]
    matrix, law = exact_poisson(P)

    def least(row):  # a weighted median: the minimum over a lies where an entry becomes 0
        tried = (e / mass for e, mass in zip(row, law, strict=True))
        return min(sum(abs(r - a * p) for r, p in zip(row, law, strict=True)) for a in tried)

    star = max(sum(abs(e) for e in row) for row in matrix) / 2
    centred = max(map(least, matrix)) / 2
    assert chain.poisson_mixing == pytest.approx(float(star), rel=1e-11)
    assert chain.poisson_mixing_centred == pytest.approx(float(centred), rel=1e-11)


@pytest.mark.parametrize("p", [1e-300, 1e-100, 1e-20, 1e-12, 1e-5, 0.3, 1.0])
@pytest.mark.parametrize("share", [1.0, 1e-3, 1e-6])
def test_poisson_constants_of_two_states(p, share):
    """Second eigenvalue l: T_* = |l| / (1 - l) times 1 - pi_min, T_P = |l| / (2 (1 - l))."""
    q = p * share
    chain = two_state(p, q)
    rest = p + q  # 1 - l
    slope = abs(1 - rest) / rest
    assert chain.poisson_mixing == pytest.approx(slope * (1 - q / rest), rel=1e-11)
    assert chain.poisson_mixing_centred == pytest.approx(slope / 2, rel=1e-11)


# --- chains from data -----------------------------------------------------------------------------
def test_counts_are_those_of_a_path_and_the_prior_is_added() -> None:
    chain = MarkovChain([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [1, 0, 0]])
    path = chain.sample(400, rng=np.random.default_rng(0))[0]
    counts = np.zeros((3, 3), dtype=int)
    for before, after in itertools.pairwise(path.tolist()):
        counts[before, after] += 1
    found = MarkovChain.from_counts(counts, labels=iter("abc"))
    assert found.labels == ("a", "b", "c")
    for i, j in itertools.product(range(3), repeat=2):
        assert found.transition[i, j] == pytest.approx(counts[i, j] / counts[i].sum(), rel=1e-15)
        smooth = MarkovChain.from_counts(counts, prior=0.5).transition[i, j]
        assert smooth == pytest.approx((counts[i, j] + 0.5) / (counts[i].sum() + 1.5), rel=1e-15)
    assert MarkovChain(chain.transition).labels is None


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_are_rows_of_the_transpose(sparse: bool) -> None:
    rows = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.0, 0.6, 0.4]])
    columns = csr_array(rows.T) if sparse else rows.T.tolist()
    found = MarkovChain.from_columns(columns).transition
    assert (found.toarray() if sparse else found).tolist() == MarkovChain(rows).transition.tolist()
    given = csr_array(rows.T) if sparse else rows.T
    with pytest.raises(ValueError, match=r"its columns do, so pass P.T, or use .*from_columns"):
        MarkovChain(given)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: MarkovChain.from_counts([[1, 2], [0, 0]]), ValueError, "row 1 has none, so the"),
        (lambda: MarkovChain.from_counts([[1, -2], [0, 1]]), ValueError, "must be at least 0: go"),
        (lambda: MarkovChain.from_counts([[1, 2, 3]]), ValueError, "counts must have shape"),
        (lambda: MarkovChain.from_counts([[1]], prior=-1), ValueError, r"prior must lie in \[0"),
        (lambda: MarkovChain.from_counts([["a"]]), TypeError, "counts must hold real numbers"),
        (lambda: MarkovChain([[1.0]], labels="ab"), ValueError, "labels must be 1 different ones"),
        (lambda: MarkovChain(np.eye(2), labels={"a", "b"}), TypeError, "a set has no order"),
        (lambda: MarkovChain(np.eye(2), labels="aa"), ValueError, "labels must be 2 different"),
        (
            lambda: MarkovChain(np.ma.array(np.eye(2))),
            TypeError,
            r"got MaskedArray; use .filled\(number\)",
        ),
        (lambda: MarkovChain([[0.5, 0.4], [0.5, 0.6001]]), ValueError, "divide by the sum if the"),
    ],
)
def test_data_that_are_no_chain_are_refused(
    make: Callable[[], object], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        make()
