"""A, b, theta*, NEU and constants against loops over states, simulation and closed forms."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from amgd.descent import algorithms, bounds, steps
from amgd.markov import MarkovChain
from amgd.td import GridWorld, TDProblem, fourier_features, product_basis_spectrum

CYCLE = np.roll(np.eye(3), 1, axis=1)  # 0 -> 1 -> 2 -> 0


def random_chain(seed, n=5, reversible=False):
    rng = np.random.default_rng(seed)
    flow = rng.random((n, n)) + 0.05
    if reversible:
        flow += flow.T
    return flow / flow.sum(axis=1, keepdims=True)


def random_problem(seed, n=5, d=3, reversible=False, **options):
    rng = np.random.default_rng([seed, 1])
    P = random_chain(seed, n, reversible)
    options.setdefault("arrival_reward", rng.normal(size=n))
    return TDProblem(P, rng.normal(size=n), rng.normal(size=(n, d)), 0.8, **options)


# The linear system


def loop_system(problem, D):
    """A and b as sums over the transitions, with the terminal rules written out."""
    P = problem.transition.toarray()
    A, b, weight = np.zeros((problem.dim, problem.dim)), np.zeros(problem.dim), 0.0
    for s in range(problem.n_states):
        if problem.is_terminal[s]:
            continue
        weight += D[s]
        for after in range(problem.n_states):
            phi = problem.features[s]
            next_phi = 0 * phi if problem.is_terminal[after] else problem.features[after]
            A += D[s] * P[s, after] * np.outer(phi, phi - problem.discount * next_phi)
            b += D[s] * P[s, after] * (problem.reward[s] + problem.arrival_reward[after]) * phi
    return A / weight, b / weight


@pytest.mark.parametrize("terminal", [[], [4], [1, 4]])
@pytest.mark.parametrize("law", ["stationary", "episode", "weights"])
@pytest.mark.parametrize("seed", range(3))
def test_system_is_the_sum_over_transitions(terminal, law, seed):
    P = random_chain(seed)
    if law == "stationary":
        D = np.linalg.matrix_power(P, 500)[0]
        problem = random_problem(seed, terminal=terminal)
    elif law == "episode":
        D = np.mean([np.linalg.matrix_power(P, t)[2] for t in range(7)], axis=0)
        problem = random_problem(seed, terminal=terminal, law="episode", length=7, start=2)
    else:
        D = np.random.default_rng(seed).dirichlet(np.ones(5))
        problem = random_problem(seed, terminal=terminal, law=D)
    A, b = loop_system(problem, D)
    np.testing.assert_allclose(problem.A, A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(problem.b, b, rtol=0, atol=1e-12)
    assert problem.law.sum() == pytest.approx(1.0)
    assert (problem.law[terminal] == 0).all()


@pytest.mark.parametrize("goal", ["ordinary", "absorbing", "reset"])
@pytest.mark.parametrize("reward", ["step", "goal"])
def test_one_feature_per_state_gives_the_value_function(goal, reward):
    grid = GridWorld(4, goal=goal, reward=reward)
    keep = 15 if goal == "absorbing" else 16  # the terminal state has no weight
    problem = TDProblem.from_gridworld(grid, np.eye(16)[:, :keep], 0.9, law="episode")
    np.testing.assert_allclose(problem.theta_star, grid.value(0.9)[:keep], atol=1e-10)


@given(st.integers(0, 10_000))
def test_any_features_give_a_gradient_on_a_reversible_chain(seed):
    problem = random_problem(seed, reversible=True)
    assert problem.asymmetry < 1e-12
    assert problem.is_gradient
    # the form (1 - g) |v|^2 + (g / 2) sum pi P (v - v')^2 of theta^T A theta
    theta = np.random.default_rng(seed).normal(size=3)
    v, g = problem.features @ theta, problem.discount
    flow = problem.law[:, None] * problem.transition.toarray()
    jumps = (flow * (v[:, None] - v[None, :]) ** 2).sum()
    energy = (1 - g) * (problem.law * v**2).sum() + g / 2 * jumps
    assert theta @ problem.A @ theta == pytest.approx(energy)


def test_doubly_stochastic_is_not_enough():
    problem = TDProblem(CYCLE, [0, 0, 1], np.eye(3), 0.9)
    np.testing.assert_allclose(problem.transition.sum(axis=0), 1.0)
    np.testing.assert_allclose(problem.law, 1 / 3)
    assert not problem.is_gradient
    np.testing.assert_allclose(problem.A, (np.eye(3) - 0.9 * CYCLE) / 3, atol=1e-15)
    with pytest.raises(ValueError, match="A is not symmetric"):
        problem.as_problem(10.0)


def test_three_forms_of_the_transition_matrix():
    P = random_chain(0)
    features = np.random.default_rng(0).normal(size=(5, 2))
    given_as = [P, P.tolist(), sp.csr_array(P), sp.coo_matrix(P)]
    problems = [TDProblem(form, np.ones(5), features, 0.5) for form in given_as]
    for problem in problems[1:]:
        np.testing.assert_allclose(problem.A, problems[0].A, atol=1e-15)


# The tables of the text: (mu, L, asymmetry), with the digits that are printed there

TABLE = {
    (10, "three"): {
        "reversible": (0.061012, 0.1, 0),
        "uniform, V(goal) = 0": (0.061629, 0.105117, 0),
        "reset": (0.058615, 0.108440, 0),
        "reset, V(goal) = 0": (0.055870, 0.109409, 0.037),
        "episodes": (0.037415, 0.153834, 0.075),
        "episodes, V(goal) = 0": (0.035933, 0.156214, 0.077),
    },
    (10, "order"): {
        "reversible": (0.0075934, 0.274907, 0),
        "uniform, V(goal) = 0": (0.0078019, 0.278603, 0),
        "reset": (0.0067796, 0.292527, 0.115),
        "reset, V(goal) = 0": (0.0066389, 0.292697, 0.101),
        "episodes": (0.0044817, 0.454323, 0.302),
        "episodes, V(goal) = 0": (0.0037697, 0.461642, 0.303),
    },
    (50, "three"): {
        "reversible": (0.050444, 0.1, 0),
        "uniform, V(goal) = 0": (0.050464, 0.100181, 0),
        "reset": (0.048121, 0.102471, 0),
        "reset, V(goal) = 0": (0.048046, 0.102504, 0.0010),
        "episodes": (0.0046782, 0.231866, 0.0043),
    },
    (50, "order"): {
        "reversible": (0.0030201, 0.127894, 0),
        "uniform, V(goal) = 0": (0.0030214, 0.127946, 0),
        "reset": (0.0029102, 0.130069, 0.0073),
        "reset, V(goal) = 0": (0.0029149, 0.130074, 0.0062),
        "episodes": (2.4156e-5, 0.429439, 0.054),
    },
}
ROWS = [(n, kind, row) for (n, kind), rows in TABLE.items() for row in rows]


def table_problem(n, kind, row, coordinates="midpoint"):
    features = fourier_features(n, kind, coordinates=coordinates)
    ends = "V(goal) = 0" in row
    if row.startswith("uniform"):
        grid, law = GridWorld(n), np.full(n * n, 1 / n**2)
    elif row.startswith("reset"):
        grid, law = GridWorld(n, goal="reset"), "stationary"
    elif row.startswith("episodes"):
        grid, law = GridWorld(n, goal="absorbing" if ends else "ordinary"), "episode"
    else:
        grid, law = GridWorld(n), "stationary"
    return TDProblem.from_gridworld(grid, features, 0.9, law=law, goal_ends=ends)


@pytest.mark.parametrize(("n", "kind", "row"), ROWS)
def test_spectrum_of_the_table(n, kind, row):
    mu, L, asymmetry = TABLE[n, kind][row]
    problem = table_problem(n, kind, row)
    assert problem.mu == pytest.approx(mu, rel=2e-5)
    assert pytest.approx(L, abs=6e-7) == problem.L
    assert problem.asymmetry == pytest.approx(asymmetry, abs=6e-4 if asymmetry > 0.01 else 6e-5)
    assert problem.is_gradient == (asymmetry == 0)


@pytest.mark.parametrize(
    ("n", "kind", "mu", "L"),
    [
        (10, "three", 0.067212, 0.1),
        (50, "three", 0.051453, 0.1),
        (10, "order", 0.012413, 0.287523),
        (50, "order", 0.0033604, 0.126226),
    ],
)
def test_spectrum_with_coordinates_to_the_corners(n, kind, mu, L):
    problem = table_problem(n, kind, "reversible", "unit")
    assert (problem.mu, problem.L) == pytest.approx((mu, L), rel=2e-5)


@pytest.mark.theorem("prop-td-product")
@pytest.mark.parametrize(("n", "order", "discount"), [(4, 3, 0.5), (10, 3, 0.9), (7, 6, 0.99)])
def test_product_basis_in_closed_form(n, order, discount):
    features = fourier_features(n, "order", order, product=True)
    problem = TDProblem.from_gridworld(GridWorld(n), features, discount)
    diagonal = product_basis_spectrum(n, order, discount)
    np.testing.assert_allclose(problem.A, np.diag(diagonal.ravel()), rtol=0, atol=1e-14)


def test_product_basis_numbers_of_the_text():
    for n, mu, L in ((10, 0.036012, 0.142748), (50, 0.025444, 0.1)):
        diagonal = product_basis_spectrum(n, 3, 0.9)
        assert (diagonal.min(), diagonal.max()) == pytest.approx((mu, L), rel=2e-5)
        three = 0.5 * (1 - 0.45 * (1 + np.cos(np.pi / n)))
        assert table_problem(n, "three", "reversible").mu == pytest.approx(three, abs=1e-15)


# NEU and sampled systems


def test_neu_is_the_squared_norm_of_the_mean_update():
    problem = random_problem(4)
    theta = np.random.default_rng(0).normal(size=(2, 6, 3))
    P = problem.transition.toarray()
    for index in np.ndindex(2, 6):
        v = problem.features @ theta[index]
        reward = problem.reward[:, None] + problem.arrival_reward[None, :]
        delta = reward + problem.discount * v[None, :] - v[:, None]
        mean = ((problem.law[:, None] * P * delta)[:, :, None] * problem.features[:, None]).sum(
            axis=(0, 1)
        )
        assert problem.neu(theta)[index] == pytest.approx(mean @ mean)
    assert problem.neu(theta).shape == (2, 6)
    assert problem.neu(problem.theta_star) < 1e-28


@pytest.mark.parametrize("terminal", [[], [4]])
def test_sampled_sums_are_sums_over_transitions(terminal):
    problem = random_problem(1, terminal=terminal, length=9)
    states = problem.sample_episodes(3, rng=np.random.default_rng(0), replicates=2)
    A, b, count = problem.sampled_sums(states)
    assert (A.shape, b.shape, count.shape) == ((3, 2, 3, 3), (3, 2, 3), (3, 2))
    for e, r in np.ndindex(3, 2):
        A_loop, b_loop, number = np.zeros((3, 3)), np.zeros(3), 0
        for s, after in zip(states[e, r, :-1], states[e, r, 1:], strict=True):
            if s in terminal:
                continue
            phi, next_phi = problem.features[s], problem.features[after] * (after not in terminal)
            A_loop += np.outer(phi, phi - 0.8 * next_phi)
            b_loop += (problem.reward[s] + problem.arrival_reward[after]) * phi
            number += 1
        np.testing.assert_allclose(A[e, r], A_loop, atol=1e-12)
        np.testing.assert_allclose(b[e, r], b_loop, atol=1e-12)
        assert count[e, r] == number
    pooled_A, pooled_b = problem.pooled_system(states)
    np.testing.assert_allclose(pooled_A, A.sum(axis=1) / count.sum(axis=1)[:, None, None])
    np.testing.assert_allclose(pooled_b, b.sum(axis=1) / count.sum(axis=1)[:, None])


def test_large_samples_are_cut_into_blocks(monkeypatch):
    problem = random_problem(1, length=9)
    states = problem.sample_episodes(10, rng=np.random.default_rng(0), replicates=2)
    whole = problem.sampled_sums(states)
    monkeypatch.setattr("amgd.td.evaluation.BLOCK", 60)
    for part, full in zip(problem.sampled_sums(states), whole, strict=True):
        np.testing.assert_array_equal(part, full)


@pytest.mark.parametrize("goal", ["ordinary", "absorbing", "reset"])
@pytest.mark.parametrize("reward", ["step", "goal"])
def test_sampled_system_has_the_exact_mean(goal, reward):
    """Sums over an episode have means A and b times the mean number of transitions."""
    grid = GridWorld(3, goal=goal, reward=reward)
    problem = TDProblem.from_gridworld(grid, fourier_features(3), law="episode", length=12)
    n = 20_000
    states = problem.sample_episodes(n, rng=np.random.default_rng(5))[:, 0]
    A, b, count = problem.sampled_sums(states)
    for sums, exact in ((A, problem.A), (b, problem.b)):
        off = sums - exact * count.reshape(n, *[1] * (sums.ndim - 1))
        error = off.std(axis=0, ddof=1) / np.sqrt(n)
        assert (np.abs(off.mean(axis=0)) <= 4 * error + 1e-12).all()


def test_sampling_repeats_with_the_seed_and_has_replicates():
    problem = TDProblem.from_gridworld(GridWorld(5), fourier_features(5))
    one, two = (
        problem.sample_episodes(3, rng=np.random.default_rng(1), replicates=4, length=7)
        for _ in "12"
    )
    np.testing.assert_array_equal(one, two)
    assert one.shape == (3, 4, 8)
    assert one.dtype == np.int64
    assert (one[..., 0] == problem.start).all()
    assert len(np.unique(one.reshape(12, 8), axis=0)) > 6


def test_neu_estimate_is_the_neu_of_its_episodes():
    problem = random_problem(2, law="episode", length=6)
    theta = np.random.default_rng(0).normal(size=(2, 2, 3))
    estimate = problem.neu_estimate(theta, 5, rng=np.random.default_rng(9))
    states = problem.sample_episodes(5, rng=np.random.default_rng(9), replicates=4)
    for i, index in enumerate(np.ndindex(2, 2)):
        update = np.zeros(3)
        for episode in states[:, i]:
            for s, after in itertools.pairwise(episode):
                phi, next_phi = problem.features[s], problem.features[after]
                reward = problem.reward[s] + problem.arrival_reward[after]
                delta = reward + 0.8 * theta[index] @ next_phi - theta[index] @ phi
                update += delta * phi / 30
        assert estimate[index] == pytest.approx(update @ update)
    assert estimate.shape == (2, 2)
    assert problem.neu_estimate(theta[0, 0], 5, rng=np.random.default_rng(9)).shape == ()


def test_neu_estimate_exceeds_the_neu_by_the_variance():
    grid = GridWorld(4, goal="absorbing")
    problem = TDProblem.from_gridworld(grid, fourier_features(4), law="episode", length=40)
    floor = problem.neu_estimate(
        np.tile(problem.theta_star, (4000, 1)), 10, rng=np.random.default_rng(0)
    )
    more = problem.neu_estimate(
        np.tile(problem.theta_star, (4000, 1)), 40, rng=np.random.default_rng(1)
    )
    assert floor.mean() / more.mean() == pytest.approx(4.0, rel=0.15)
    assert more.mean() > 20 * more.std(ddof=1) / np.sqrt(4000)


# TD as a problem of the theorems


@pytest.mark.theorem("lem-td-pairs")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [2, 3, 6])
def test_mixing_sum_of_the_transitions(seed, n):
    P = random_chain(seed, n)
    problem = TDProblem(P, np.zeros(n), np.ones((n, 1)), 0.5)
    assert problem.pair_mixing_sum == pytest.approx(problem.pair_chain.mixing_sum, rel=1e-9)
    distance = problem.pair_chain.tv_distance(np.arange(1, 6))
    states = [np.linalg.matrix_power(P, t) for t in range(5)]
    expected = [np.abs(power - problem.law).sum(axis=1).max() / 2 for power in states]
    np.testing.assert_allclose(distance, expected, atol=1e-12)


def test_mixing_sum_of_the_grid():
    problem = table_problem(10, "three", "reversible")
    assert problem.pair_mixing_sum == pytest.approx(35.98, abs=0.005)


@pytest.mark.parametrize("seed", range(3))
def test_descent_constants(seed):
    td = random_problem(seed, n=4, d=2, reversible=True)
    radius = 2.0 * np.linalg.norm(td.theta_star)
    problem = td.as_problem(radius)
    chain = td.pair_chain
    np.testing.assert_allclose(problem.stationary, chain.stationary, atol=1e-12)
    assert problem.n_states == chain.n_states == 16
    assert (problem.mu, problem.L, problem.diameter) == (td.mu, td.L, 2 * radius)

    # points of the ball and all transitions
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 4000)
    x = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x[::2] *= rng.random((2000, 1))
    G = np.stack([problem.sample_gradient(x, np.full(4000, xi)) for xi in range(16)])
    np.testing.assert_allclose(
        np.einsum("p,pxi->xi", problem.stationary, G), problem.gradient(x), atol=1e-12
    )
    H = G - problem.gradient(x)
    assert 0.999 * problem.M <= np.linalg.norm(G, axis=2).max() <= problem.M
    assert 0.5 * problem.sigma <= np.linalg.norm(H, axis=2).max() <= problem.sigma
    step = np.linalg.norm(x[1:] - x[:-1], axis=1)
    slopes = np.linalg.norm(H[:, 1:] - H[:, :-1], axis=2) / step
    assert 0.999 * problem.ell <= slopes.max() <= problem.ell * (1 + 1e-9)
    slopes = np.linalg.norm(G[:, 1:] - G[:, :-1], axis=2) / step
    assert 0.999 * problem.L_sample <= slopes.max() <= problem.L_sample * (1 + 1e-9)
    assert problem.value(x).min() >= problem.minimum
    assert problem.value(problem.minimiser) == problem.minimum
    norms = np.linalg.norm(problem.project(3 * x), axis=1)
    assert norms.max() <= radius * (1 + 1e-12)
    # the gradient is that of the value
    h = 1e-6
    slope = (problem.value(x[0] + [h, 0]) - problem.value(x[0] - [h, 0])) / (2 * h)
    assert slope == pytest.approx(problem.gradient(x[0])[0], rel=1e-6, abs=1e-8)


def test_sample_lipschitz_constant_of_the_text():
    td = table_problem(10, "order", "reversible")
    problem = td.as_problem(1.01 * np.linalg.norm(td.theta_star))
    assert pytest.approx(0.274907, abs=1e-6) == problem.L
    assert problem.L_sample == pytest.approx(6.94, abs=0.005)


def test_accelerated_td_stays_below_theorem_3():
    grid = GridWorld(4)
    td = TDProblem.from_gridworld(grid, fourier_features(4))
    problem = td.as_problem(1.5 * np.linalg.norm(td.theta_star))
    k = np.array([1, 10, 100, 1000, 4000])
    run = algorithms.amgd_convex(
        problem,
        td.pair_chain,
        steps.theorem3(td.mu, td.L),
        4000,
        x0=np.zeros(3),
        replicates=100,
        rng=np.random.default_rng(0),
        record=k,
    )
    gap = (problem.value(run.x_bar) - problem.minimum).mean(axis=1)
    bound = bounds.theorem3(
        k,
        mu=td.mu,
        L=td.L,
        r0=float(np.linalg.norm(td.theta_star)),
        B=problem.diameter,
        sigma=problem.sigma,
        M=problem.M,
        ell=problem.ell,
        T=td.pair_mixing_sum,
    )
    assert (gap < bound).all()
    assert gap[-1] < 0.1 * (problem.value(np.zeros(3)) - problem.minimum)


# Bad input

GOOD = {
    "transition": [[0.5, 0.5], [0.2, 0.8]],
    "reward": [0.0, 1.0],
    "features": [[1.0], [2.0]],
    "discount": 0.9,
}


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"transition": [[0.5, 0.4], [0, 1]]}, ValueError, "row 0 sums to 0.9 .*divide"),
        (
            {"transition": [[1.5, -0.5], [0, 1]]},
            ValueError,
            r"non-negative: entry \(0, 1\) is -0.5",
        ),
        ({"transition": sp.csr_array([[np.nan, 1], [0, 1]])}, ValueError, r"entry \(0, 0\) is nan"),
        ({"transition": [[np.nan, 1], [0, 1]]}, ValueError, r"finite: entry \(0, 0\) is nan"),
        ({"transition": [[0.5, 0.5]]}, ValueError, r"shape \(n, n\): got \(1, 2\)"),
        ({"transition": np.eye(2), "law": "stationary"}, ValueError, "not unique"),
        (
            {"transition": sp.csr_array(np.eye(2) * 1j)},
            TypeError,
            "real numbers: got dtype complex",
        ),
        ({"transition": GridWorld(2)}, TypeError, r"got GridWorld; use its \.transition"),
        ({"transition": GridWorld(2).chain}, TypeError, r"MarkovChain; use its \.transition"),
        ({"reward": [1.0]}, ValueError, r"reward must have shape \(2,\): got \(1,\)"),
        ({"reward": [np.inf, 0]}, ValueError, "reward must be finite: entry 0 is inf"),
        (
            {"arrival_reward": [0, 0, 0]},
            ValueError,
            r"arrival_reward must have shape \(2,\): got \(3,\)",
        ),
        ({"features": [[1.0]]}, ValueError, r"features must have shape \(2, d\): got \(1, 1\)"),
        ({"features": [1.0, 2.0]}, ValueError, r"features must have shape \(2, d\): got \(2,\)"),
        ({"features": [["a"], ["b"]]}, TypeError, "features must hold real numbers"),
        ({"discount": 1.0}, ValueError, r"discount must lie in \[0, 1\)"),
        ({"discount": -0.1}, ValueError, r"discount must lie in \[0, 1\)"),
        ({"discount": np.nan}, ValueError, r"discount must lie in \[0, 1\): got nan"),
        ({"discount": True}, TypeError, "discount must be a real number"),
        (
            {"law": "uniform"},
            ValueError,
            "law must be one of 'stationary', 'episode': got 'uniform'",
        ),
        ({"law": "episode"}, ValueError, "length is missing"),
        ({"law": [0.5, 0.6]}, ValueError, "law must sum to 1"),
        ({"law": [1.5, -0.5]}, ValueError, "law must be non-negative: entry 1 is -0.5"),
        ({"law": [1.0]}, ValueError, r"law must have shape \(2,\): got \(1,\)"),
        ({"length": 0}, ValueError, "length must be at least 1: got 0"),
        ({"start": 2}, ValueError, r"start must lie in 0\.\.1: got 2"),
        ({"start": -1}, ValueError, r"start must lie in 0\.\.1: got -1"),
        ({"terminal": [2]}, ValueError, r"terminal must lie in 0\.\.1: got 2"),
        ({"terminal": [0.5]}, TypeError, "terminal must be an integer or an array of integers"),
        ({"terminal": [0]}, ValueError, "start is terminal"),
        ({"terminal": [1], "law": [0.0, 1.0]}, ValueError, "terminal states only"),
    ],
)
def test_a_bad_problem_is_refused(change, error, text):
    arguments = GOOD | change
    positional = [arguments.pop(name) for name in GOOD]
    with pytest.raises(error, match=text):
        TDProblem(*positional, **arguments)


def test_goal_ends_is_a_bool():
    with pytest.raises(TypeError, match="goal_ends must be True or False: got 'no'"):
        TDProblem.from_gridworld(GridWorld(3), np.ones((9, 1)), goal_ends="no")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_divided_by_their_sum_in_every_form(kind, dtype):
    rows = np.array([[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3], [0.6, 0.3, 0.1]])
    rows *= 1 + 5e-9
    given = TDProblem(kind(rows.astype(dtype)), np.arange(3.0), np.eye(3), 0.5)
    chain = MarkovChain(rows.astype(dtype))
    np.testing.assert_allclose(given.transition.toarray(), chain.transition, rtol=3e-16)
    np.testing.assert_allclose(given.transition.sum(axis=1), 1.0, rtol=3e-16)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda p, r: p.neu([1.0, 2.0]),
            ValueError,
            r"theta must have shape \(\.\.\., 1\): got \(2,\)",
        ),
        (lambda p, r: p.neu([np.nan]), ValueError, "theta must be finite: entry 0 is nan"),
        (lambda p, r: p.neu(1.0), ValueError, r"theta must have shape \(\.\.\., 1\): got \(\)"),
        (lambda p, r: p.sample_episodes(1, rng=r), ValueError, "length is missing"),
        (
            lambda p, r: p.sample_episodes(0, rng=r, length=3),
            ValueError,
            "episodes must be at least 1: got 0",
        ),
        (
            lambda p, r: p.sample_episodes(1, rng=7, length=3),
            TypeError,
            "rng must be a Generator: got int",
        ),
        (
            lambda p, r: p.neu_estimate([0.0], 0, rng=r, length=3),
            ValueError,
            "episodes must be at least 1: got 0",
        ),
        (
            lambda p, r: p.sampled_sums([0.0, 1.0]),
            TypeError,
            "states must be an integer or an array of integers",
        ),
        (lambda p, r: p.sampled_sums([0]), ValueError, "states must hold paths"),
        (lambda p, r: p.sampled_sums([0, 2]), ValueError, r"states must lie in 0\.\.1: got 2"),
        (lambda p, r: p.sampled_sums([0, -1]), ValueError, r"states must lie in 0\.\.1: got -1"),
        (lambda p, r: p.as_problem(1e-3), ValueError, r"theta\* is outside the ball"),
        (lambda p, r: p.as_problem(-1), ValueError, r"radius must lie in \(0, inf\): got -1"),
        (lambda p, r: p.as_problem(50).sample_value([0.0], 0), TypeError, "no sample value"),
    ],
)
def test_bad_calls_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(TDProblem(*GOOD.values()), np.random.default_rng(0))


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1.0, 1e8, 1e140])
def test_features_that_are_dependent_are_refused_at_every_scale(scale):
    for features in ([[1, 2 * scale], [1, 2 * scale]], [[scale, 0], [2 * scale, 0]]):
        problem = TDProblem(GOOD["transition"], [0, 1], features, 0.9)
        with pytest.raises(ValueError, match="A is singular"):
            problem.theta_star  # noqa: B018


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1e-8, 3.0, 1e8, 1e140])
def test_theta_star_scales_with_the_features(scale):
    plain = TDProblem(GOOD["transition"], [0, 1], [[1, 1], [1, 2]], 0.9).theta_star
    scaled = TDProblem(GOOD["transition"], [0, 1], [[1, scale], [1, 2 * scale]], 0.9).theta_star
    np.testing.assert_allclose(scaled * [1, scale], plain, rtol=1e-12)


def test_a_law_without_a_chain_is_refused():
    problem = TDProblem(GOOD["transition"], [0, 1], [[1], [2]], 0.9, law=[0.5, 0.5])
    with pytest.raises(ValueError, match="not the stationary law"):
        problem.as_problem(100)


def test_paths_in_terminal_states_teach_nothing():
    problem = TDProblem(GOOD["transition"], [0, 1], [[1], [2]], 0.9, terminal=[1])
    with pytest.raises(ValueError, match="no transition to learn from"):
        problem.pooled_system([[1, 1], [1, 0]])


def test_the_pairs_of_a_large_grid_are_a_sparse_chain():
    problem = TDProblem.from_gridworld(GridWorld(60), fourier_features(60))
    chain, (left, arrived) = problem.pair_chain, problem.pairs
    assert chain.n_states == left.size == problem.transition.nnz
    assert sp.issparse(chain.transition)
    path = chain.sample(200, rng=np.random.default_rng(0), initial=0)[0]
    assert (arrived[path[:-1]] == left[path[1:]]).all()
    assert chain.is_irreducible
    flow = problem.chain.stationary[left] * problem.transition.data
    np.testing.assert_allclose(chain.stationary, flow, rtol=1e-12)


def test_a_mixing_sum_out_of_reach_is_refused():
    problem = TDProblem.from_gridworld(GridWorld(80), fourier_features(80))
    with pytest.raises(ValueError, match=r"mixing_sum is out of reach .* 6400 states"):
        problem.pair_mixing_sum  # noqa: B018


def test_only_a_grid_makes_a_grid_problem():
    with pytest.raises(TypeError, match="grid must be a GridWorld: got ndarray"):
        TDProblem.from_gridworld(np.eye(2), np.eye(2))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, 0, 0.9), "n must be at least 2: got 1"),
        ((4, 4, 0.9), r"order must lie in 0\.\.3: got 4"),
        ((4, 1, 1.0), "discount"),
    ],
)
def test_product_spectrum_refuses(arguments, text):
    with pytest.raises(ValueError, match=text):
        product_basis_spectrum(*arguments)


def test_features_that_vanish_leave_a_gradient_and_no_solution():
    problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.zeros((2, 2)), 0.5)
    assert (problem.asymmetry, problem.is_gradient, problem.mu, problem.L) == (0, True, 0, 0)
    with pytest.raises(ValueError, match="A is singular"):
        _ = problem.theta_star
