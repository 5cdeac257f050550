"""Chapter 14: where acceleration pays, against exact errors of many methods, chains and orders."""

from itertools import permutations, product

import numpy as np
import pytest
from enumeration import depth, random_chain
from test_irreducible import periodic_chain

from amgd.descent import bounds, steps
from amgd.descent.exact import exact_average, exact_convex, lower_accelerated, lower_sgd
from amgd.markov import MarkovChain, cyclic, reshuffled
from amgd.td import TDProblem, kappa_trace, trace_system

CURVATURES = np.geomspace(1e-4, 1, 41)


def weights(rule, a, k):
    """Output of a linear method on the curvatures a: head * x0 + sum of w[t] * noise[t].

    `rule(gradient)` runs the method from x0 = 1 with the gradients that it is given.
    """
    silent = rule(lambda t, x: a * x)
    pushed = [rule(lambda t, x, s=s: a * x + (t == s)) - silent for s in range(k)]
    return silent, np.array(pushed)


def random_sgd(rng, a, k):
    """Random steps in [0, 1/L], and a random average of the iterates 0, ..., k."""
    beta = rng.uniform(0, 1, k) ** rng.choice([0.1, 1, 3])
    share = rng.dirichlet(np.full(k + 1, rng.choice([0.05, 1.0])))

    def run(gradient):
        x, total = np.ones_like(a), share[0]
        for t in range(k):
            x = x - beta[t] * gradient(t, x)
            total = total + share[t + 1] * x
        return total

    return run


def random_momentum(rng, a, k):
    """Random steps and momenta, which change; the last iterate or a random average."""
    beta, theta = rng.uniform(0, 1.3, k), rng.uniform(0, 1, k)
    share = rng.dirichlet(np.full(k + 1, rng.choice([0.05, 1.0])))

    def run(gradient):
        x = before = np.ones_like(a)
        total = share[0]
        for t in range(k):
            y = x + theta[t] * (x - before)
            x, before = y - beta[t] * gradient(t, y), x
            total = total + share[t + 1] * x
        return total

    return run


@pytest.mark.theorem("prop-14-lower")
@pytest.mark.parametrize(
    ("method", "lower"), [(random_sgd, lower_sgd), (random_momentum, lower_accelerated)]
)
def test_no_method_is_below_its_lower_bound(method, lower, record):
    rng = np.random.default_rng([141, len(method.__name__)])
    least = np.inf
    for _ in range(60):
        k, kappa = int(rng.integers(1, 20)), 10 ** rng.uniform(0.1, 4)
        rho, r0 = 10 ** rng.uniform(-6, 0), 10 ** rng.uniform(-1, 1)
        mu, s = 1 / kappa, rho**0.5 * r0
        special = np.clip([1 / (2 * k + 1), s / (r0 * k**0.5)], mu, 1)
        a = np.append(np.geomspace(mu, 1, 65), special)
        head, w = weights(method(rng, a, k), a, k)
        start = (a / 2 * head**2 * r0**2).max()
        noise = (a / 2 * (w**2).sum(axis=0) * s**2).max()
        bound = lower(k, mu=mu, L=1.0, r0=r0, sigma=s)
        assert start + noise >= bound * (1 - 1e-9)
        least = min(least, (start + noise) / bound)
    record(f"lower bound / least error of {method.__name__}", 1 / least)


@pytest.mark.theorem("prop-14-lower")
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_the_bounds_of_the_start_are_attained(k):
    """SGD with step 1/L, and the polynomial of Chebyshev on the square root of the curvature."""
    a = np.append(np.linspace(1e-6, 1, 200_001), 1 / (2 * k + 1))
    sgd = (a / 2 * (1 - a) ** (2 * k)).max()
    assert sgd == pytest.approx(lower_sgd(k, mu=1e-6, L=1.0, r0=1.0, sigma=0.0), rel=1e-3)
    n = 2 * k + 1
    odd = np.sin(n * np.arcsin(np.sqrt(a))) / (n * np.sqrt(a))  # a polynomial in a, 1 at 0
    fit = np.polynomial.Polynomial.fit(a[::500], odd[::500], k)
    assert fit(0.0) == pytest.approx(1, rel=1e-9)
    best = (a / 2 * odd**2).max()
    assert best == pytest.approx(0.5 / n**2, rel=1e-9)
    assert best == pytest.approx(lower_accelerated(k, mu=1e-6, L=1.0, r0=1.0, sigma=0.0), rel=1e-9)


def noise_level(k, mu, L, r0, s):
    """N(k) of the chapter."""
    return min(s * r0 / k**0.5, s**2 / (mu * k))


def test_the_bound_of_the_noise_is_a_quarter_of_its_level():
    for k, kappa, rho in product([1, 3, 100, 5000], [2.0, 100.0, 1e4], [1.0, 1e-2, 1e-5]):
        known = {"mu": 1 / kappa, "L": 1.0, "r0": 2.0}
        level = noise_level(k, 1 / kappa, 1.0, 2.0, 2 * rho**0.5)
        for lower in (lower_sgd, lower_accelerated):
            assert lower(k, **known, sigma=2 * rho**0.5) >= level / 4 * (1 - 1e-12)


@pytest.mark.theorem("prop-14-upper")
def test_tail_averages_of_sgd(record):
    worst = 0.0
    for k, q in product([1, 2, 3, 7, 20, 200, 3000], [0.0, 0.5, 0.95, -0.8]):
        beta = np.geomspace(1e-3, 1, 13)
        start, noise = exact_average(CURVATURES[:, None], beta, k, tail=(k + 1) // 2, correlation=q)
        a, mu = CURVATURES[:, None], CURVATURES[0]
        bias = (a / 2 * (1 - beta * a) ** k).max(axis=0)
        assert (a / 2 * start <= (a / 2 * (1 - beta * a) ** k) * (1 + 1e-12) + 1e-300).all()
        # two states: the noise is +-1, its Poisson solution is q / (1 - q) times it
        long_run, q2 = (1 + q) / (1 - q), (q / (1 - q)) ** 2
        floor = np.minimum(beta, 1 / (mu * k))
        bound = 2 * floor if q == 0 else 4 * long_run * floor + 8 * q2 * beta / k
        measured = (a / 2 * noise).max(axis=0)
        assert (measured <= bound).all()
        worst = max(worst, (measured / bound).max())
        for s in (1e-4, 1e-2, 1.0) if q == 0 else ():
            level = noise_level(k, mu, 1.0, 1.0, s)
            sgd = np.minimum(1.0, 1 / (s * k**0.5)) if level < s**2 / (mu * k) else 1.0
            start, noise = exact_average(CURVATURES, sgd, k, tail=(k + 1) // 2)
            error = (CURVATURES / 2 * start).max() + s**2 * (CURVATURES / 2 * noise).max()
            half = (CURVATURES / 2 * (1 - CURVATURES) ** k).max()
            assert error <= half + 2.19 * level
        assert bias.max() <= 0.5
    record("tail average of SGD, noise part", worst)


@pytest.mark.theorem("prop-14-upper")
def test_algorithm_2_with_added_noise(record):
    worst = 0.0
    ks = np.array([1, 2, 5, 20, 100, 400])
    for s in (0.0, 1e-4, 1e-2, 1.0):
        rules = [steps.theorem2((4 + s * (2 / 3) ** 0.5 * (k + 1) * k**0.5) / 4, 0.0) for k in ks]
        rules.append(steps.theorem3(CURVATURES[0], 1.0))
        start, noise = exact_convex(CURVATURES, rules, record=ks)
        error = (CURVATURES / 2 * start).max(axis=2) + s**2 * (CURVATURES / 2 * noise).max(axis=2)
        first = 4 / (ks * (ks + 1))
        convex = first + (8 / 3) ** 0.5 * s / ks**0.5
        strong = first + 4 * s**2 / (CURVATURES[0] * (ks + 1))
        known, anytime = np.diag(error), error[:, -1]
        assert (known <= convex).all()
        assert (anytime <= strong).all()
        worst = max(worst, (known / convex).max(), (anytime / strong).max())
    record("Algorithm 2, added noise", worst)


@pytest.mark.theorem("cor-14-map")
def test_the_gain_is_of_the_stated_order():
    """From above with the two propositions, and from below with the methods that they name."""
    a = CURVATURES
    for kappa, rho in product([9.0, 100.0, 1e4], 10.0 ** np.arange(-8, 1)):
        mu, s = 1 / kappa, rho**0.5
        for k in (1, 2, 3, 5, 8, 30, 100, 1000, 10_000):
            half = (a / 2 * (1 - a) ** k)[a >= mu * (1 - 1e-9)].max()
            plain = half + 2.19 * noise_level(k, mu, 1.0, 1.0, s)
            best = lower_accelerated(k, mu=mu, L=1.0, r0=1.0, sigma=s)
            assert plain / best <= 9 + 1.28 * max(rho ** (-1 / 3), 1 / (rho * kappa))
            if rho * kappa >= 1 and k >= 1 / rho:
                assert plain / best <= 9.6
        if kappa**-1.5 <= rho <= 1 / 8:
            k = int(np.ceil(rho ** (-1 / 3)))
            above = 4 / (k * (k + 1)) + (8 / 3) ** 0.5 * s / k**0.5
            below = lower_sgd(k, mu=mu, L=1.0, r0=1.0, sigma=0.0)
            assert below / above >= rho ** (-1 / 3) / 118
        if kappa**-2 <= rho <= kappa**-1.5 and kappa > 16:
            k = int(np.ceil(1 / (4 * rho * kappa)))
            above = 4 / (k * (k + 1)) + 4 * s**2 / (mu * (k + 1))
            below = lower_sgd(k, mu=mu, L=1.0, r0=1.0, sigma=0.0)
            assert below / above >= 1 / (272 * rho * kappa)


@pytest.mark.theorem("prop-14-long-run")
@pytest.mark.parametrize("q", [0.0, 0.8, -0.6])
def test_in_the_long_run_averages_do_not_tell_the_methods_apart(q):
    """2k (E f - f*) tends to the long-run variance over the curvature, whatever the momentum."""
    a, k = np.array([0.05, 0.3, 1.0]), 200_000
    for beta, theta in ((1.0, 0.0), (0.1, 0.0), (1.0, 0.5), (0.3, 0.9)):
        start, noise = exact_average(a, beta, k, theta=theta, tail=k, correlation=q)
        limit = (1 + q) / (1 - q) / a
        assert 2 * k * a / 2 * (start + noise) == pytest.approx(limit, rel=0.01)


def epochs(problem_samples, orders, beta, x):
    """Squared mean gradients at the starts of the passes; a sample is sin or a quadratic."""
    seen = []
    for order in orders:
        seen.append(np.mean([g(x) for g in problem_samples]) ** 2)
        for i in order:
            x = x - beta * problem_samples[i](x)
    return np.array(seen)


@pytest.mark.theorem("prop-14-passes")
@pytest.mark.parametrize("kind", ["cyclic", "reshuffled"])
def test_passes_over_the_data(kind, record):
    """Every order of every pass: the largest error over all of them, not the mean."""
    rng = np.random.default_rng([142, len(kind)])
    worst = 0.0
    for _ in range(30):
        n, E = int(rng.integers(2, 4)), 2
        amplitude, frequency, phase = rng.normal(size=n), rng.uniform(0.5, 2), rng.normal(size=n)
        # F_i(x) = amplitude sin(frequency x + phase): M = |a| w, L = |a| w^2
        L, M = np.abs(amplitude).max() * frequency**2, np.abs(amplitude).max() * frequency
        samples = [
            lambda x, a=a, p=p, w=frequency: a * w * np.cos(w * x + p)
            for a, p in zip(amplitude, phase, strict=True)
        ]
        beta, x0 = rng.uniform(0.05, 1) / (n * L), rng.normal()
        waves = list(zip(amplitude, phase, strict=True))
        line = np.linspace(-20, 20, 20_001)
        f = np.mean([a * np.sin(frequency * line + p) for a, p in waves], axis=0)
        start = np.mean([a * np.sin(frequency * x0 + p) for a, p in waves])
        gap = start - f.min()
        bound = 2 * gap / (beta * n * E) + (L * M * beta * (n - 1)) ** 2 / 4
        every = list(permutations(range(n)))
        orders = [(o, o) for o in every] if kind == "cyclic" else list(product(every, repeat=E))
        for order in orders:
            measured = epochs(samples, order, beta, x0).mean()
            assert measured <= bound * (1 + 1e-9)
            worst = max(worst, measured / bound)
    record(f"passes, {kind}", worst)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_random_reshuffling_is_a_chain_whose_passes_are_permutations(n):
    chain, sample = reshuffled(n)
    assert isinstance(chain, MarkovChain)
    assert chain.n_states == n * 2 ** (n - 1) == len(sample)
    rng = np.random.default_rng(n)
    path = chain.sample(1 + 200 * n, rng=rng, initial=chain.n_states - 1)[0, 1:]
    passes = sample[path].reshape(-1, n)
    assert (np.sort(passes, axis=1) == np.arange(n)).all()
    assert len({tuple(p) for p in passes}) == len(list(permutations(range(n))))
    law = np.bincount(sample, chain.stationary)
    np.testing.assert_allclose(law, np.full(n, 1 / n), rtol=1e-12)
    assert not chain.is_aperiodic
    follow = cyclic(n).sample(2 * n, rng=rng, initial=n - 1)[0]
    assert (follow == (np.arange(2 * n) + n - 1) % n).all()


def reversible(rng, n):
    """A random reversible chain: symmetric weights, divided by their row sums."""
    weights = rng.uniform(0.05, 1, (n, n)) ** rng.choice([1, 4])
    weights += weights.T
    return MarkovChain(weights / weights.sum(axis=1, keepdims=True))


def eigenfeatures(chain):
    """Eigenvalues, and eigenvectors of unit length under the stationary law."""
    root = np.sqrt(chain.stationary)
    p, U = np.linalg.eigh(root[:, None] * chain.transition / root)
    return np.clip(p, -1, 1), U / root[:, None]  # eigh gives 1 up to rounding


@pytest.mark.theorem("prop-14-trace")
def test_traces_and_the_condition_number():
    rng = np.random.default_rng(143)
    for _ in range(60):
        n, gamma = int(rng.integers(2, 7)), rng.uniform(0.1, 0.99)
        trace, reward = rng.uniform(0, 1), rng.normal(size=n)
        chain = reversible(rng, n)
        p, U = eigenfeatures(chain)
        A, _ = trace_system(TDProblem(chain.transition, reward, U, gamma), trace)
        np.testing.assert_allclose(A, np.diag((1 - gamma * p) / (1 - gamma * trace * p)), atol=1e-9)
        kappa = kappa_trace(trace, discount=gamma, low=p[0], high=p[-1])
        assert np.linalg.cond(A) == pytest.approx(kappa, rel=1e-7)
        assert 1 <= kappa <= kappa_trace(0.0, discount=gamma, low=p[0], high=p[-1]) * (1 + 1e-12)
        features = rng.normal(size=(n, n))
        A, _ = trace_system(TDProblem(chain.transition, reward, features, gamma), trace)
        gram = features.T @ (chain.stationary[:, None] * features)
        assert np.linalg.cond(A) <= np.linalg.cond(gram) * kappa * (1 + 1e-7)


@pytest.mark.theorem("prop-14-trace")
def test_traces_and_the_gradient():
    rng = np.random.default_rng(144)
    for _ in range(40):
        n, gamma = int(rng.integers(3, 6)), rng.uniform(0.3, 0.99)
        P = rng.dirichlet(np.ones(n), size=n)
        for trace in (0.0, 0.6, 1.0):
            problem = TDProblem(P, np.zeros(n), np.eye(n), gamma)
            A, _ = trace_system(problem, trace)
            root = np.sqrt(problem.law)
            gap = np.linalg.norm(A / root / root[:, None] - np.eye(n), 2)
            assert gap <= gamma * (1 - trace) / (1 - gamma * trace) + 1e-9
            asymmetry = np.abs(A - A.T).max()
            assert asymmetry < 1e-12 if trace == 1 else asymmetry > 1e-9


@pytest.mark.theorem("prop-14-trace")
def test_traces_and_the_noise():
    """E z_i^2 by powers of P, and the price of the chapter."""
    rng = np.random.default_rng(145)
    for _ in range(20):
        n, gamma, trace = int(rng.integers(2, 6)), rng.uniform(0.1, 0.9), rng.uniform(0, 1)
        chain = reversible(rng, n)
        p, U = eigenfeatures(chain)
        r, m = gamma * trace, np.arange(120)
        lag = np.abs(m[:, None] - m)
        for i in range(n):
            u, now = U[:, i], U[:, i]
            cov = []
            for _m in m:
                cov.append(chain.stationary @ (u * now))
                now = chain.transition @ now
            square = (r ** (m[:, None] + m) * np.array(cov)[lag]).sum()
            assert square == pytest.approx((1 + r * p[i]) / (1 - r * p[i]) / (1 - r * r), rel=1e-6)
            field = (1 - gamma * p[i]) / (1 - r * p[i])
            price = square / field**2 * (1 - gamma * p[i]) ** 2
            assert price == pytest.approx((1 - (r * p[i]) ** 2) / (1 - r * r), rel=1e-6)
            assert 1 - 1e-6 <= price <= 1 / (1 - r * r) + 1e-6


def entropy_levels(step, P, xi0, n_steps, G, n):
    """Means over all paths: yields k, the laws of the paths and x_bar on them."""
    law, xi, x = np.ones(1), np.array([xi0]), np.full((1, n), 1 / n)
    x_bar, S = x.copy(), 0 * x
    for k in range(1, n_steps + 1):
        parent, after = np.nonzero(P[xi])
        law, xi = law[parent] * P[xi[parent], after], after
        x, x_bar, S = x[parent], x_bar[parent], S[parent]
        alpha = 2 / (k + 1)
        y = (1 - alpha) * x_bar + alpha * x
        g = G(y, xi)
        S = S + k * g
        logs = step(k, np.log(x), g, S)
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        yield k, law, np.abs(new - x).sum(axis=1).max(), (1 - alpha) * x_bar + alpha * new
        x, x_bar = new, (1 - alpha) * x_bar + alpha * new


def entropy_instance(rng):
    """A convex quadratic on the simplex, affine noise, and its constants in the largest entry."""
    chain = periodic_chain(rng) if rng.random() < 0.5 else random_chain(rng)[1]
    n, states, pi = int(rng.integers(2, 5)), chain.n_states, chain.stationary
    half = rng.normal(size=(n, n)) * 10 ** rng.uniform(-1, 1)
    A, b = half @ half.T / n, rng.normal(size=n)
    N, e = rng.normal(size=(states, n, n)), rng.normal(size=(states, n))
    N, e = (v - np.tensordot(pi, v, 1) for v in (N * rng.choice([0, 1]), e))

    def G(y, xi):
        return y @ A + b + np.einsum("pij,pj->pi", N[xi], y) + e[xi]

    corners = np.eye(n)
    noise = np.abs(N @ corners + e[:, :, None])
    known = {"sigma": noise.max(), "M": np.abs(A + b[:, None] + N + e[:, :, None]).max()}
    known |= {"L": np.abs(A).max(), "ell": np.abs(N).max(), "B": 2.0, "V0": np.log(n)}
    known |= {"T": chain.poisson_mixing_centred}
    inner = [rng.dirichlet(np.full(n, a), 200) for a in (1.0, 0.2)]
    points = np.vstack([corners, *inner])
    best = (0.5 * np.einsum("pi,ij,pj->p", points, A, points) + points @ b).min()
    return chain, n, G, lambda x: 0.5 * np.einsum("pi,ij,pj->p", x, A, x) + x @ b - best, known


@pytest.mark.theorem("thm-14-mirror")
@pytest.mark.theorem("thm-14-dual")
@pytest.mark.parametrize("kind", ["mirror", "dual_averaging"])
def test_entropy_steps_on_the_simplex(kind, record):
    rng = np.random.default_rng([146, len(kind)])
    worst = 0.0
    for _ in range(60):
        chain, n, G, gap, known = entropy_instance(rng)
        K = min(depth(chain, 300), int(rng.integers(1, 9)))
        c = 10 ** rng.uniform(-2, 2) * (known["sigma"] + 0.1)
        if kind == "mirror":
            A = 4 * known["L"] + c * (K + 1) * K**0.5
            step = lambda k, logs, g, S, A=A: logs - k / A * g  # noqa: E731
        else:
            rate = lambda k, c=c, L=known["L"]: 4 * L + c * (k + 1) ** 1.5  # noqa: E731
            step = lambda k, logs, g, S, rate=rate: -S / rate(k)  # noqa: E731
        for k, law, move, x_bar in entropy_levels(
            step, chain.transition, int(rng.integers(chain.n_states)), K, G, n
        ):
            reach = k / A if kind == "mirror" else 1.75 * k / rate(k - 1)
            assert move <= reach * known["M"] * (1 + 1e-9) + 1e-12
            if kind == "dual_averaging" or k == K:
                bound = getattr(bounds, kind)(k, c=c, **known)
                measured = law @ gap(x_bar)
                assert measured <= bound * (1 + 1e-12)
                worst = max(worst, measured / bound)
    record(f"entropy step, {kind}", worst)
