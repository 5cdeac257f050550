"""Each bound equals the formula that the book displays, written out once more from the text.

Random constants, scalar and array k, to 1e-12. The expressions are plain Python on purpose: one
value at a time, sums as sums, no code shared with the package.
"""
# ruff: noqa: B023 - a formula is a closure over the constants of one draw, and used at once

from math import log, sqrt

import numpy as np
import pytest

from amgd.descent import bounds
from amgd.descent.steps import StepSizes, theorem2, theorem3
from amgd.markov import de_bruijn, iid, lazy_cycle, sticky, two_state

CHAINS = [
    iid([0.2, 0.3, 0.5]),
    two_state(0.05, 0.05),
    two_state(0.97, 0.9),
    lazy_cycle(5),
    de_bruijn(3),
    sticky([0.1, 0.9], 0.02),
]
K_ALL = [1, 2, 3, 5, 17, 100, 12345]


CURVES = {id(chain): [None, *chain.tv_distance(np.arange(1, 2000)).tolist()] for chain in CHAINS}


def draws(seed, count=40):
    rng = np.random.default_rng(seed)
    for number in range(count):
        mu, L = np.sort(10 ** rng.uniform(-3, 2, 2)).tolist()
        B = float(10 ** rng.uniform(-1, 2))
        yield {
            "k": K_ALL[number % len(K_ALL)],
            "chain": CHAINS[number % len(CHAINS)],
            "mu": mu,
            "L": L,
            "B": B,
            "D": float(10 ** rng.uniform(-1, 2)),
            "r0": B * float(rng.random()),
            "f0": float(rng.normal() * 10),
            "C": float(rng.exponential(3)),
            "T": float(rng.exponential(3)),
            "c": float(10 ** rng.uniform(-2, 2)),
            "beta": float(10 ** rng.uniform(-4, 0)),
        } | {name: float(10 ** rng.uniform(-2, 1)) for name in ("M", "sigma", "ell", "gap")}


def t_mix(chain, delta):
    """Smallest k >= 1 with d(k) <= delta, one k after the other."""
    k = 1
    while CURVES[id(chain)][k] > delta * (1 + 1e-12):
        k += 1
    return k


def same(value, expected):
    assert type(value) is float
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.theorem("cor-1-printed")
@pytest.mark.theorem("cor-1")
def test_corollary_1():
    for v in draws(1):
        same(bounds.corollary1_printed(gamma=v["beta"]), v["beta"])
        k, chain, M = min(v["k"], 50), v["chain"], v["M"]
        d = max(
            0.5 * sum(abs(np.linalg.matrix_power(chain.transition, k)[i] - chain.stationary))
            for i in range(chain.n_states)
        )
        value = bounds.corollary1(k, chain=chain, M=M)
        assert value == pytest.approx(2 * M * d, rel=1e-11, abs=1e-15)


@pytest.mark.theorem("thm-1-printed")
@pytest.mark.theorem("prop-printed-survives")
def test_theorem_1_printed():
    for v in draws(2):
        M, gap, C = v["M"], v["gap"], v["C"]
        K = v["k"]
        L = min(v["L"], sqrt(K) / 4)
        value = bounds.theorem1_printed(K, L=L, M=M, initial_gap=gap, C=C)
        same(
            value,
            2 * gap * (4 * L + sqrt(K)) / K
            + 2 * M * (L * M**2 * (11 + 16 * C * log(K)) + 2) / sqrt(K),
        )
        same(
            bounds.theorem1_proof_line(K, L=L, M=M, initial_gap=gap, C=C),
            2 * gap * (4 * L + sqrt(K)) / K
            + (2 * (11 * L * M**2 + 2 * M) + 32 * C * L * M**2 * log(K)) / sqrt(K),
        )


@pytest.mark.theorem("thm-1")
@pytest.mark.parametrize("schedule", ["theorem1", "sgd"])
@pytest.mark.parametrize("weights", ["gamma", "paper", "uniform"])
@pytest.mark.parametrize("stationary_start", [False, True])
def test_theorem_1_lag(schedule, weights, stationary_start):
    for v in draws(3):
        K, L, M, gap, chain = v["k"], v["L"], v["M"], v["gap"], v["chain"]
        beta = min(v["beta"], 1 / (4 * L))
        H = sum(1 / j for j in range(1, K + 2))
        rho = 1.0 if weights == "gamma" or schedule == "sgd" else 1 + 2 * (H - 1) / K
        one, two, three = (0.5, 4, 2) if schedule == "sgd" else (3 / 2, 20 / 3, 4)

        def formula(tau, delta, b=beta):
            value = gap / (b * K)
            value += rho * (L * M**2 * b * (one + two * (tau - 1)) + 2 * M**2 * delta)
            if not stationary_start:
                last = min(tau - 1, K)
                value += three * M**2 / K * sum(CURVES[id(chain)][1 : last + 1])
            return value

        common = {"L": L, "M": M, "initial_gap": gap, "chain": chain}
        rules = {
            "weights": weights,
            "schedule": schedule,
            "stationary_start": stationary_start,
        }
        delta = max(v["beta"], 1e-3)
        same(
            bounds.theorem1_lag(K, beta=beta, delta=delta, **common, **rules),
            formula(t_mix(chain, delta), delta),
        )
        # The default delta: d(tau) at the best of many tau.
        reach = 1 + int(chain.mixing_time(1e-9))
        if reach < 400:
            best = min(formula(tau, CURVES[id(chain)][tau]) for tau in range(1, reach))
            assert bounds.theorem1_lag(K, beta=beta, **common, **rules) == pytest.approx(
                best, rel=1e-9
            )
    # The default beta is 1 / sqrt(K).
    known = {"L": 0.01, "M": 2.0, "initial_gap": 3.0, "chain": CHAINS[1], **rules}
    for K in (7, 100):
        same(
            bounds.theorem1_lag(K, delta=0.1, **known),
            bounds.theorem1_lag(K, delta=0.1, beta=1 / sqrt(K), **known),
        )


@pytest.mark.theorem("thm-1-poisson")
@pytest.mark.parametrize("weights", ["gamma", "paper", "uniform"])
def test_theorem_1(weights):
    for v in draws(4):
        K, L, M, gap, T = v["k"], v["L"], v["M"], v["gap"], v["T"]
        beta = min(v["beta"], 1 / (4 * L))
        known = {"L": L, "M": M, "initial_gap": gap, "T": T, "beta": beta, "weights": weights}
        H = sum(1 / j for j in range(1, K + 1))
        rho = 1.0 if weights == "gamma" else 1 + 2 * (H + 1 / (K + 1) - 1) / K
        start = gap / (beta * K) + rho * L * M**2 * beta * (3 / 2 + 20 / 3 * T)
        same(bounds.theorem1(K, nonincreasing=True, **known), start + 8 * M**2 * T / K)
        # the default assumes less of the steps
        same(bounds.theorem1(K, **known), start + 4 * (1 + H) * M**2 * T / K)
        same(
            bounds.theorem1(K, schedule="sgd", **known),
            gap / (beta * K) + L * M**2 * beta * (1 / 2 + 4 * T) + 4 * M**2 * T / K,
        )


def any_steps(rng, mu=0.0):
    """Random tables alpha, beta, gamma (index k)."""
    a, b, g = rng.uniform(0.1, 0.9, 40), rng.random(40), rng.uniform(0.1, 2, 40)
    a[1] = 1.0
    if mu:
        b = a / (a + (1 - a) * (1 + mu * g))
    kind = "convex" if mu else "nonconvex"
    return a, b, g, StepSizes("any", lambda k: a[k], lambda k: b[k], lambda k: g[k], mu, kind)


@pytest.mark.theorem("lem-1")
@pytest.mark.theorem("lem-1-printed")
def test_lemma_1():
    rng = np.random.default_rng(5)
    for v in draws(5):
        L, M, chain = v["L"], v["M"], v["chain"]
        a, b, g, steps = any_steps(rng)
        k = int(rng.integers(1, 30))
        s = int(rng.integers(1, k + 1))
        Gamma = [1.0, 1.0]
        for t in range(2, k + 1):
            Gamma.append((1 - a[t]) * Gamma[-1])

        def E(t, sign=abs, G=Gamma, g=g, b=b):
            return G[t] * sum(sign(g[u] - b[u]) / G[u] for u in range(1, t + 1))

        expected = L * M**2 * (g[k] / 2 + (1 - a[k]) * E(k - 1)) + 2 * M**2 * chain.tv_distance(s)
        expected += 4 * L * M**2 * sum(b[t] + a[t + 1] * E(t) for t in range(k - s + 1, k))
        same(bounds.lemma1(k, s, steps=steps, L=L, M=M, chain=chain), expected)
        if s < k:
            tau = s
            expected = 8 * L * M**2 * tau * g[k - tau] * g[k] + (4 * M**2 * L + M) * g[k] ** 2
            expected += M**2 * L * Gamma[k] / 2 * sum(
                (g[t] - b[t]) ** 2 / (Gamma[t] * a[t]) for t in range(1, k + 1)
            )  # fmt: skip
            window = sum(a[t] * Gamma[t] for t in range(k - tau, k))
            total = sum((g[t] - b[t]) / Gamma[t] for t in range(1, k + 1))
            expected += 2 * L * M**3 * g[k] * window * total
            value = bounds.lemma1_printed(k, tau, steps=steps, L=L, M=M)
            assert value == pytest.approx(expected, rel=1e-10)


@pytest.mark.theorem("lem-2")
@pytest.mark.theorem("lem-lag")
@pytest.mark.theorem("lem-poisson")
def test_lemmas_of_algorithm_2():
    rng = np.random.default_rng(6)
    for v in draws(6):
        B, sigma, M, ell, T, chain, mu = (
            v[name] for name in ("B", "sigma", "M", "ell", "T", "chain", "mu")
        )
        a, b, g, steps = any_steps(rng, mu)
        k = int(rng.integers(1, 30))
        s = int(rng.integers(1, k + 1))
        Gamma = [1.0, 1.0]
        for t in range(2, k + 1):
            Gamma.append((1 - a[t]) * Gamma[-1])
        if k == 1:
            same(bounds.lemma2_excess(k, steps=steps), 1 / g[1])
        else:
            now = a[k] / (g[k] * Gamma[k])
            then = a[k - 1] * (1 + mu * g[k - 1]) / (g[k - 1] * Gamma[k - 1])
            value = bounds.lemma2_excess(k, steps=steps)
            assert value == pytest.approx(max(0.0, now - then), rel=1e-9, abs=1e-9 * now)
        eta = g / (1 + mu * g)
        past = range(k - s + 1, k)
        expected = 2 * sigma * B * chain.tv_distance(s)
        expected += ell * B * sum(a[j] * min(M * eta[j], B) + b[j + 1] * B for j in past)
        expected += sigma * sum(M * eta[j] + mu * B * eta[j + 1] for j in past)
        known = {"B": B, "sigma": sigma, "M": M, "ell": ell}
        value = bounds.lemma_lag(k, s, steps=steps, chain=chain, **known)
        assert value == pytest.approx(expected, rel=1e-11)
        for real in (theorem2(v["L"], v["c"]), theorem3(mu, v["L"])):
            eta = [0.0] + [real.gamma(t) / (1 + real.mu * real.gamma(t)) for t in range(1, k + 1)]
            expected = 4 * sigma * T * B * k + 8 * ell * T * B**2 * (k - 1)
            expected += 2 * sigma * T * sum(
                t * (M * eta[t] + real.mu * B * eta[t + 1]) for t in range(1, k)
            )  # fmt: skip
            same(bounds.lemma_poisson(k, steps=real, T=T, **known), expected)


@pytest.mark.theorem("thm-2-printed")
@pytest.mark.theorem("thm-2")
@pytest.mark.theorem("thm-2-lag")
@pytest.mark.theorem("prop-a")
@pytest.mark.theorem("prop-b")
def test_theorem_2():
    for v in draws(7):
        k, L, D, M, f0, r0, B, sigma, ell, T, c, chain = (
            v[name]
            for name in ("k", "L", "D", "M", "f0", "r0", "B", "sigma", "ell", "T", "c", "chain")
        )
        same(
            bounds.theorem2_printed(k, L=L, D=D, M=M, f_x_bar0=f0),
            (f0 + 4 * L * D) / (2 * k * (k + 1))
            + 2 * (D + 2 * M**2) / (3 * L * sqrt(k))
            + 2 * (4 * D**2 * L + M**2) * (L + 1) * log(2 * L * sqrt(k)) / sqrt(k),
        )
        known = {"L": L, "r0": r0, "B": B, "sigma": sigma, "M": M, "ell": ell}

        def theorem(c, T=T):
            start = 4 * L * r0**2 / (k * (k + 1))
            middle = (c * B**2 + (4 * sigma**2 + 8 * sigma * M * T) / (3 * c)) / sqrt(k)
            return start + middle + 8 * T * (sigma * B + 2 * ell * B**2) / (k + 1)

        same(bounds.theorem2(k, T=T, c=c, **known), theorem(c))
        best = 1 / B * sqrt((4 * sigma**2 + 8 * sigma * M * T) / 3)
        same(bounds.theorem2(k, T=T, **known), theorem(best))
        assert theorem(best) <= min(theorem(best * q) for q in (0.9, 0.99, 1.01, 1.1))
        quiet = known | {"sigma": 0.0, "ell": 0.0}
        same(bounds.theorem2(k, T=T, c=0.0, **quiet), 4 * L * r0**2 / (k * (k + 1)))

        s = t_mix(chain, 1 / k)
        noise = 4 * sigma**2 + 4 * sqrt(2) * sigma * M * (s - 1)
        for given in (c, None):
            q = given or sqrt(noise / 3) / B
            expected = 4 * L * r0**2 / (k * (k + 1)) + (q * B**2 + noise / (3 * q)) / sqrt(k)
            expected += 4 * sigma * B * s**2 / (k * (k + 1)) if s > 1 else 0
            expected += 2 * sigma * B * chain.tv_distance(s) + 16 * ell * B**2 * (s - 1) / (k + 1)
            same(bounds.theorem2_lag(k, chain=chain, c=given, **known), expected)

        same(
            bounds.proposition_a(k, L=L, B=B, sigma=sigma, M=M, ell=ell, T=T),
            2 * L * B**2 / sqrt(k + 1)
            + (2 * sigma**2 + 4 * sigma * M * T) / (3 * L * sqrt(k))
            + 8 * T * (sigma * B + 2 * ell * B**2) / (k + 1),
        )
        same(bounds.proposition_b(k, L=L, D=D), L * D**2 / sqrt(k + 1))


@pytest.mark.theorem("thm-3-printed")
@pytest.mark.theorem("thm-3")
@pytest.mark.theorem("thm-3-lag")
@pytest.mark.theorem("prop-c")
def test_theorem_3():
    for v in draws(8):
        k, mu, L, D, M, f0, r0, B, sigma, ell, T, chain = (
            v[name]
            for name in ("k", "mu", "L", "D", "M", "f0", "r0", "B", "sigma", "ell", "T", "chain")
        )
        same(
            bounds.theorem3_printed(k, mu=mu, L=L, D=D, M=M, f_x_bar0=f0),
            (2 * f0 + 6 * mu * D) / (k * (k + 1))
            + 4 * (M**2 + 2 * mu * M * D + 12 * mu * L * D**2) * (2 + mu)
            * log(mu * (k + 1) / 2) / (mu * k)
            + (2 * D + 10 * M**2 + 8 * mu * M * D) / (mu * (k + 1)),
        )  # fmt: skip
        known = {"mu": mu, "L": L, "r0": r0, "B": B, "sigma": sigma, "M": M, "ell": ell}
        start = 4 * L * r0**2 / (k * (k + 1)) + 4 * sigma**2 / (mu * (k + 1))
        bracket = sigma * M / mu + 2 * sigma * B + 2 * ell * B**2
        same(bounds.theorem3(k, T=T, **known), start + 8 * T / (k + 1) * bracket)
        s = t_mix(chain, 1 / k)
        lag = 4 * sigma * B * s**2 / (k * (k + 1)) if s > 1 else 0
        lag += 2 * sigma * B * chain.tv_distance(s)
        lag += 8 * (s - 1) / (k + 1) * (sigma * M / mu + sigma * B + 2 * ell * B**2)
        same(bounds.theorem3_lag(k, chain=chain, **known), start + lag)
        kappa = L / mu
        same(
            bounds.proposition_c(k, T=T, **known),
            (mu * r0**2 + 8 * sqrt(2 * kappa) * L * B**2) / (k + 1) ** 2
            + 8 * sigma**2 / (mu * (k + 1))
            + 16 * T / (k + 1) * bracket,
        )
        same(
            bounds.proposition_c(k, T=T, denominator="k+1", **known),
            (3 * mu * r0**2 + 12 * sqrt(2 * kappa) * L * B**2) / ((k + 1) * (k + 2))
            + 12 * sigma**2 / (mu * (k + 1))
            + 24 * T / (k + 1) * bracket,
        )
