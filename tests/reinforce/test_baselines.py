"""The linear baseline against the normal equations, and its use in a loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgd.reinforce.baselines import LinearBaseline


def batch(n=200, size=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 4, (n, size)), rng.integers(0, 500, n), rng.normal(size=n)


def rllab_features(observations, time):
    o = np.clip(observations, -10, 10)
    t = np.asarray(time).reshape(-1, 1) / 100.0
    return np.concatenate([o, o**2, t, t**2, t**3, np.ones_like(t)], axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 4, 17])
def test_features_are_those_of_rllab(size, dtype):
    observations, time, _ = batch(size=size)
    observations = observations.astype(dtype)
    features = LinearBaseline().features(observations, time)
    assert features.shape == (200, 2 * size + 4)
    np.testing.assert_allclose(
        features, rllab_features(observations, time), rtol=1e-6 * (dtype == np.float32) + 1e-15
    )


def test_observations_are_clipped_before_they_are_squared():
    features = LinearBaseline(clip=2.0).features([[-5.0], [1.5]], [0, 0])
    assert features[:, :2].tolist() == [[-2.0, 4.0], [1.5, 2.25]]


@pytest.mark.parametrize("ridge", [1e-5, 1.0, 100.0])
def test_fit_solves_the_ridge_equations(ridge):
    observations, time, returns = batch()
    baseline = LinearBaseline(ridge)
    baseline.fit(observations, time, returns)
    phi = rllab_features(observations, time)
    gram = phi.T @ phi + ridge * np.eye(phi.shape[1])
    expected = np.linalg.solve(gram, phi.T @ returns)
    np.testing.assert_allclose(baseline.coefficients, expected, rtol=1e-6, atol=1e-9)
    predicted = baseline.predict(observations, time)
    np.testing.assert_allclose(predicted, phi @ expected, rtol=1e-6, atol=1e-8)


def test_ridge_is_not_scaled_by_the_number_of_steps():
    # One feature matters: with o = t = 0 the intercept is sum G / (N + ridge).
    baseline = LinearBaseline(ridge=10.0)
    baseline.fit(np.zeros((40, 1)), np.zeros(40, dtype=int), np.ones(40))
    assert baseline.predict([[0.0]], [0])[0] == pytest.approx(40 / 50, rel=1e-12)


@given(st.integers(1, 5), st.integers(0, 1000))
def test_a_function_of_the_features_is_learned(size, seed):
    observations, time, _ = batch(size=size, seed=seed)
    coefficients = np.random.default_rng(seed).normal(size=2 * size + 4)
    returns = rllab_features(observations, time) @ coefficients
    baseline = LinearBaseline()
    baseline.fit(observations, time, returns)
    np.testing.assert_allclose(baseline.predict(observations, time), returns, rtol=0, atol=1e-3)


def test_prediction_is_zero_before_the_first_fit_and_old_until_the_next():
    observations, time, returns = batch()
    baseline = LinearBaseline()
    assert (baseline.predict(observations, time) == 0).all()
    baseline.fit(observations, time, returns)
    first = baseline.predict(observations, time)
    assert np.abs(first).max() > 0.1
    assert (baseline.predict(observations, time) == first).all()
    baseline.fit(observations, time, returns + 5.0)  # replaces, does not add
    fresh = LinearBaseline()
    fresh.fit(observations, time, returns + 5.0)
    assert (baseline.coefficients == fresh.coefficients).all()


@pytest.mark.parametrize("n", [1, 2, 50])
def test_dependent_features_and_few_steps_are_no_trouble(n):
    # A constant coordinate (as unused contact forces are), one that repeats, and fewer steps than
    # features.
    observations = np.ones((n, 4)) * [0.0, 1.0, 1.0, 3.0]
    baseline = LinearBaseline()
    baseline.fit(observations, np.arange(n), np.full(n, 7.0))
    assert np.isfinite(baseline.coefficients).all()
    np.testing.assert_allclose(baseline.predict(observations, np.arange(n)), 7.0, atol=1e-3)


def test_it_takes_away_most_of_the_variance_of_a_smooth_value():
    rng = np.random.default_rng(0)
    time = np.tile(np.arange(100), 20)
    value = np.sin(time / 40.0) * 10
    observations = rng.normal(size=(2000, 2))
    returns = value + observations[:, 0] + rng.normal(0, 0.1, 2000)
    baseline = LinearBaseline()
    baseline.fit(observations[:1000], time[:1000], returns[:1000])
    rest = returns[1000:] - baseline.predict(observations[1000:], time[1000:])
    assert rest.var() < 0.02 * returns[1000:].var()


def test_repr_tells_whether_it_is_fitted():
    baseline = LinearBaseline()
    assert repr(baseline) == "<LinearBaseline: not fitted>"
    baseline.fit([[1.0]], [0], [1.0])
    assert repr(baseline) == "<LinearBaseline: 6 features>"


def fitted():
    baseline = LinearBaseline()
    baseline.fit(*batch(size=3))
    return baseline


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LinearBaseline(ridge=0.0), ValueError, "ridge must lie"),
        (lambda: LinearBaseline(ridge=True), TypeError, "ridge must be a real"),
        (lambda: LinearBaseline(clip=-1.0), ValueError, "clip must lie"),
        (lambda: LinearBaseline(clip=np.inf), ValueError, "clip must lie"),
        (lambda: LinearBaseline().predict([1.0], [0]), ValueError, "observations must have shape"),
        (lambda: LinearBaseline().predict([[np.nan]], [0]), ValueError, "observations must be fin"),
        (lambda: LinearBaseline().predict([[1.0]], [0.0]), TypeError, "time must be an integer"),
        (lambda: LinearBaseline().predict([[1.0]], [-1]), ValueError, "time must be at least 0"),
        (lambda: LinearBaseline().predict([[1.0]], [0, 1]), ValueError, "time must have shape"),
        (lambda: LinearBaseline().fit([[1.0]], [0], [1.0, 2.0]), ValueError, "returns must have"),
        (
            lambda: LinearBaseline().fit([[1.0]], [0], [np.inf]),
            ValueError,
            "returns must be finite",
        ),
        (
            lambda: LinearBaseline().fit(np.ones((9, 1)), np.arange(9), np.full(9, 1e308)),
            FloatingPointError,
            "returns of size 1e\\+308",
        ),
        (lambda: fitted().predict([[1.0]], [0]), ValueError, "the size 3 .*: got 1"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
