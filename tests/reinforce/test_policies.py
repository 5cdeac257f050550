"""Policies: initial weights, laws against SciPy, sampling by inversion, extreme parameters."""

from __future__ import annotations

import copy
import io
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from amgd.reinforce import GaussianPolicy, SoftmaxPolicy, make_simulator, policy_for
from amgd.reinforce.policies import MLP, ObservationNormaliser


def rng(seed=0):
    return np.random.default_rng(seed)


def everything(policy):
    return torch.cat([p.detach().reshape(-1) for p in policy.parameters()])


# --- sizes and initial weights --------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "sizes", "options", "count"),
    [
        (SoftmaxPolicy, (4, 8, 2), {}, 58),
        (SoftmaxPolicy, (6, 16, 3), {}, 163),
        (GaussianPolicy, (8, 32, 32, 2), {"std": "free"}, 1410 + 2),
        (GaussianPolicy, (8, 32, 32, 2), {"std": "network"}, 2 * 1410),
        (GaussianPolicy, (17, 32, 32, 6), {"std": "free"}, 1830 + 6),
        (GaussianPolicy, (17, 32, 32, 6), {}, 2 * 1830),
        (GaussianPolicy, (105, 128, 64, 32, 8), {"std": "free"}, 24168 + 8),
        (GaussianPolicy, (111, 128, 64, 32, 8), {"std": "free"}, 24936 + 8),
        (GaussianPolicy, (111, 128, 64, 32, 8), {}, 2 * 24936),
        (SoftmaxPolicy, (3, 2), {}, 8),
    ],
)
@pytest.mark.parametrize("replicates", [None, 3])
def test_parameter_counts(make, sizes, options, count, replicates):
    generator = rng() if replicates is None else rng().spawn(replicates)
    policy = make(sizes, **options, rng=generator)
    assert policy.n_parameters == count
    assert sum(p.numel() for p in policy.parameters()) == count * (replicates or 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_glorot_uniform_weights_and_zero_biases_in_every_layer(dtype):
    policy = GaussianPolicy((100, 80, 60, 40), rng=rng(), dtype=dtype)
    for network in (policy.network, policy.std_network):
        for weight, bias in network.layers:
            limit = math.sqrt(6 / sum(weight.shape))
            largest = weight.detach().abs().max().item()
            assert 0.99 * limit < largest <= limit * (1 + 1e-7)
            # uniform on (-1, 1): a Kolmogorov-Smirnov test at the level 1e-4
            scaled = weight.detach().double().numpy().ravel() / limit
            assert stats.kstest(scaled, stats.uniform(-1, 2).cdf).pvalue > 1e-4
            assert not bias.any()
            assert weight.dtype == bias.dtype == dtype


@pytest.mark.parametrize("kind", ["softmax", "free", "network"])
def test_a_stack_holds_the_policies_that_its_generators_make_alone(kind):
    def make(generator):
        if kind == "softmax":
            return SoftmaxPolicy((4, 8, 3), rng=generator)
        return GaussianPolicy((4, 8, 3), kind, rng=generator)

    stack = make([rng(s) for s in range(3)])
    observations = rng(9).normal(size=(3, 5, 4))
    noise = stack.noise((3, 5), rng=rng(8))
    actions = stack.act(observations, noise)
    log_prob, entropy = stack.log_prob(observations, actions), stack.entropy(observations)
    for s in range(3):
        alone = make(rng(s))
        for p, q in zip(stack.parameters(), alone.parameters(), strict=True):
            assert torch.equal(p[s], q)
        np.testing.assert_allclose(alone.act(observations[s], noise[s]), actions[s], atol=1e-14)
        for got, wanted in (
            (log_prob[s], alone.log_prob(observations[s], actions[s])),
            (entropy[s], alone.entropy(observations[s])),
        ):
            torch.testing.assert_close(got, wanted, rtol=1e-13, atol=1e-13)
        # the sum over the stack gives each replicate its own gradient
        stack.zero_grad()
        stack.log_prob(observations, actions).sum().backward()
        alone.log_prob(observations[s], actions[s]).sum().backward()
        for p, q in zip(stack.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(p.grad[s], q.grad, rtol=1e-12, atol=1e-12)


def test_same_generator_same_policy_and_no_global_random_state():
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    first, second = (GaussianPolicy((4, 8, 2), rng=rng(3)) for _ in range(2))
    first.sample(np.zeros((2, 4)), rng=rng())
    assert torch.equal(everything(first), everything(second))
    assert (np.random.get_state()[1] == before[0]).all()  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[1])


def test_saved_and_copied_policies_are_the_same():
    policy = GaussianPolicy((4, 8, 2), rng=rng(1))
    file = io.BytesIO()
    torch.save(policy.state_dict(), file)
    file.seek(0)
    other = GaussianPolicy((4, 8, 2), rng=rng(2))
    other.load_state_dict(torch.load(file, weights_only=True))
    for twin in (other, copy.deepcopy(policy)):
        assert torch.equal(everything(twin), everything(policy))


# --- the laws -------------------------------------------------------------------------------------
def test_network_is_tanh_between_layers_and_linear_at_the_end():
    net = MLP((3, 5, 4, 2), rng=rng())
    x = rng(1).normal(size=(7, 3))
    h = x
    for layer, (weight, _) in enumerate(net.layers):
        h = h @ weight.detach().numpy()
        if layer < 2:
            h = np.tanh(h)
    np.testing.assert_allclose(net(torch.from_numpy(x)).detach(), h, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(net.evaluate(x), h, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("replicates", [None, 3])
def test_both_ways_through_the_network_agree(dtype, replicates):
    generator = rng() if replicates is None else rng().spawn(replicates)
    net = MLP((3, 5, 2), rng=generator, dtype=dtype)
    with torch.no_grad():
        for _, bias in net.layers:
            bias.copy_(torch.from_numpy(rng(2).normal(size=bias.shape)))
    x = torch.as_tensor(
        rng(1).normal(size=(*([replicates] if replicates else []), 7, 3)), dtype=dtype
    )
    got = torch.from_numpy(net.evaluate(x.numpy()))
    assert got.dtype == dtype
    tolerance = 1e-13 if dtype == torch.float64 else 1e-5
    torch.testing.assert_close(got, net(x).detach(), rtol=tolerance, atol=tolerance)


def test_softmax_law_against_scipy():
    policy = SoftmaxPolicy((4, 8, 3), rng=rng())
    x = rng(1).normal(size=(6, 4))
    logits = policy.logits(x).detach().numpy()
    actions = np.array([0, 1, 2, 2, 1, 0])
    wanted = special.log_softmax(logits, axis=1)
    np.testing.assert_allclose(
        policy.log_prob(x, actions).detach(), wanted[np.arange(6), actions], rtol=1e-13
    )
    np.testing.assert_allclose(
        policy.entropy(x).detach(), stats.entropy(np.exp(wanted), axis=1), rtol=1e-13
    )


@pytest.mark.parametrize("std", ["free", "network"])
def test_gaussian_law_against_scipy(std):
    policy = GaussianPolicy((4, 8, 3), std, rng=rng())
    x, actions = rng(1).normal(size=(6, 4)), rng(2).normal(size=(6, 3))
    mean, deviation = (v.detach().numpy() for v in policy.mean_std(x))
    law = stats.norm(mean, deviation)
    np.testing.assert_allclose(
        policy.log_prob(x, actions).detach(), law.logpdf(actions).sum(axis=1), rtol=1e-13
    )
    np.testing.assert_allclose(policy.entropy(x).detach(), law.entropy().sum(axis=1), rtol=1e-13)


def test_the_score_has_mean_zero():
    """Sum over a of pi(a) grad log pi(a) = grad of 1 = 0: what makes baselines free of bias."""
    policy = SoftmaxPolicy((4, 8, 3), rng=rng())
    x = rng(1).normal(size=(1, 4))
    log_prob = torch.stack([policy.log_prob(x, [a])[0] for a in range(3)])
    (log_prob.detach().exp() * log_prob).sum().backward()
    for p in policy.parameters():
        torch.testing.assert_close(p.grad, torch.zeros_like(p), rtol=0, atol=1e-15)


def test_free_std_ignores_the_observation_and_the_network_std_does_not():
    x = rng(1).normal(size=(6, 4))
    free = GaussianPolicy((4, 8, 3), "free", rng=rng()).mean_std(x)[1]
    learned = GaussianPolicy((4, 8, 3), "network", rng=rng()).mean_std(x)[1]
    assert (free == 1.0).all()
    assert learned.std(dim=0).min() > 1e-3
    at_zero = GaussianPolicy((4, 8, 3), rng=rng()).mean_std(np.zeros((1, 4)))[1]
    assert (at_zero == 1.0).all()


# --- sampling -------------------------------------------------------------------------------------
def test_softmax_sampling_inverts_the_cumulative_law_exactly():
    policy = SoftmaxPolicy((4, 8, 3), rng=rng())
    n = 100_000
    x = np.repeat(rng(1).normal(size=(1, 4)), n, axis=0)
    u = (np.arange(n) + 0.5) / n  # equal parts of [0, 1): each action gets n pi(a) of them, to 1
    counts = np.bincount(policy.act(x, u), minlength=3)
    wanted = n * special.softmax(policy.logits(x[:1]).detach().numpy()[0])
    assert np.abs(counts - wanted).max() <= 1.0


@pytest.mark.parametrize(
    ("logits", "u", "action"),
    [
        ([-1e4, 0.0, 0.0], 0.0, 1),  # probability 0 is never drawn, not even by u = 0
        ([0.0, 0.0, -1e4], np.nextafter(1.0, 0.0), 1),
        ([0.0, -1e4, 0.0], 0.5, 2),
        ([1e100, -1e100, 0.0], 0.999, 0),
        ([0.0, 0.0, 0.0], np.nextafter(1.0, 0.0), 2),
    ],
)
def test_softmax_sampling_at_the_edges(logits, u, action):
    policy = SoftmaxPolicy((1, 3), rng=rng())
    with torch.no_grad():
        policy.network.weight0.zero_()
        policy.network.bias0[0] = torch.tensor(logits, dtype=torch.float64)
    assert policy.act(np.zeros((1, 1)), np.array([u])) == [action]


@pytest.mark.parametrize("std", ["free", "network"])
def test_gaussian_sampling_is_mean_plus_std_times_noise(std):
    policy = GaussianPolicy((4, 8, 3), std, rng=rng())
    x, noise = rng(1).normal(size=(6, 4)), rng(2).normal(size=(6, 3))
    mean, deviation = (v.detach().numpy() for v in policy.mean_std(x))
    np.testing.assert_allclose(policy.act(x, noise), mean + deviation * noise, rtol=1e-13)
    drawn = policy.noise((2000,), rng=rng(3))
    assert drawn.shape == (2000, 3)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-4


def test_an_action_does_not_depend_on_the_rest_of_the_batch():
    policy = SoftmaxPolicy((4, 8, 2), rng=rng())
    x, u = rng(1).normal(size=(50, 4)), rng(2).random(50)
    whole = policy.act(x, u)
    keep = rng(3).random(50) < 0.5
    np.testing.assert_array_equal(policy.act(x[keep], u[keep]), whole[keep])


# --- extreme parameters ---------------------------------------------------------------------------
@settings(max_examples=60, deadline=None)
@given(
    exponent=st.integers(-100, 100),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["softmax", "free", "network"]),
)
def test_extreme_parameters_stay_finite(exponent, seed, kind):
    if kind == "softmax":
        policy = SoftmaxPolicy((4, 8, 3), rng=rng(seed))
    else:
        policy = GaussianPolicy((4, 8, 3), kind, rng=rng(seed))
    with torch.no_grad():
        for p in policy.parameters():
            p.add_(torch.from_numpy(rng(seed).normal(size=p.shape))).mul_(10.0**exponent)
    x = rng(seed + 1).normal(size=(5, 4))
    actions = policy.sample(x, rng=rng(seed))
    assert np.isfinite(actions).all()
    log_prob = policy.log_prob(x, actions)
    assert torch.isfinite(log_prob).all()
    assert torch.isfinite(policy.entropy(x)).all()
    log_prob.sum().backward()
    for p in policy.parameters():
        assert torch.isfinite(p.grad).all()


@pytest.mark.parametrize(("std", "floor"), [("free", 1e-6), ("network", 1e-2)])
def test_the_deviation_keeps_its_floor_under_adversarial_updates(std, floor):
    policy = GaussianPolicy((2, 4, 1), std, floor, rng=rng())
    x = rng(1).normal(size=(8, 2))
    optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    lowest = math.inf
    for step in range(1000):
        optimizer.zero_grad()
        deviation = policy.mean_std(x)[1]
        lowest = min(lowest, deviation.min().item())
        # pull the deviation down, then up, as hard as the clamp lets through
        (deviation.log().sum() * (1 if step % 200 < 150 else -1)).backward()
        optimizer.step()
        assert torch.isfinite(policy.log_prob(x, policy.sample(x, rng=rng(step)))).all()
    assert lowest == pytest.approx(floor, rel=1e-12)
    assert lowest >= floor * (1 - 1e-12)


@pytest.mark.parametrize("log_std", [14.0, 23.0, 700.0, 1e300])
def test_an_exploded_deviation_stays_finite_and_learns_no_more(log_std):
    policy = GaussianPolicy((2, 4, 1), "free", 1e-6, rng=rng())
    with torch.no_grad():
        policy.log_std.fill_(log_std)
    observations, noise = rng().normal(size=(50, 2)), rng().normal(size=(50, 1))
    actions = policy.act(observations, noise)
    np.testing.assert_allclose(actions, 1e6 * noise, rtol=0, atol=10.0)  # whatever the mean
    policy.log_prob(observations, actions).sum().backward()
    assert policy.log_std.grad.tolist() == [0.0]
    _, bias = policy.network.layers[-1]
    assert bias.grad.item() == pytest.approx(noise.sum() / 1e6, rel=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["softmax", "free", "network"])
def test_non_finite_parameters_are_named(kind, bad):
    if kind == "softmax":
        policy = SoftmaxPolicy((4, 8, 3), rng=rng())
        broken, actions = policy.network.bias1, np.zeros(2, dtype=int)
    else:
        policy = GaussianPolicy((4, 8, 3), kind, rng=rng())
        broken = policy.log_std if kind == "free" else policy.std_network.bias1
        actions = np.zeros((2, 3))
    with torch.no_grad():
        broken[..., 1] = bad
    x = np.zeros((2, 4))
    for call in (
        lambda: policy.sample(x, rng=rng()),
        lambda: policy.log_prob(x, actions),
        lambda: policy.entropy(x),
    ):
        with pytest.raises(FloatingPointError, match=r"Policy: a .* must be finite: .* step size"):
            call()


# --- bad input ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (TypeError, "sizes must be a list", lambda: SoftmaxPolicy("42", rng=rng())),
        (ValueError, "input and an output", lambda: SoftmaxPolicy((4,), rng=rng())),
        (TypeError, "a size must be an integer", lambda: SoftmaxPolicy((4, 8.0, 2), rng=rng())),
        (TypeError, "a size must be an integer", lambda: SoftmaxPolicy((4, True, 2), rng=rng())),
        (ValueError, "a size must be at least 1", lambda: SoftmaxPolicy((4, 0, 2), rng=rng())),
        (ValueError, "at least 2 actions", lambda: SoftmaxPolicy((4, 1), rng=rng())),
        (TypeError, "rng must be a Generator", lambda: SoftmaxPolicy((4, 2), rng=0)),
        (TypeError, "rng must be a Generator", lambda: SoftmaxPolicy((4, 2), rng=[0])),
        (ValueError, "at least one Generator", lambda: SoftmaxPolicy((4, 2), rng=[])),
        (
            ValueError,
            "dtype must be",
            lambda: SoftmaxPolicy((4, 2), rng=rng(), dtype=torch.float16),
        ),
        (ValueError, "std must be one of", lambda: GaussianPolicy((4, 2), "fixed", rng=rng())),
        (ValueError, "floor must lie in", lambda: GaussianPolicy((4, 2), floor=0.0, rng=rng())),
        (ValueError, "floor must lie in", lambda: GaussianPolicy((4, 2), floor=2, rng=rng())),
        (TypeError, "floor must be a real", lambda: GaussianPolicy((4, 2), floor=True, rng=rng())),
    ],
)
def test_bad_options_are_refused(error, match, call):
    with pytest.raises(error, match=match):
        call()


SOFT, GAUSS = SoftmaxPolicy((4, 8, 2), rng=rng()), GaussianPolicy((4, 8, 2), rng=rng())
STACK = SoftmaxPolicy((4, 8, 2), rng=rng().spawn(3))
X = np.zeros((5, 4))


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (
            ValueError,
            r"observations must have shape \(n, 4\)",
            lambda: SOFT.logits(np.zeros((5, 3))),
        ),
        (ValueError, r"observations must have shape \(n, 4\)", lambda: SOFT.logits(np.zeros(4))),
        (ValueError, r"\(3, n, 4\)", lambda: STACK.logits(X)),
        (ValueError, r"\(3, n, 4\)", lambda: STACK.logits(np.zeros((2, 5, 4)))),
        (TypeError, "must be integers", lambda: SOFT.log_prob(X, np.zeros(5))),
        (TypeError, "must be integers", lambda: SOFT.log_prob(X, np.zeros(5, dtype=bool))),
        (ValueError, r"lie in 0\.\.1", lambda: SOFT.log_prob(X, np.full(5, 2))),
        (ValueError, r"lie in 0\.\.1", lambda: SOFT.log_prob(X, np.full(5, -1))),
        (ValueError, "shape", lambda: SOFT.log_prob(X, np.zeros(4, dtype=int))),
        (ValueError, "shape", lambda: GAUSS.log_prob(X, np.zeros(5))),
        (ValueError, "must not be NaN", lambda: GAUSS.log_prob(X, np.full((5, 2), np.nan))),
        (FloatingPointError, "must be finite", lambda: SOFT.logits(np.full((5, 4), np.nan))),
        (TypeError, "rng must be a Generator", lambda: SOFT.sample(X, rng=1)),
    ],
)
def test_bad_arguments_are_refused(error, match, call):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(
    ("name", "hidden", "kind", "sizes"),
    [
        ("CartPole-v0", (8,), SoftmaxPolicy, (4, 8, 2)),
        ("Acrobot-v1", (16,), SoftmaxPolicy, (6, 16, 3)),
        ("Swimmer-v5", (32, 32), GaussianPolicy, (8, 32, 32, 2)),
        ("Ant-v5", (), GaussianPolicy, (105, 8)),
    ],
)
def test_the_action_space_decides_the_policy(name, hidden, kind, sizes):
    policy = policy_for(make_simulator(name), hidden, rng=rng())
    assert type(policy) is kind
    assert policy.sizes == sizes


@pytest.mark.parametrize("make", [SoftmaxPolicy, GaussianPolicy])
def test_a_policy_follows_float_and_double(make):
    policy = make((3, 4, 2), rng=np.random.default_rng(0))
    observations = np.linspace(-1, 1, 6).reshape(2, 3)
    for convert, dtype in ((policy.float, torch.float32), (policy.double, torch.float64)):
        assert convert() is policy
        assert policy.dtype == dtype
        actions = policy.sample(observations, rng=np.random.default_rng(1))
        fresh = make((3, 4, 2), rng=np.random.default_rng(0), dtype=dtype)
        laws = [one.log_prob(observations, actions) for one in (policy, fresh)]
        assert laws[0].dtype == laws[1].dtype
        if dtype == torch.float32:  # doubles have kept the rounding to float32
            expected = fresh.sample(observations, rng=np.random.default_rng(1))
            assert actions.tolist() == expected.tolist()
    weights = [p.tolist() for p in policy.parameters()]
    for convert in (policy.half, policy.bfloat16):
        with pytest.raises(ValueError, match=r"dtype must be torch\.float32 or"):
            convert()
    assert [p.tolist() for p in policy.parameters()] == weights
    assert policy.dtype == torch.float64


# --- normalised observations ----------------------------------------------------------------------
@pytest.mark.parametrize("sizes", [(1,), (5,), (1, 1, 7), (100, 3, 1000), (2,) * 30], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_mean_and_deviation_of_batches_are_those_of_all_numbers(sizes, offset):
    draw = np.random.default_rng(len(sizes))
    batches = [offset + draw.normal(3.0, [1.0, 20.0, 0.0], (n, 3)) for n in sizes]
    normaliser = ObservationNormaliser(3, clip=2.5)
    for batch in batches:
        normaliser.update(batch)
    every = np.concatenate(batches)
    np.testing.assert_allclose(normaliser.mean.numpy(), every.mean(axis=0), rtol=1e-12)
    deviation = np.sqrt(every.var(axis=0) + 1e-8)
    np.testing.assert_allclose(normaliser.deviation.numpy(), deviation, rtol=1e-6)
    wanted = np.clip((every - every.mean(axis=0)) / deviation, -2.5, 2.5)
    got = normaliser.normalised(every)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(normaliser(torch.tensor(every)).numpy(), got, rtol=1e-12)


def test_before_the_first_update_observations_are_only_cut():
    normaliser = ObservationNormaliser(2, clip=2.0)
    assert normaliser.normalised(np.array([[1.5, -7.0]])).tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize("kind", [SoftmaxPolicy, GaussianPolicy])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("stacked", [False, True])
def test_a_policy_sees_normalised_observations_in_every_method(kind, dtype, stacked):
    def policy_of(**options):
        generator = np.random.default_rng(0)
        rng = [generator] if stacked else generator
        return kind((3, 5, 2), rng=rng, dtype=dtype, **options)

    raw, policy = policy_of(), policy_of(normalise_observations=1.5)
    draw = np.random.default_rng(1)
    policy.normaliser.update(draw.normal(4.0, 3.0, (50, 3)))
    seen = draw.normal(4.0, 3.0, (1, 6, 3) if stacked else (6, 3))
    by_hand = (seen - policy.normaliser.mean.numpy()) / policy.normaliser.deviation.numpy()
    by_hand = np.clip(by_hand, -1.5, 1.5)
    close = {"rtol": 1e-5 if dtype == torch.float32 else 1e-12, "atol": 1e-6}
    noise = policy.noise(seen.shape[:-1], rng=np.random.default_rng(2))
    actions = policy.act(seen, noise)
    np.testing.assert_allclose(actions, raw.act(by_hand, noise), **close)
    np.testing.assert_allclose(actions, policy.sample(seen, rng=np.random.default_rng(2)), **close)
    for ask in (policy.log_prob, raw.log_prob):
        given = seen if ask == policy.log_prob else by_hand
        np.testing.assert_allclose(
            ask(given, actions).detach(), raw.log_prob(by_hand, actions).detach(), **close
        )
    assert {name for name, _ in policy.named_parameters()} == {n for n, _ in raw.named_parameters()}
    other = policy_of(normalise_observations=1.5)
    other.load_state_dict(policy.state_dict())
    np.testing.assert_array_equal(other.act(seen, noise), actions)
    assert policy.double().act(seen, noise).dtype == actions.dtype


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: ObservationNormaliser(0, 1.0), ValueError, "size must be at least 1: got 0"),
        (lambda: ObservationNormaliser(2, 0.0), ValueError, "clip must lie in"),
        (lambda: ObservationNormaliser(2, 1.0).update([[1.0]]), ValueError, "shape .N, 2.: got"),
        (lambda: ObservationNormaliser(1, 1.0).update([[np.nan]]), ValueError, "must be finite"),
        (
            lambda: ObservationNormaliser(1, 1.0, replicates=2).update([[1.0]]),
            ValueError,
            "got 2 replicates; update each alone",
        ),
        (
            lambda: SoftmaxPolicy((1, 2), rng=np.random.default_rng(0), normalise_observations=-1),
            ValueError,
            "normalise_observations must lie in",
        ),
    ],
)
def test_a_normaliser_refuses(call, error, match):
    with pytest.raises(error, match=match):
        call()
