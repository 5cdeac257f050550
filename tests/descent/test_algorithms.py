"""Algorithms 1 and 2 and SGD: reference loops, identities, feasibility, records, errors."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from amgd.descent import (
    Diverged,
    StepSizes,
    Trajectory,
    algorithms,
    amgd_convex,
    amgd_nonconvex,
    random_output,
    sgd,
    steps,
)
from amgd.descent.problems import (
    Ball,
    Box,
    Linear,
    Logistic,
    Problem,
    Quadratic,
    Sigmoid,
    cosines,
    huber_cross,
)
from amgd.markov import MarkovChain, iid, sticky

PI = np.array([0.5, 0.3, 0.2])
CHAIN = sticky(PI, 0.3)
NOISE = np.array([[1.0, -0.5], [-1.0, 0.0], [-1.0, 1.25]])  # mean 0 under PI


def rng_for(seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(711, spawn_key=(seed,)))


def quadratic(domain: Any = None) -> Quadratic:
    return Quadratic(
        [[1.0, 0.2], [0.2, 0.5]], NOISE, stationary=PI, minimiser=[0.1, 0.2], domain=domain
    )


FREE: dict[str, Problem] = {
    "quadratic": quadratic(),
    "multiplicative": Quadratic(
        np.array([np.eye(2), 2 * np.eye(2), [[0.5, 0.3], [0.3, 0.5]]]), NOISE, stationary=PI
    ),
    "cosines": cosines(2 * NOISE, stationary=PI),
    "sigmoid": Sigmoid(3 * NOISE, stationary=PI),
}
BOUNDED: dict[str, Problem] = {
    "quadratic on a ball": quadratic(Ball(1.0)),
    "quadratic in a box": quadratic(Box(-0.5, [0.5, 2.0])),
    "linear": Linear(NOISE + np.array([0.3, -0.1]), stationary=PI, domain=Ball(2.0)),
    "logistic": Logistic(2 * NOISE, [1, -1, 1], radius=1.0, stationary=PI),
}


def any_steps(seed: int) -> StepSizes:
    """Random alpha, beta, gamma for Algorithm 1, with alpha_1 = 1."""
    table = rng_for(seed).uniform(0.05, 0.95, size=(3, 4001))
    table[0, 1] = 1.0
    return StepSizes(
        "random", lambda k: table[0, k], lambda k: 0.3 * table[1, k], lambda k: 0.3 * table[2, k]
    )


FREE_STEPS = {
    "theorem1": steps.theorem1(0.2),
    "nesterov": steps.nesterov(0.1),
    "momentum": steps.nesterov(0.05, 0.8),
    "ghadimi_lan": steps.ghadimi_lan(0.1),
    "sgd": steps.sgd(lambda k: 0.5 / k),
    "random": any_steps(0),
}
BOUNDED_STEPS = {
    "theorem2": steps.theorem2(1.2, 0.4),
    "theorem2_printed": steps.theorem2_printed(1.2),
    "theorem3": replace(steps.theorem3(0.3, 1.2), conditions=("C1", "C2")),
    "theorem3_printed": steps.theorem3_printed(0.3),
    "experiments": steps.theorem3_printed(0.3, "k+1", delta=0.1),
}


def path(chain: Any, n_steps: int, replicates: int, seed: int, initial: Any = None) -> np.ndarray:
    """The states xi_0, ..., xi_n that a run with this seed sees."""
    return chain.sample(n_steps + 1, rng=rng_for(seed), replicates=replicates, initial=initial)


def run(method: Callable[..., Trajectory], *args: Any, seed: int = 1, **kwargs: Any) -> Trajectory:
    return method(*args, rng=rng_for(seed), **kwargs)


# Reference loops ------------------------------------------------------------------------------


def reference_nonconvex(
    problem: Problem, xi: np.ndarray, s: StepSizes, x0: np.ndarray
) -> list[np.ndarray]:
    """Algorithm 1 for one replicate, as the paper writes it."""
    x, x_bar, out = x0, x0, []
    for k in range(1, len(xi)):
        alpha, beta, gamma = s.alpha(k), s.beta(k), s.gamma(k)
        y = (1 - alpha) * x_bar + alpha * x
        g = problem.sample_gradient(y, xi[k])
        x, x_bar = x - gamma * g, y - beta * g
        out.append(np.stack([y, x, x_bar]))
    return out


def reference_convex(
    problem: Problem, xi: np.ndarray, s: StepSizes, x0: np.ndarray
) -> list[np.ndarray]:
    """Algorithm 2 for one replicate: the arg min solved as a projection."""
    x, x_bar, out = x0, x0, []
    for k in range(1, len(xi)):
        alpha, beta, gamma = s.alpha(k), s.beta(k), s.gamma(k)
        y = (1 - beta) * x_bar + beta * x
        g = problem.sample_gradient(y, xi[k])
        x_tilde = (x + s.mu * gamma * y) / (1 + s.mu * gamma)
        x = problem.project(x_tilde - gamma / (1 + s.mu * gamma) * g)
        x_bar = (1 - alpha) * x_bar + alpha * x
        out.append(np.stack([y, x, x_bar]))
    return out


def assert_matches(got: Trajectory, reference: list[list[np.ndarray]], rtol: float) -> None:
    expected = np.array(reference).transpose(2, 1, 0, 3)  # which, k, replicate, d
    for part, want in zip((got.y, got.x, got.x_bar), expected, strict=True):
        np.testing.assert_allclose(part, want, rtol=0, atol=rtol * np.abs(want).max())


@pytest.mark.parametrize("rule", FREE_STEPS)
@pytest.mark.parametrize("name", FREE)
def test_algorithm_1_equals_the_scalar_loop(name: str, rule: str) -> None:
    problem, s = FREE[name], FREE_STEPS[rule]
    x0 = rng_for(3).normal(size=(4, 2))
    got = run(amgd_nonconvex, problem, CHAIN, s, 60, x0=x0, replicates=4, record=1, initial=2)
    states = path(CHAIN, 60, 4, seed=1, initial=2)
    reference = [reference_nonconvex(problem, states[r], s, x0[r]) for r in range(4)]
    assert_matches(got, reference, rtol=1e-12)


@pytest.mark.parametrize("rule", BOUNDED_STEPS)
@pytest.mark.parametrize("name", BOUNDED)
def test_algorithm_2_equals_the_scalar_loop(name: str, rule: str) -> None:
    problem, s = BOUNDED[name], BOUNDED_STEPS[rule]
    x0 = problem.project(rng_for(3).normal(size=(4, 2)))
    got = run(amgd_convex, problem, CHAIN, s, 60, x0=x0, replicates=4, record=1, initial=2)
    states = path(CHAIN, 60, 4, seed=1, initial=2)
    reference = [reference_convex(problem, states[r], s, x0[r]) for r in range(4)]
    assert_matches(got, reference, rtol=1e-12)


@pytest.mark.parametrize("rule", BOUNDED_STEPS)
def test_algorithm_2_solves_the_papers_arg_min(rule: str) -> None:
    """x_k minimises gamma [<G, x - y> + mu V(y, x)] + V(x_{k-1}, x) over the set."""
    problem, s = BOUNDED["quadratic on a ball"], BOUNDED_STEPS[rule]
    got = run(amgd_convex, problem, CHAIN, s, 40, x0=[0.6, -0.8], record=1, initial=0)
    states = path(CHAIN, 40, 1, seed=1, initial=0)[0]
    z = problem.project(rng_for(8).normal(size=(500, 2)))
    previous = np.array([0.6, -0.8])
    for k in range(1, 41):
        y, x = got.y[k - 1, 0], got.x[k - 1, 0]
        g = problem.sample_gradient(y, states[k])
        slope = s.gamma(k) * (g + s.mu * (x - y)) + (x - previous)
        assert ((z - x) @ slope).min() >= -1e-12 * (1 + s.gamma(k))
        previous = x


@pytest.mark.parametrize("average", ["none", "uniform", "linear"])
@pytest.mark.parametrize("name", ["quadratic", "cosines", "quadratic on a ball", "linear"])
def test_sgd_equals_the_scalar_loop(name: str, average: Any) -> None:
    problem = (FREE | BOUNDED)[name]
    got = run(
        sgd, problem, CHAIN, steps.sgd(lambda k: 0.7 / k**0.5), 50, x0=[0.3, 0.4], replicates=2,
        record=1, average=average,
    )  # fmt: skip
    states = path(CHAIN, 50, 2, seed=1)
    for r in range(2):
        x, seen = np.array([0.3, 0.4]), []
        for k in range(1, 51):
            np.testing.assert_allclose(got.y[k - 1, r], x, rtol=1e-12, atol=1e-13)
            x = problem.project(x - 0.7 / k**0.5 * problem.sample_gradient(x, states[r, k]))
            seen.append(x)
            weights = {
                "none": np.eye(k)[-1],
                "uniform": np.full(k, 1 / k),
                "linear": 2 * np.arange(1, k + 1) / (k * (k + 1)),
            }[average]
            np.testing.assert_allclose(got.x[k - 1, r], x, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(got.x_bar[k - 1, r], weights @ seen, rtol=1e-12, atol=1e-13)


# Identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("beta", [0.2, lambda k: 0.5 / k], ids=["constant", "decreasing"])
def test_equal_steps_are_sgd(name: str, beta: Any) -> None:
    kwargs: dict[str, Any] = {"x0": [5.0, -3.0], "replicates": 3, "record": 1}
    a = run(amgd_nonconvex, FREE[name], CHAIN, steps.sgd(beta), 500, **kwargs)
    b = run(sgd, FREE[name], CHAIN, steps.sgd(beta), 500, **kwargs)
    for part in ("y", "x", "x_bar"):
        np.testing.assert_allclose(getattr(a, part), getattr(b, part), rtol=1e-15, atol=0)
    np.testing.assert_array_equal(a.x, a.x_bar)
    np.testing.assert_array_equal(a.y[1:], a.x[:-1])


def gradients_on(run_: Trajectory, problem: Problem, states: np.ndarray) -> np.ndarray:
    return problem.sample_gradient(run_.y, states[:, 1:].T)


@given(seed=st.integers(0, 2**31), name=st.sampled_from(sorted(FREE)))
def test_identities_hold_on_every_path(seed: int, name: str) -> None:
    problem, s, n = FREE[name], any_steps(seed), 40
    x0 = rng_for(seed).normal(size=2)
    got = run(amgd_nonconvex, problem, CHAIN, s, n, x0=x0, replicates=2, record=1, seed=seed)
    g = gradients_on(got, problem, path(CHAIN, n, 2, seed))
    k = np.arange(1, n + 1)
    alpha, beta, gamma = (rule(k)[:, None, None] for rule in (s.alpha, s.beta, s.gamma))
    e = got.x_bar - got.x
    size = 1e-13 * max(1.0, np.abs(got.x).max(), np.abs(got.x_bar).max(), np.abs(g).max())
    # (a) y_k - x_{k-1} = (1 - alpha_k) e_{k-1}
    np.testing.assert_allclose(got.y[1:] - got.x[:-1], (1 - alpha[1:]) * e[:-1], rtol=0, atol=size)
    # (b) e_k = (1 - alpha_k) e_{k-1} + (gamma_k - beta_k) G_k
    before = np.concatenate([np.zeros_like(e[:1]), e[:-1]])
    np.testing.assert_allclose(e, (1 - alpha) * before + (gamma - beta) * g, rtol=0, atol=size)
    # (c) y_{k+1} - y_k = -beta_k G_k - alpha_{k+1} e_k
    step = -beta[:-1] * g[:-1] - alpha[1:] * e[:-1]
    np.testing.assert_allclose(got.y[1:] - got.y[:-1], step, rtol=0, atol=size)
    # x_bar_k - x_k = Gamma_k sum_t (gamma_t - beta_t) / Gamma_t G_t, as a ratio of products
    decay = np.zeros((n, n))  # Gamma_k / Gamma_t for t <= k
    for t in range(n):
        decay[t:, t] = np.cumprod(np.append(1.0, 1 - alpha[t + 1 :, 0, 0]))
    summed = np.einsum("kt,trd->krd", decay, (gamma - beta) * g)
    np.testing.assert_allclose(e, summed, rtol=0, atol=10 * size)


@pytest.mark.parametrize("name", FREE)
def test_gap_of_the_two_sequences_with_the_papers_gamma(name: str) -> None:
    """Gamma_k = 2 / (k (k + 1)) for alpha_k = 2 / (k + 1)."""
    problem, s, n = FREE[name], steps.theorem1(0.2), 200
    got = run(amgd_nonconvex, problem, CHAIN, s, n, x0=[1.0, 2.0], record=1)
    g = gradients_on(got, problem, path(CHAIN, n, 1, 1))[:, 0]
    k = np.arange(1, n + 1)
    Gamma = 2 / (k * (k + 1))
    sums = np.cumsum(((s.gamma(k) - s.beta(k)) / Gamma)[:, None] * g, axis=0)
    np.testing.assert_allclose(
        (got.x_bar - got.x)[:, 0], Gamma[:, None] * sums, rtol=0, atol=1e-13 * np.abs(got.x).max()
    )


@pytest.mark.parametrize("name", FREE)
def test_gamma_equal_to_beta_over_alpha_is_nesterov(name: str) -> None:
    """y_{k+1} = x_bar_k + (k - 1)/(k + 2) (x_bar_k - x_bar_{k-1}), x_bar_k = y_k - beta G_k."""
    # Checked step by step on the path itself: on a nonconvex problem two separate runs of
    # equal formulas drift apart from their roundings.
    problem, n = FREE[name], 100
    got = run(amgd_nonconvex, problem, CHAIN, steps.nesterov(0.1), n, x0=[1.0, 2.0], record=1)
    g = gradients_on(got, problem, path(CHAIN, n, 1, 1))
    size = 1e-13 * (1 + np.abs(got.y).max())
    np.testing.assert_allclose(got.x_bar, got.y - 0.1 * g, rtol=0, atol=size)
    k = np.arange(2, n)[:, None, None]
    look_ahead = got.x_bar[1:-1] + (k - 1) / (k + 2) * (got.x_bar[1:-1] - got.x_bar[:-2])
    np.testing.assert_allclose(got.y[2:], look_ahead, rtol=0, atol=size)
    np.testing.assert_array_equal(got.y[0, 0], [1.0, 2.0])
    np.testing.assert_allclose(got.y[1], got.x_bar[0], rtol=0, atol=size)


@pytest.mark.parametrize("m", [0.0, 0.5, 0.9])
def test_constant_alpha_is_classical_nesterov_momentum(m: float) -> None:
    """buf = m buf + G, p = p - beta (G + m buf): the update of torch.optim.SGD(nesterov=True)."""
    problem, n = FREE["quadratic"], 200
    s = steps.nesterov(0.1, momentum=m)
    got = run(amgd_nonconvex, problem, CHAIN, s, n, x0=[1.0, 2.0], record=1)
    states = path(CHAIN, n, 1, 1)[0]
    p, buffer = np.array([1.0, 2.0]), np.zeros(2)
    for k in range(1, n + 1):
        np.testing.assert_allclose(got.y[k - 1, 0], p, rtol=0, atol=1e-13)
        g = problem.sample_gradient(p, states[k])
        buffer = m * buffer + g
        p = p - 0.1 * (g + m * buffer)


def test_the_ghadimi_lan_correction_of_nesterov() -> None:
    """Eliminating e: y_{k+1} = x_bar_k + c (x_bar_k - x_bar_{k-1}) + beta G_k / (k + 2)."""
    problem, n = FREE["quadratic"], 50
    s = steps.ghadimi_lan(0.1)
    got = run(amgd_nonconvex, problem, CHAIN, s, n, x0=[1.0, 2.0], record=1)
    g = gradients_on(got, problem, path(CHAIN, n, 1, 1))
    k = np.arange(2, n)[:, None, None]
    bars = got.x_bar
    expected = bars[1:-1] + (k - 1) / (k + 2) * (bars[1:-1] - bars[:-2]) + 0.1 / (k + 2) * g[1:-1]
    np.testing.assert_allclose(got.y[2:], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rule", BOUNDED_STEPS)
def test_bar_minus_y_in_algorithm_2(rule: str) -> None:
    """x_bar_k - y_k = alpha_k (x_k - x_tilde_{k-1}), Step 2 of the proof of Lemma 2."""
    problem, s, n = BOUNDED["quadratic on a ball"], BOUNDED_STEPS[rule], 60
    got = run(amgd_convex, problem, CHAIN, s, n, x0=[0.6, -0.8], record=1)
    k = np.arange(1, n + 1)
    alpha, weight = s.alpha(k)[:, None, None], (s.mu * s.gamma(k))[:, None, None]
    before = np.concatenate([np.broadcast_to([0.6, -0.8], (1, 1, 2)), got.x[:-1]])
    tilde = (before + weight * got.y) / (1 + weight)
    np.testing.assert_allclose(got.x_bar - got.y, alpha * (got.x - tilde), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(got.x_bar[0], got.x[0])  # alpha_1 = 1
    np.testing.assert_array_equal(got.y[0, 0], [0.6, -0.8])


@pytest.mark.parametrize("rule", BOUNDED_STEPS)
@pytest.mark.parametrize("name", BOUNDED)
def test_every_point_is_feasible(name: str, rule: str) -> None:
    problem = BOUNDED[name]
    x0 = problem.project(10 * rng_for(4).normal(size=(20, 2)))
    got = run(amgd_convex, problem, CHAIN, BOUNDED_STEPS[rule], 300, x0=x0, replicates=20, record=1)
    for part in (got.x, got.x_bar, got.y):
        assert problem.domain.contains(part, tolerance=1e-14)


def test_projection_really_acts() -> None:
    got = run(
        amgd_convex, BOUNDED["linear"], CHAIN, steps.theorem2(1.0, 0.0), 200, x0=[0.0, 0.0],
        record=[200],
    )  # fmt: skip
    assert np.linalg.norm(got.x[0, 0]) == pytest.approx(2.0, rel=1e-12)


def test_convex_algorithm_without_constraint_and_noise_meets_nesterovs_bound() -> None:
    problem = Quadratic(np.geomspace(1e-4, 1.0, 10))
    k = np.unique(np.geomspace(1, 2000, 60).astype(int))
    got = run(
        amgd_convex, problem, iid([1.0]), steps.theorem2(1.0, 0.0), 2000, x0=np.ones(10), record=k
    )
    bound = 4 * 10 / (k * (k + 1))
    assert (problem.value(got.x_bar[:, 0]) <= bound).all()


def test_printed_steps_do_not_accelerate() -> None:
    """Proposition B: f = g x on [-D, D] keeps a gap of at least L D^2 / sqrt(k + 1)."""
    L, D, K = 0.7, 3.0, 1000
    problem = Linear([[L * D / np.sqrt(K + 1)]], domain=Box(-D, D))
    got = run(amgd_convex, problem, iid([1.0]), steps.theorem2_printed(L), K, x0=D, record=[K])
    gap = problem.value(got.x_bar[0, 0]) - problem.minimum
    assert gap >= L * D**2 / np.sqrt(K + 1)
    fast = run(amgd_convex, problem, iid([1.0]), steps.theorem2(L, 0.0), K, x0=D, record=[K])
    bound = 4 * L * (2 * D) ** 2 / (K * (K + 1))
    assert problem.value(fast.x_bar[0, 0]) - problem.minimum <= bound


# Runs as a whole ------------------------------------------------------------------------------


METHODS: dict[str, tuple[Callable[..., Trajectory], Problem, StepSizes]] = {
    "nonconvex": (amgd_nonconvex, FREE["cosines"], steps.theorem1(0.3)),
    "convex": (amgd_convex, BOUNDED["quadratic on a ball"], BOUNDED_STEPS["theorem3"]),
    "sgd": (sgd, BOUNDED["logistic"], steps.sgd(0.3)),
}
each_method = pytest.mark.parametrize("method", METHODS)


def same(a: Trajectory, b: Trajectory) -> None:
    for part in ("k", "y", "x", "x_bar"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))


@each_method
@pytest.mark.parametrize("initial", [None, 1, [0.2, 0.3, 0.5], [0, 1, 2, 1, 0]], ids=str)
@pytest.mark.parametrize("block", [1, 5, 12, 60, 1000])
def test_the_block_size_changes_nothing(
    method: str, initial: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, problem, s = METHODS[method]
    kwargs = {"x0": [0.1, 0.2], "replicates": 5, "record": 1, "initial": initial}
    whole = run(function, problem, CHAIN, s, 97, **kwargs)
    monkeypatch.setattr(algorithms, "_BLOCK_STATES", block)
    same(run(function, problem, CHAIN, s, 97, **kwargs), whole)


@each_method
@pytest.mark.parametrize(
    "record", [None, 7, 98, [97], [1], [5, 3, 50, 3], np.array([2, 96], dtype=np.uint8)], ids=str
)
def test_records_are_rows_of_the_whole(method: str, record: Any) -> None:
    function, problem, s = METHODS[method]
    kwargs = {"x0": [0.1, 0.2], "replicates": 3}
    whole = run(function, problem, CHAIN, s, 97, record=1, **kwargs)
    got = run(function, problem, CHAIN, s, 97, record=record, **kwargs)
    np.testing.assert_array_equal(whole.k, np.arange(1, 98))
    if record is not None:
        every = [*range(record, 97, record), 97] if isinstance(record, int) else record
        np.testing.assert_array_equal(got.k, np.unique(every))
    assert got.x.shape == (len(got.k), 3, 2)
    rows = got.k - 1
    same(got, Trajectory(whole.k[rows], whole.y[rows], whole.x[rows], whole.x_bar[rows]))


@pytest.mark.parametrize("n_steps", [1, 2, 3, 100, 12345])
def test_default_record(n_steps: int) -> None:
    got = run(sgd, Quadratic([1.0]), iid([1.0]), steps.sgd(0.1), n_steps, x0=1.0)
    assert got.k[0] == 1
    assert got.k[-1] == n_steps
    assert (np.diff(got.k) > 0).all()
    assert len(got.k) <= 100
    assert n_steps < 1000 or len(got.k) > 60


@each_method
def test_a_longer_run_continues_a_shorter_one(method: str) -> None:
    function, problem, s = METHODS[method]
    short = run(function, problem, CHAIN, s, 40, x0=[0.1, 0.2], replicates=3, record=1)
    long = run(function, problem, CHAIN, s, 70, x0=[0.1, 0.2], replicates=3, record=1)
    same(short, Trajectory(long.k[:40], long.y[:40], long.x[:40], long.x_bar[:40]))


@each_method
def test_runs_are_deterministic_and_leave_their_input_alone(method: str) -> None:
    function, problem, s = METHODS[method]
    x0 = np.array([[0.1, 0.2], [0.3, 0.4]])
    kept = x0.copy()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a = run(function, problem, CHAIN, s, 50, x0=x0, replicates=2, record=1)
    b = run(function, problem, CHAIN, s, 50, x0=x0, replicates=2, record=1)
    same(a, b)
    np.testing.assert_array_equal(x0, kept)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    c = run(function, problem, CHAIN, s, 50, x0=x0, replicates=2, record=1, seed=2)
    assert not np.array_equal(a.x, c.x)


@each_method
def test_a_replicate_depends_on_its_own_samples_and_start_only(method: str) -> None:
    """Each replicate, run alone through the states it saw, gives the same iterates."""
    function, problem, s = METHODS[method]
    starts = problem.project(rng_for(5).normal(size=(4, 2)))
    batch = run(function, problem, CHAIN, s, 30, x0=starts, replicates=4, record=1)
    states = path(CHAIN, 30, 4, seed=1)
    for r in range(4):

        class Replay:
            n_states, stationary, seen = 3, PI, states[r]

            def sample(self, length: int, **_: Any) -> np.ndarray:
                return self.seen[None, :length]

        alone = run(function, problem, Replay(), s, 30, x0=starts[r], record=1)
        for part in ("y", "x", "x_bar"):
            np.testing.assert_allclose(
                getattr(alone, part)[:, 0], getattr(batch, part)[:, r], rtol=1e-13, atol=1e-15
            )


def test_the_first_sample_is_xi_1_not_the_initial_state() -> None:
    problem = Quadratic([1.0], [[-1.0], [1.0]])
    got = run(sgd, problem, iid([0.5, 0.5]), steps.sgd(1.0), 1, x0=0.0, replicates=400, initial=0)
    assert set(got.x[0, :, 0]) == {-1.0, 1.0}  # not all the sample of state 0

    class Recorder:
        n_states, stationary = 2, np.array([0.5, 0.5])

        def sample(self, length: int, **_: Any) -> np.ndarray:
            return np.array([[0, 1, 1, 0]])[:, :length]

    got = run(sgd, problem, Recorder(), steps.sgd(1.0), 3, x0=0.0, record=1, initial=0)
    np.testing.assert_array_equal(got.x.ravel(), [-1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("x0", "dim", "expected"),
    [
        (2.0, 1, [[2.0]] * 3),
        ([2.0], 1, [[2.0]] * 3),
        ([[1.0], [2.0], [3.0]], 1, [[1.0], [2.0], [3.0]]),
        ([1, 2], 2, [[1.0, 2.0]] * 3),
        (np.arange(6).reshape(3, 2), 2, np.arange(6.0).reshape(3, 2)),
    ],
)
def test_starts(x0: Any, dim: int, expected: Any) -> None:
    problem = Quadratic(np.ones(dim))
    got = run(sgd, problem, iid([1.0]), steps.sgd(0.5), 1, x0=x0, replicates=3, record=1)
    np.testing.assert_array_equal(got.y[0], expected)


def test_memory_does_not_grow_with_the_number_of_steps() -> None:
    problem = quadratic()
    peaks = []
    for n_steps in (1400, 5600):
        tracemalloc.start()
        run(
            amgd_nonconvex, problem, CHAIN, steps.theorem1(0.1), n_steps, x0=[0.0, 0.0],
            replicates=200, record=[n_steps],
        )  # fmt: skip
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.05 * peaks[0]


# Random output --------------------------------------------------------------------------------


def outputs(weights: Any, s: StepSizes, n_steps: int, size: int, **kwargs: Any) -> np.ndarray:
    """The R that were drawn: on F = |x|^2 / 2 without noise all y_k differ."""
    problem = Quadratic([1.0])
    whole = run(amgd_nonconvex, problem, iid([1.0]), s, n_steps, x0=1.0, record=1).y[:, 0, 0]
    assert len(set(whole)) == n_steps
    y = run(
        random_output, problem, iid([1.0]), s, n_steps, x0=1.0, replicates=size, weights=weights,
        **kwargs,
    )  # fmt: skip
    index = {value: k for k, value in enumerate(whole, start=1)}
    return np.array([index[value] for value in y[:, 0]])


@pytest.mark.parametrize("block", [3, 65536])
@pytest.mark.parametrize("weights", ["gamma", "paper", "uniform"])
def test_random_output_has_the_right_law(
    weights: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithms, "_SCHEDULE_BLOCK", block)
    s, n, size = steps.nesterov(lambda k: 0.15 / np.sqrt(k)), 12, 40_000
    k = np.arange(1, n + 1)
    gamma = s.gamma(k)
    p = {"gamma": gamma, "paper": gamma * (1 - gamma), "uniform": np.ones(n)}[weights]
    p = p / p.sum()
    counts = np.bincount(outputs(weights, s, n, size), minlength=n + 1)[1:]
    assert chisquare(counts, size * p).pvalue > 1e-3
    # The test has power: it rejects the other two laws.
    others = {"gamma": gamma, "paper": gamma * (1 - gamma), "uniform": np.ones(n)}
    for name, q in others.items():
        if name != weights:
            assert chisquare(counts, size * q / q.sum()).pvalue < 1e-6


def test_random_output_takes_points_of_the_path_of_algorithm_1() -> None:
    problem, s = FREE["cosines"], steps.theorem1(0.3)
    whole = run(amgd_nonconvex, problem, CHAIN, s, 80, x0=[1.0, 1.0], replicates=6, record=1)
    y = run(random_output, problem, CHAIN, s, 80, x0=[1.0, 1.0], replicates=6)
    chosen = [np.flatnonzero((whole.y[:, r] == y[r]).all(axis=1)) for r in range(6)]
    assert all(len(c) == 1 for c in chosen)
    assert len({int(c[0]) for c in chosen}) > 1  # one R for each replicate


def test_random_output_of_a_rule_that_rests() -> None:
    """A k with gamma_k = 0 is never drawn."""
    s = StepSizes("rests", lambda k: 2 / (k + 1), lambda k: 0.1, lambda k: 0.2 * (k % 2))
    assert set(outputs("gamma", s, 6, 2000)) == {1, 3, 5}


def test_random_output_refuses_weights_without_mass_or_sign() -> None:
    zero = StepSizes("zero", lambda k: 2 / (k + 1), lambda k: 0.1, lambda k: 0.0)
    args = (Quadratic([1.0]), iid([1.0]))
    with pytest.raises(ValueError, match="positive sum"):
        run(random_output, *args, zero, 5, x0=1.0)
    with pytest.raises(ValueError, match="L gamma_k < 1 at k = 19 "):
        run(random_output, *args, steps.nesterov(0.1), 30, x0=1.0, weights="paper")
    run(random_output, *args, steps.nesterov(0.1), 30, x0=1.0, weights="paper", L=0.5)
    with pytest.raises(ValueError, match="weights must be one of"):
        run(random_output, *args, steps.sgd(0.1), 5, x0=1.0, weights="equal")


# Divergence -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (amgd_nonconvex, steps.sgd(1e40)),
        (sgd, steps.sgd(1e40)),
        (amgd_convex, steps.theorem3_printed(1e-40)),
    ],
)
def test_divergence_names_k_and_replicate_and_keeps_the_records(
    function: Callable[..., Trajectory], rule: StepSizes
) -> None:
    problem = Quadratic([1.0])
    x0 = [[0.0], [1.0], [0.0], [1e35]]  # replicates 0 and 2 sit at the minimiser
    with pytest.raises(Diverged) as caught:
        run(function, problem, iid([1.0]), rule, 50, x0=x0, replicates=4, record=1)
    error = caught.value
    assert isinstance(error, FloatingPointError)
    assert error.run == 3  # it starts farther out, so it leaves first
    assert error.recorded is not None
    np.testing.assert_array_equal(error.recorded.k, np.arange(1, error.k))
    assert len(error.recorded.x) == error.k - 1
    assert np.isfinite(error.recorded.x).all()
    assert error.recorded.x[-1, 3, 0] != 0
    assert f"replicate 3 is not finite at k = {error.k} (1 of 4" in str(error)
    assert function.__name__ in str(error)


def test_divergence_is_not_hidden_by_the_projection() -> None:
    """A box clips an infinity to its face: the run must stop all the same."""

    class Spike(Quadratic):
        def _sample_gradient(self, x: np.ndarray, xi: np.ndarray) -> np.ndarray:
            return np.where(x < 0.5, np.inf, x)

    problem = Spike([1.0], domain=Box(-1.0, 1.0))
    for function, rule in ((amgd_convex, steps.theorem2(1.0, 0.0)), (sgd, steps.sgd(0.25))):
        with pytest.raises(Diverged, match="replicate 0"):
            run(function, problem, iid([1.0]), rule, 50, x0=1.0)


@pytest.mark.parametrize(("beta", "gamma"), [(1e200, 0.0), (0.0, 1e200)])
def test_either_sequence_alone_can_stop_the_run(beta: float, gamma: float) -> None:
    """Only x_bar, or only x, overflows at the first step."""
    rule = StepSizes("one", lambda k: 2 / (k + 1), lambda k: beta, lambda k: gamma)
    with pytest.raises(Diverged, match="not finite at k = 1 "):
        run(amgd_nonconvex, Quadratic([1e150]), iid([1.0]), rule, 5, x0=1.0)


def test_random_output_stops_too() -> None:
    with pytest.raises(Diverged, match="random_output") as caught:
        run(random_output, Quadratic([1.0]), iid([1.0]), steps.sgd(1e40), 5000, x0=1.0)
    assert caught.value.recorded is None


def test_large_finite_iterates_are_no_false_alarm() -> None:
    problem = Quadratic([1e-300])
    x0 = np.full((4, 1), 1.7e308)  # finite, though their sum is not
    got = run(sgd, problem, iid([1.0]), steps.sgd(1.0), 3, x0=x0, replicates=4)
    np.testing.assert_array_equal(got.x, 1.7e308)


# Bad input ------------------------------------------------------------------------------------


GOOD: dict[str, Any] = {
    "problem": FREE["quadratic"],
    "chain": CHAIN,
    "steps": steps.sgd(0.1),
    "n_steps": 10,
    "x0": [0.0, 0.0],
    "rng": np.random.default_rng(0),
}


def call(function: Callable[..., Any], **change: Any) -> Any:
    """Call with the good arguments and these instead; the one step of SGD stands where steps do."""
    arguments = GOOD | change
    head = [arguments.pop(name) for name in ("problem", "chain", "steps", "n_steps")]
    return function(*head, **arguments)


BAD = {
    "rng seed": ({"rng": 0}, TypeError, "default_rng"),
    "rng legacy": ({"rng": np.random.RandomState(0)}, TypeError, "Generator"),
    "n_steps zero": ({"n_steps": 0}, ValueError, "n_steps"),
    "n_steps float": ({"n_steps": 10.0}, TypeError, "n_steps"),
    "n_steps bool": ({"n_steps": True}, TypeError, "n_steps"),
    "replicates": ({"replicates": 0}, ValueError, "replicates"),
    "x0 shape": ({"x0": [0.0, 0.0, 0.0]}, ValueError, r"x0 must have shape \(2,\)"),
    "x0 scalar": ({"x0": 0.0}, ValueError, "x0 must have shape"),
    "x0 replicates": ({"x0": np.zeros((3, 2))}, ValueError, "x0 must have shape"),
    "x0 NaN": ({"x0": [0.0, np.nan]}, ValueError, "x0 must be finite"),
    "x0 text": ({"x0": ["a", "b"]}, TypeError, "x0"),
    "x0 bool": ({"x0": [True, False]}, TypeError, "x0"),
    "x0 None": ({"x0": None}, TypeError, "x0 must hold real numbers"),
    "record empty": ({"record": []}, TypeError, "record must be .*: got nothing"),
    "record word": ({"record": "all"}, TypeError, r"record must be an integer or .*every n-th k"),
    "record nothing": ({"record": np.array([], dtype=int)}, ValueError, r"got shape \(0,\)"),
    "record table": ({"record": [[1, 2]]}, ValueError, r"record must list .*got shape \(1, 2\)"),
    "record every 0": ({"record": 0}, ValueError, "record must be at least 1: got 0"),
    "record every 2.5": ({"record": 2.5}, TypeError, "record"),
    "record True": ({"record": True}, TypeError, "record"),
    "record zero": ({"record": [0, 1]}, ValueError, r"1\.\.10"),
    "record beyond": ({"record": [11]}, ValueError, r"1\.\.10"),
    "record float": ({"record": [1.0]}, TypeError, "record"),
    "record mask": ({"record": [True, False]}, TypeError, "record"),
    "steps": ({"steps": "theorem1"}, TypeError, "(StepSizes|step must be a real number)"),
    "chain": ({"chain": np.eye(2)}, TypeError, "chain must have a method sample"),
    "problem": ({"problem": lambda x: x}, TypeError, "problem must have a method"),
    "chain size": ({"chain": iid([1.0])}, ValueError, "same states: got 1 and 3"),
    "stationary": (
        {"chain": iid([0.2, 0.3, 0.5])},
        ValueError,
        "make the problem with stationary=",
    ),
    "initial": ({"initial": 7}, ValueError, "initial"),
    "alpha_1": (
        {"steps": StepSizes("late", lambda k: 0.5, lambda k: 0.1, lambda k: 0.1)},
        ValueError,
        "alpha_1 = 1 at k = 1",
    ),
    "alpha later": (
        {
            "steps": StepSizes(
                "odd", lambda k: np.where(k == 6, 1.5, 2 / (k + 1)), lambda k: 0.1, lambda k: 0.1
            )
        },
        ValueError,
        "alpha_k <= 1 at k = 6",
    ),
}


@pytest.mark.parametrize("function", [amgd_nonconvex, sgd])
@pytest.mark.parametrize(("change", "kind", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(
    function: Callable[..., Trajectory], change: dict[str, Any], kind: type[Exception], message: str
) -> None:
    call(function)
    with pytest.raises(kind, match=message):
        call(function, **change)


BALL = BOUNDED["quadratic on a ball"]
MISMATCH = {
    "convex rule in Algorithm 1": (amgd_nonconvex, {"steps": steps.theorem3(0.1, 1.0)}, "made for"),
    "convex rule in SGD": (sgd, {"steps": steps.theorem2(1.0, 1.0)}, "made for"),
    "step rule in Algorithm 2": (amgd_convex, {"problem": BALL}, "made for Algorithm 1"),
    "accelerated rule in SGD": (sgd, {"steps": steps.nesterov(0.1)}, "gamma_k != beta_k at k = 2"),
    "constraint in Algorithm 1": (amgd_nonconvex, {"problem": BALL}, "no projection"),
    "start outside, SGD": (sgd, {"problem": BALL, "x0": [3.0, 0.0]}, "x0 must be feasible"),
    "start outside, Algorithm 2": (
        amgd_convex,
        {"problem": BALL, "x0": [[0.0, 0.0], [0.0, 2.0]], "replicates": 2,
         "steps": steps.theorem2(1.0, 1.0)},
        "replicate 1 is 1 outside",
    ),
    "C1 of the problem": (
        amgd_convex, {"problem": BALL, "steps": steps.theorem2(0.01, 0.1)}, "L alpha_k gamma_k"
    ),
    "range of Theorem 1": (
        amgd_nonconvex, {"steps": steps.theorem1(0.1, lambda k: 0.1 + 0.002 * k)}, "at k = 10 "
    ),
    "mu above the problem's": (
        amgd_convex,
        {"problem": BOUNDED["logistic"], "steps": steps.theorem3(0.3, 1.2)},
        r"strong convexity of the problem, 0.0374\d*: got 0.3; .*conditions=\('C1', 'C2'\)",
    ),
    "mu of a problem that is only convex": (
        amgd_convex,
        {"problem": BOUNDED["linear"], "steps": steps.theorem3(0.3, 1.2)},
        "of the problem, 0: got 0.3",
    ),
    "mu above by little": (
        amgd_convex,
        {"problem": BALL, "steps": steps.theorem3(BALL.mu * 1.001, 1.2)},
        "of the problem",
    ),
    "average": (sgd, {"average": "mean"}, "average"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISMATCH)
def test_parts_that_do_not_fit_are_refused(name: str) -> None:
    function, change, message = MISMATCH[name]
    with pytest.raises(ValueError, match=message):
        call(function, **change)


def test_a_rule_with_the_right_mu_or_without_its_condition_is_taken() -> None:
    wrong = steps.theorem3(min(1.0, 3 * BALL.mu), 1.2)
    for rule in (steps.theorem3(BALL.mu, 1.2), replace(wrong, conditions=("C1", "C2"))):
        call(amgd_convex, problem=BALL, steps=rule)


@pytest.mark.parametrize("function", [amgd_nonconvex, sgd, random_output])
def test_a_chain_with_several_stationary_laws_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="not unique: the chain has 3 recurrent classes"):
        call(function, chain=MarkovChain(np.eye(3)), initial=1)


def test_many_states() -> None:
    problem = huber_cross(16, L=1.0, M=1.0)
    chain = iid(problem.stationary)
    got = run(amgd_nonconvex, problem, chain, steps.theorem1(0.1), 200, x0=np.zeros(16))
    assert got.x.shape == (len(got.k), 1, 16)
