"""Every claimed constant, gradient, mean and minimum of the problems."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from amgd.descent.problems import (
    Ball,
    Box,
    Cosines,
    Domain,
    Huber,
    Linear,
    Logistic,
    Problem,
    Quadratic,
    Sigmoid,
    WholeSpace,
    clipped_linear,
    cosines,
    huber_cross,
    huber_pair,
    huber_simplex,
    sine_counterexample,
)

N_POINTS = 3000


def rng_for(seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(20260, spawn_key=(seed,)))


def random_quadratic(multiplicative: bool, domain: Domain | None = None) -> Quadratic:
    rng = rng_for(1)
    pi = np.array([0.5, 0.3, 0.2])
    noise = rng.normal(size=(3, 2))
    noise -= pi @ noise
    root = rng.normal(size=(3, 2, 2))
    matrices = root @ root.swapaxes(1, 2) if multiplicative else root[0] @ root[0].T
    return Quadratic(
        matrices, noise, stationary=pi, minimiser=[0.3, -0.2], offset=-7.0, domain=domain
    )


def random_logistic(radius: float, ridge: float = 0.0) -> Logistic:
    rng = rng_for(2)
    labels = [1, -1, 1, 1, -1, -1]
    pi = np.arange(1, 7) / 21
    return Logistic(rng.normal(size=(6, 2)), labels, radius=radius, ridge=ridge, stationary=pi)


@dataclass(frozen=True)
class Case:
    """A problem, the size of the random points, and the constants its docstring calls exact."""

    make: Callable[[], Problem]
    exact: str = ""
    scale: float = 2.0
    convex: bool = True


LEMMA1 = sine_counterexample([-4.0, 4.0], stationary=[0.25, 0.75])
CASES = {
    "quadratic": Case(lambda: Quadratic([1.0, 0.1]), "L L_sample mu ell sigma"),
    "quadratic 1-d": Case(
        lambda: Quadratic([1.0], [[-1.0], [1.0]], domain=Box(-1.0, 1.0)), "L L_sample mu sigma M"
    ),
    "quadratic additive": Case(
        lambda: random_quadratic(False, Ball(2.0)), "L L_sample mu ell sigma diameter"
    ),
    "quadratic multiplicative": Case(
        lambda: random_quadratic(True, Box(-1.0, [1.0, 2.0])), "L L_sample mu ell diameter"
    ),
    "quadratic multiplicative, free": Case(lambda: random_quadratic(True), "L L_sample mu ell"),
    "quadratic indefinite samples": Case(
        lambda: Quadratic([[[3.0]], [[-1.0]]], [[0.0], [0.0]], domain=Ball(1.0)),
        "L L_sample mu ell M sigma",
    ),
    "quadratic zero": Case(lambda: Quadratic([0.0, 0.0]), "L L_sample mu ell sigma M"),
    "linear interval": Case(
        lambda: Linear([[1.5], [0.5]], domain=Box(-5.0, 5.0)), "L L_sample ell sigma M diameter"
    ),
    "linear box": Case(
        lambda: Linear([[1.0, 0.0], [-3.0, 0.0]], stationary=[0.2, 0.8], domain=Box(-1.0, 2.0)),
        "L L_sample ell sigma M",
    ),
    "linear ball": Case(
        lambda: Linear([[1.0, 2.0], [0.0, -1.0]], domain=Ball(3.0)),
        "L L_sample ell sigma M diameter",
    ),
    "huber pair": Case(lambda: huber_pair(2.0, 1.0), "L L_sample M sigma"),
    "huber pair, printed scale": Case(
        lambda: huber_pair(20000.0, 0.003), "L L_sample M sigma", scale=1e-6
    ),
    "huber cross": Case(lambda: huber_cross(3, 2.0, 1.0), "L L_sample M"),
    "huber simplex": Case(lambda: huber_simplex(3, 2.0, 1.0), "L L_sample M", scale=1.0),
    "huber weighted": Case(
        lambda: Huber([[0.0, 0.0], [0.4, 0.1]], 1.5, 1.0, stationary=[0.9, 0.1]), "L L_sample M"
    ),
    "huber quadratic part": Case(
        lambda: Huber([[-0.2], [0.2]], 2.0, 5.0, domain=Ball(1.0)), "L mu ell M sigma"
    ),
    "clipped linear": Case(
        lambda: clipped_linear(4.0, 1.0, 20.0), "L L_sample M sigma ell mu diameter", scale=20.0
    ),
    "logistic inside": Case(lambda: random_logistic(10.0), "L L_sample"),
    "logistic on the sphere": Case(lambda: random_logistic(0.1), "L L_sample diameter"),
    "logistic ridge": Case(lambda: random_logistic(2.0, ridge=0.3), "L L_sample"),
    "logistic separable": Case(
        lambda: Logistic([[1.0, 0.2], [0.8, -0.1]], radius=5.0), "L L_sample"
    ),
    "logistic one state": Case(lambda: Logistic([[1.0]], radius=1.0), "L L_sample sigma ell"),
    "sigmoid": Case(
        lambda: Sigmoid([[1.0, 0.5], [-2.0, 1.0], [0.3, 0.3]], [1, 1, -1]),
        "L_sample M",
        convex=False,
    ),
    "sigmoid in a box": Case(lambda: Sigmoid([[2.0]], domain=Box(-1.0, 1.0)), "M", convex=False),
    "cosines": Case(
        lambda: cosines([[0.0, 1.0], [2.0, -1.0], [0.3, 0.2]], amplitude=2.0, frequency=1.5),
        "L L_sample M sigma ell",
        scale=6.0,
        convex=False,
    ),
    "cosines with amplitudes": Case(
        lambda: Cosines(
            [[1.0, 0.0], [2.0, 1.0]], [[0.5, 1.0], [-1.0, 0.0]], [1.0, 0.5], stationary=[0.3, 0.7]
        ),
        "L L_sample M sigma ell",
        scale=10.0,
        convex=False,
    ),
    "lemma 1": Case(lambda: LEMMA1, "L L_sample M sigma ell", scale=5e6, convex=False),
}
table = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def points_of(case: Case, problem: Problem, seed: int = 0) -> np.ndarray:
    """Random feasible points: crowded near the centre, and spread up to the boundary."""
    rng = rng_for(seed)
    size = case.scale * rng.choice([0.01, 0.3, 1.0, 3.0], size=(N_POINTS, 1))
    x = rng.normal(size=(N_POINTS, problem.dim)) * size
    x[0] = 0.0
    return problem.project(x)


def all_sample_gradients(problem: Problem, x: np.ndarray) -> np.ndarray:
    """Shape (points, states, d)."""
    return problem.sample_gradient(x[:, None], np.arange(problem.n_states))


def measured(case: Case, problem: Problem) -> dict[str, float]:
    """What the claimed constants must not fall below (mu, minimum: not exceed)."""
    rng = rng_for(9)
    x = points_of(case, problem)
    near = problem.project(x + 1e-4 * case.scale * rng.normal(size=x.shape))
    far = problem.project(x[rng.permutation(len(x))])
    found: dict[str, list[float]] = {name: [] for name in ["L", "L_sample", "ell", "mu"]}
    for other in (near, far):
        step = np.linalg.norm(x - other, axis=1)
        keep = step > 1e-6 * case.scale
        a, b, step = x[keep], other[keep], step[keep]
        mean = problem.gradient(a) - problem.gradient(b)
        sample = all_sample_gradients(problem, a) - all_sample_gradients(problem, b)
        noise = np.linalg.norm(sample - mean[:, None], axis=2).max(axis=1)
        found["L"].append((np.linalg.norm(mean, axis=1) / step).max())
        found["L_sample"].append((np.linalg.norm(sample, axis=2).max(axis=1) / step).max())
        found["ell"].append((noise / step).max())
        found["mu"].append((np.einsum("ni,ni->n", mean, a - b) / step**2).min())
    gradients = all_sample_gradients(problem, x)
    noise = gradients - problem.gradient(x)[:, None]
    return {
        "L": max(found["L"]),
        "L_sample": max(found["L_sample"]),
        "ell": max(found["ell"]),
        "mu": min(found["mu"]),
        "M": np.linalg.norm(gradients, axis=2).max(),
        "sigma": np.linalg.norm(noise, axis=2).max(),
        "minimum": problem.value(x).min(),
        "diameter": np.linalg.norm(x[:500, None] - x[None, :500], axis=2).max(),
    }


@table
def test_no_constant_is_exceeded(case: Case) -> None:
    problem = case.make()
    got = measured(case, problem)
    # Differences of gradients lose digits: the slack is the rounding of the quotients.
    noise = 1e-9 * (problem.L_sample + 1e-3)
    for name in ("L", "L_sample", "ell", "M", "sigma", "diameter"):
        bound = getattr(problem, name)
        assert got[name] <= bound * (1 + 1e-9) + noise, name
    if case.convex:
        assert got["mu"] >= problem.mu * (1 - 1e-6) - noise
    else:
        assert problem.mu == 0.0
    assert got["minimum"] >= problem.minimum - 1e-12 * (1 + abs(problem.minimum))


@table
def test_exact_constants_are_approached(case: Case) -> None:
    problem = case.make()
    got = measured(case, problem)
    for name in case.exact.split():
        claimed = getattr(problem, name)
        if name == "mu":
            assert got[name] <= claimed * 1.03 + 1e-9 * problem.L
        elif claimed == 0:
            assert got[name] <= 1e-9 * (1 + problem.L_sample)
        else:
            assert got[name] >= 0.97 * claimed, (name, got[name], claimed)


@table
def test_gradients_are_the_derivatives_of_the_values(case: Case) -> None:
    problem = case.make()
    x = points_of(case, problem, seed=3)[:60]
    h = 1e-5 * case.scale
    shifts = h * np.eye(problem.dim)
    size = np.abs(all_sample_gradients(problem, x)).max() + 1e-300

    def difference(value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        return np.stack([(value(x + s) - value(x - s)) / (2 * h) for s in shifts], axis=-1)

    assert np.abs(difference(problem.value) - problem.gradient(x)).max() <= 1e-6 * size
    for i in range(problem.n_states):
        numeric = difference(lambda z, i=i: problem.sample_value(z, np.full(len(z), i)))
        exact = problem.sample_gradient(x, np.full(len(x), i))
        assert np.abs(numeric - exact).max() <= 1e-6 * size


@table
def test_means_over_the_states(case: Case) -> None:
    problem = case.make()
    x = points_of(case, problem, seed=4)[:300]
    states = np.arange(problem.n_states)
    gradients = all_sample_gradients(problem, x)
    mean = np.einsum("i,nid->nd", problem.stationary, gradients)
    assert np.abs(mean - problem.gradient(x)).max() <= 1e-12 * (1 + np.abs(gradients).max())
    values = problem.sample_value(x[:, None], states)
    mean_value = values @ problem.stationary
    assert np.abs(mean_value - problem.value(x)).max() <= 1e-12 * (1 + np.abs(values).max())


@table
def test_minimiser_is_feasible_and_optimal(case: Case) -> None:
    problem = case.make()
    best = problem.minimiser
    if best is None:
        assert isinstance(problem, Sigmoid)
        return
    assert problem.domain.contains(best)
    assert abs(problem.value(best) - problem.minimum) <= 1e-12 * (1 + abs(problem.minimum))
    slope = problem.gradient(best)
    if case.convex:  # first-order condition, sufficient for a convex function
        z = points_of(case, problem, seed=5)
        assert ((z - best) @ slope).min() >= -1e-10 * (1 + problem.L) * (1 + case.scale)
    else:
        assert np.abs(slope).max() <= 1e-9 * problem.M


@table
def test_shapes_and_state_look_up(case: Case) -> None:
    problem = case.make()
    rng = rng_for(6)
    x = points_of(case, problem, seed=6)[:24].reshape(2, 3, 4, problem.dim)
    xi = rng.integers(problem.n_states, size=(2, 3, 4))
    before = x.copy()
    assert problem.value(x).shape == (2, 3, 4)
    assert problem.gradient(x).shape == x.shape
    got = problem.sample_gradient(x, xi)
    for index in np.ndindex(2, 3, 4):
        one = problem.sample_gradient(x[index], int(xi[index]))
        np.testing.assert_allclose(got[index], one, rtol=1e-13, atol=1e-13 * np.abs(got).max())
    got[...] = np.nan  # the result belongs to the caller
    assert np.isfinite(problem.sample_gradient(x, xi)).all()
    np.testing.assert_array_equal(x, before)


@table
@pytest.mark.parametrize(
    ("lead", "states"),
    [
        ((), ()),
        ((), (3,)),
        ((4,), ()),
        ((1,), (3,)),
        ((3, 1), (1, 4)),
        ((4,), (3, 1)),
        ((0,), (0,)),
    ],
)
def test_points_and_states_broadcast(
    case: Case, lead: tuple[int, ...], states: tuple[int, ...]
) -> None:
    problem = case.make()
    size = math.prod(lead)
    x = points_of(case, problem, seed=7)[:size].reshape(*lead, problem.dim)
    xi = rng_for(7).integers(problem.n_states, size=states)
    before = x.copy()
    gradient, value = problem.sample_gradient(x, xi), problem.sample_value(x, xi)
    shape = np.broadcast_shapes(lead, states)
    assert (gradient.shape, value.shape) == ((*shape, problem.dim), shape)
    every_x, every_xi = np.broadcast_to(x, gradient.shape), np.broadcast_to(xi, shape)
    for index in np.ndindex(shape):
        one, i = every_x[index], int(every_xi[index])
        for got, want in (
            (gradient[index], problem.sample_gradient(one, i)),
            (value[index], problem.sample_value(one, i)),
        ):
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13 * np.abs(want).max())
    gradient[...] = np.nan  # the result belongs to the caller
    np.testing.assert_array_equal(x, before)


DOMAINS = {
    "ball": Ball(1.5),
    "box": Box([-1.0, 0.0, -2.0], [1.0, 0.5, 2.0]),
    "scalar box": Box(-0.5, 2.0),
    "space": WholeSpace(),
}


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_projection_is_the_nearest_point(domain: Domain) -> None:
    x = rng_for(7).normal(size=(400, 3)) * 3
    p = domain.project(x)
    assert domain.contains(p)
    np.testing.assert_allclose(domain.project(p), p, rtol=0, atol=1e-15)
    # <x - p, q - p> <= 0 for every feasible q characterises the projection.
    assert np.einsum("ni,nmi->nm", x - p, p[None] - p[:, None]).max() <= 1e-12
    assert np.linalg.norm(p, axis=1).max() <= domain.farthest(np.zeros(3)) * (1 + 1e-15)


@pytest.mark.parametrize("radius", [5e-300, 5e-170, 5e-140, 5e-10, 5.0, 5e150, 5e290])
def test_ball_projects_at_every_scale(radius: float) -> None:
    for size in (1e-300, 1e-170, 1e-150, 1e-8, 1.0, 1e150, 1e200, 3e307):
        x = np.array([[3.0, 4.0], [0.6, -0.8], [0.0, 0.0]]) * size
        outside = np.array([size > radius / 5, size > radius, False])[:, None]
        unit = np.array([[0.6, 0.8], [0.6, -0.8], [0.0, 0.0]])
        expected = np.where(outside, unit * radius, x)
        np.testing.assert_allclose(Ball(radius).project(x), expected, rtol=4e-15)


def test_unbounded_quadratic_has_no_gradient_bound() -> None:
    problem = Quadratic([1.0])
    assert np.isinf([problem.M, problem.diameter, random_quadratic(True).sigma]).all()
    assert np.isfinite(random_quadratic(False).sigma)


def test_simplex_is_regular_and_centred() -> None:
    for n in (2, 3, 8):
        problem = huber_simplex(n, L=2.0, M=3.0)
        centres = problem._centres
        edges = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(n, 1)]
        np.testing.assert_allclose(edges, 1.5, rtol=1e-14)
        np.testing.assert_allclose(centres.mean(axis=0), 0.0, atol=1e-15)


def test_clipped_linear_is_its_formula() -> None:
    problem = clipped_linear(slope=0.3, L=0.1, D=5.0)
    x = np.linspace(-5.0, 5.0, 101)
    np.testing.assert_allclose(
        problem.gradient(x[:, None])[:, 0], np.minimum(0.3, 0.1 * (x + 5.0)), rtol=1e-13, atol=1e-16
    )
    assert problem.minimum == 0.0


def test_sine_counterexample_is_its_formula() -> None:
    x = np.linspace(-3e6, 3e6, 101)[:, None]
    np.testing.assert_allclose(LEMMA1.value(x), 2.0 * np.sin(1e-6 * x[:, 0]) / 1e-6, rtol=1e-13)


@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.7, 3.0, 30.0])
@pytest.mark.parametrize("ridge", [0.0, 0.01, 1.0])
def test_logistic_minimum_against_a_general_solver(radius: float, ridge: float) -> None:
    from scipy.optimize import minimize

    problem = random_logistic(radius, ridge)
    got = minimize(
        problem.value,
        np.zeros(2),
        jac=problem.gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: radius**2 - x @ x, "jac": lambda x: -2 * x},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert abs(got.fun - problem.minimum) <= 1e-8
    assert problem.minimum <= got.fun + 1e-9


BAD = {
    "matrix not square": (
        lambda: Quadratic(np.ones((2, 3))),
        r"\(d,\) or \(d, d\) or .*: got \(2, 3\)",
    ),
    "matrix not symmetric": (lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
    "matrix indefinite": (lambda: Quadratic([1.0, -0.5]), "semidefinite"),
    "matrix NaN": (lambda: Quadratic([np.nan]), "finite"),
    "matrix empty": (lambda: Quadratic([]), "empty"),
    "matrix 0-d": (lambda: Quadratic(1.0), r"\(d,\) or \(d, d\) or .*: got \(\)"),
    "matrix bool": (lambda: Quadratic([True]), "real numbers"),
    "matrix complex": (lambda: Quadratic([1j]), "real numbers"),
    "noise mean": (lambda: Quadratic([1.0], [[1.0], [0.0]]), "mean 0"),
    "noise shape": (lambda: Quadratic([1.0], [[1.0, -1.0]]), "shape"),
    "noise count": (
        lambda: Quadratic([[[1.0]], [[1.0]]], [[0.0], [0.0], [0.0]]),
        "number of states",
    ),
    "minimiser outside": (lambda: Quadratic([1.0], minimiser=[2.0], domain=Ball(1.0)), "domain"),
    "minimiser shape": (lambda: Quadratic([1.0], minimiser=[2.0, 1.0]), "shape"),
    "stationary sum": (lambda: Quadratic([1.0], [[0.0], [0.0]], stationary=[0.5, 0.4]), "sum to 1"),
    "stationary sign": (
        lambda: Quadratic([1.0], [[0.0], [0.0]], stationary=[1.5, -0.5]),
        "negative",
    ),
    "stationary length": (
        lambda: Quadratic([1.0], stationary=[0.5, 0.5]),
        r"stationary must have shape \(1,\): got \(2,\)",
    ),
    "domain type": (lambda: Quadratic([1.0], domain=2.0), "Ball or Box"),
    "ball radius": (lambda: Ball(0.0), "radius"),
    "ball infinite": (lambda: Ball(np.inf), "radius"),
    "ball bool": (lambda: Ball(True), "radius"),
    "box order": (lambda: Box(1.0, 1.0), "below"),
    "box length": (lambda: Linear([[1.0]], domain=Box([0.0, 0.0], 1.0)), "entries"),
    "linear unbounded": (lambda: Linear([[1.0]], domain=WholeSpace()), "no minimum"),
    "huber far": (lambda: Huber([[-5.0], [5.0]], 1.0, 1.0), "within clip/curvature"),
    "huber outside": (lambda: Huber([[5.0]], 1.0, 1.0, domain=Ball(1.0)), "domain"),
    "huber curvature": (lambda: Huber([[0.0]], -1.0, 1.0), "curvature"),
    "labels": (lambda: Logistic([[1.0], [2.0]], [1, 0], radius=1.0), "-1 or 1"),
    "labels length": (
        lambda: Sigmoid([[1.0], [2.0]], [1]),
        r"labels must have shape \(2,\): got \(1,\)",
    ),
    "ridge": (lambda: Logistic([[1.0]], radius=1.0, ridge=-1.0), "ridge"),
    "frequency": (lambda: Cosines([[1.0]], [[1.0]], [0.0]), "positive"),
    "sine shape": (
        lambda: Cosines([[1.0]], [[1.0, 2.0]], [1.0]),
        r"sine must have shape \(1, 1\): got \(1, 2\)",
    ),
    "ratio": (lambda: huber_cross(2, 1.0, 1.0, ratio=1.5), "ratio"),
    "simplex of one": (lambda: huber_simplex(1, 1.0, 1.0), "at least 2"),
    "dim float": (lambda: huber_cross(2.0, 1.0, 1.0), "integer"),
    "x shape": (lambda: Quadratic([1.0]).value([1.0, 2.0]), "shape"),
    "x scalar": (lambda: Quadratic([1.0]).gradient(1.0), "shape"),
    "x NaN": (lambda: Quadratic([1.0]).gradient([np.nan]), "finite"),
    "x text": (lambda: Quadratic([1.0]).gradient(["a"]), "real numbers"),
    "xi negative": (lambda: Quadratic([1.0]).sample_gradient([1.0], -1), "xi must lie"),
    "xi large": (lambda: Quadratic([1.0]).sample_gradient([[1.0]], [1]), "xi must lie"),
    "x of fractions and text": (
        lambda: Quadratic([1.0]).value(np.array(["a"], dtype=object)),
        "real numbers",
    ),
    "xi shape": (
        lambda: Quadratic([1.0]).sample_gradient(np.ones((3, 1)), [0, 0]),
        r"xi must fit the points: got shape \(2,\) for x of shape \(3, 1\)",
    ),
    "xi shape of the value": (
        lambda: Quadratic([1.0]).sample_value(np.ones((3, 1)), [0, 0]),
        "xi must fit the points",
    ),
    "project shape": (lambda: huber_pair(1.0, 1.0).project([1.0, 2.0]), "shape"),
    "project scalar": (lambda: clipped_linear(1.0, 1.0, 1.0).project(3.0), "shape"),
    "project NaN": (lambda: clipped_linear(1.0, 1.0, 1.0).project([np.nan]), "finite"),
    "project infinite": (lambda: clipped_linear(1.0, 1.0, 1.0).project([np.inf]), "finite"),
    "xi float": (lambda: Quadratic([1.0]).sample_gradient([1.0], 0.0), "integer"),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()
