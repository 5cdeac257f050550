"""The readings that are rllab's, against its definitions written again in NumPy.

Duan et al. 2016: linear feature baseline, Gaussian MLP policy, vanilla policy gradient. Nothing
here calls the code under test for a number that it is compared with; episodes are data.
"""

import numpy as np
import pytest

from amgd.reinforce import GaussianPolicy, LinearBaseline, collect_episodes, make_simulator
from amgd.reinforce.training import TRAIN, Trainer, TrainingSpec

DISCOUNT = 0.99


# --- the definitions ------------------------------------------------------------------------------
def features(path):
    o = np.clip(path["observations"], -10, 10)
    t = np.arange(len(o)).reshape(-1, 1) / 100.0
    return np.concatenate([o, o**2, t, t**2, t**3, np.ones((len(o), 1))], axis=1)


def fit(paths):
    phi = np.concatenate([features(path) for path in paths])
    returns = np.concatenate([discounted(path["rewards"]) for path in paths])
    ridge = 1e-5
    for _ in range(5):
        left = phi.T @ phi + ridge * np.identity(phi.shape[1])
        coefficients = np.linalg.lstsq(left, phi.T @ returns)[0]
        if not np.isnan(coefficients).any():
            break
        ridge *= 10
    return coefficients


def discounted(rewards):
    result, after = np.zeros(len(rewards)), 0.0
    for t in range(len(rewards) - 1, -1, -1):
        after = rewards[t] + DISCOUNT * after
        result[t] = after
    return result


def mean_of(layers, observations):
    hidden = observations
    for i in range(0, len(layers), 2):
        hidden = hidden @ layers[i] + layers[i + 1]
        if i + 2 < len(layers):
            hidden = np.tanh(hidden)
    return hidden


def log_likelihood(layers, log_std, observations, actions):
    log_std = np.maximum(log_std, np.log(1e-6))
    z = (actions - mean_of(layers, observations)) / np.exp(log_std)
    d = actions.shape[1]
    return -np.sum(log_std) - 0.5 * np.sum(z**2, axis=1) - 0.5 * d * np.log(2 * np.pi)


def advantages(paths, coefficients):
    returns = [discounted(path["rewards"]) for path in paths]
    values = [0.0 if coefficients is None else features(path) @ coefficients for path in paths]
    flat = np.concatenate([r - v for r, v in zip(returns, values, strict=True)])
    return (flat - flat.mean()) / (flat.std() + 1e-8)


def surrogate(numbers, shapes, paths, weights):
    """Minus the mean over all steps of log-likelihood times advantage."""
    *layers, log_std = cut(numbers, shapes)
    parts = [log_likelihood(layers, log_std, p["observations"], p["actions"]) for p in paths]
    return -np.mean(np.concatenate(parts) * weights)


# --- from our arrays to theirs --------------------------------------------------------------------
def cut(numbers, shapes):
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    pieces = np.split(numbers, ends[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def paths_of(batch):
    names = ("observations", "actions", "rewards")
    starts = np.cumsum(batch.lengths)[:-1]
    columns = [np.split(getattr(batch, name), starts) for name in names]
    return [dict(zip(names, path, strict=True)) for path in zip(*columns, strict=True)]


def parameters(policy):
    """Layers first, as rllab's definition above wants them, then the deviation."""
    named = dict(policy.named_parameters())
    last = named.pop("log_std")
    return [*named.values(), last]


def test_two_iterations_have_the_gradients_of_the_definitions():
    name = "Walker2d-v5"
    spec = TrainingSpec(
        environment=name, hidden=(5, 4), iterations=1, batch=6, horizon=40, lr=0.05,
        optimizer="sgd", baseline="linear", advantages="normalised", loss="step_mean",
        discount=DISCOUNT, std="free", evaluation="none",
    )  # fmt: skip
    trainer, coefficients = Trainer(spec), None
    (policy,) = trainer.policies
    for k in range(2):
        at = [p.detach().numpy().copy() for p in parameters(policy)]
        batch = collect_episodes(
            policy, make_simulator(name), 6, horizon=40, rng=spec.stream(0, TRAIN, k)
        )
        paths = paths_of(batch)
        weights = advantages(paths, coefficients)
        coefficients = fit(paths)
        trainer.advance()
        got = np.concatenate([p.grad.numpy().ravel() for p in parameters(policy)])

        shapes = [a.shape for a in at]
        numbers = np.concatenate([a.ravel() for a in at])
        wanted = np.zeros(len(numbers))
        for i in range(len(numbers)):
            up, down = numbers.copy(), numbers.copy()
            up[i] += 1e-5
            down[i] -= 1e-5
            rise = surrogate(up, shapes, paths, weights) - surrogate(down, shapes, paths, weights)
            wanted[i] = rise / 2e-5
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-8)
        assert np.abs(wanted).max() > 1e-3
        if k == 0:  # the step from here
            after = np.concatenate([p.detach().numpy().ravel() for p in parameters(policy)])
            np.testing.assert_allclose(after, numbers - 0.05 * got, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0])  # of which most is clipped
@pytest.mark.parametrize("constant", [False, True])
def test_the_baseline_predicts_what_rllabs_does(scale, constant):
    draw = np.random.default_rng(0)
    paths = []
    for length in (1, 7, 300):
        observations = draw.normal(0, scale, (length, 4))
        if constant:  # as unused contact forces: the ridge alone carries these columns
            observations[:, 2:] = 0.0
        rewards = observations[:, 0] + draw.normal(size=length)
        paths.append({"observations": observations, "rewards": rewards})
    observations = np.concatenate([path["observations"] for path in paths])
    time = np.concatenate([np.arange(len(path["rewards"])) for path in paths])
    baseline = LinearBaseline()
    returns = np.concatenate([discounted(path["rewards"]) for path in paths])
    baseline.fit(observations, time, returns)
    wanted = np.concatenate([features(path) for path in paths]) @ fit(paths)
    np.testing.assert_allclose(baseline.predict(observations, time), wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("log_std", [0.0, -1.5, -20.0], ids=["start", "free", "below the floor"])
def test_the_policy_is_rllabs_gaussian(log_std):
    policy = GaussianPolicy((3, 5, 2), std="free", rng=np.random.default_rng(0))
    assert (policy.log_std == 0).all()  # rllab's init_std = 1
    policy.log_std.data.fill_(log_std)
    draw = np.random.default_rng(1)
    observations, noise = draw.normal(size=(20, 3)), draw.normal(size=(20, 2))
    *layers, last = [p.detach().numpy() for p in parameters(policy)]
    actions = policy.act(observations, noise)
    std = np.exp(np.maximum(last, np.log(1e-6)))
    np.testing.assert_allclose(actions, mean_of(layers, observations) + std * noise, rtol=1e-12)
    np.testing.assert_allclose(
        policy.log_prob(observations, actions).detach(),
        log_likelihood(layers, last, observations, actions),
        rtol=1e-7,
    )
    entropy = np.sum(np.maximum(last, np.log(1e-6)) + np.log(np.sqrt(2 * np.pi * np.e)))
    np.testing.assert_allclose(policy.entropy(observations).detach(), entropy, rtol=1e-12)


def test_weights_start_glorot_uniform_and_biases_at_zero():
    policy = GaussianPolicy((30, 50, 20), std="free", rng=np.random.default_rng(0))
    for weight, bias in policy.network.layers:
        bound = np.sqrt(6.0 / sum(weight.shape))
        assert bound * 0.98 < weight.abs().max() <= bound
        assert abs(float(weight.detach().mean())) < bound / 20
        assert (bias == 0).all()
