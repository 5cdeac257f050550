"""AMGD in PyTorch: equal to Algorithm 1, and a good citizen among torch optimizers.

The reference is Algorithm 1 with its three sequences, written out in NumPy below. The optimizer
keeps one sequence and a buffer; all tests of its mathematics compare the two.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from amgd.descent import algorithms, problems, steps
from amgd.markov import MarkovChain
from amgd.optim import AMGD

LR = 0.05
RANDOM = np.random.default_rng(7).uniform(0.0, 1.0, size=(3, 1000))


def random_schedule(k: int) -> tuple[float, float, float]:
    """Arbitrary values in the allowed range, with alpha_1 = 1."""
    alpha, beta, gamma = RANDOM[:, k]
    return (1.0 if k == 1 else float(alpha)), float(beta), 2 * float(gamma)


@dataclass(frozen=True)
class Steps:
    """Step sizes as an object, in the manner of amgd.descent.steps."""

    alpha: Callable[[int], Any]
    beta: Callable[[int], Any]
    gamma: Callable[[int], Any]
    name: str = "mine"
    mu: float = 0.0


def as_array(values: Callable[[int], float]) -> Callable[[int], Any]:
    return lambda k: np.asarray(values(k))


STEPS = Steps(
    alpha=as_array(lambda k: 2 / (k + 1)),
    beta=as_array(lambda k: 1 / (k + 3)),
    gamma=as_array(lambda k: 0.7 / k**0.5),
)

# id -> (options, the same schedule as k -> (alpha, beta / lr, gamma / lr))
SCHEDULES: dict[str, tuple[dict[str, Any], Callable[[int], tuple[float, float, float]]]] = {
    "default": ({}, lambda k: (2 / (k + 1), 1, (k + 1) / 2)),
    "nesterov": ({"schedule": "nesterov"}, lambda k: (2 / (k + 1), 1, (k + 1) / 2)),
    "ghadimi_lan": ({"schedule": "ghadimi_lan"}, lambda k: (2 / (k + 1), 1, k / 2)),
    "theorem1": ({"schedule": "theorem1"}, lambda k: (2 / (k + 1), 1, 1 + 2 / (k + 1))),
    "sgd": ({"schedule": "sgd"}, lambda k: (2 / (k + 1), 1, 1)),
    "momentum": ({"momentum": 0.9}, lambda k: (1 if k == 1 else 0.1, 1, 10)),
    "momentum 0": ({"momentum": 0.0}, lambda k: (1, 1, 1)),
    "random": ({"schedule": random_schedule}, random_schedule),
    "object": ({"schedule": STEPS}, lambda k: (2 / (k + 1), 1 / (k + 3), 0.7 / k**0.5)),
}
every_schedule = pytest.mark.parametrize("name", SCHEDULES)
every_path = pytest.mark.parametrize("foreach", [False, True, None])

# A strongly convex quadratic with noise that is fixed in advance: G_k(y) = H y + NOISE[k].
_rng = np.random.default_rng(0)
_root = _rng.normal(size=(5, 5))
H = _root @ _root.T / 5 + 0.1 * np.eye(5)
NOISE = _rng.normal(size=(400, 5))
X0 = _rng.normal(size=5)


def algorithm1(
    schedule: Callable[[int], tuple[float, float, float]],
    n_steps: int,
    *,
    lr: Callable[[int], float] = lambda k: LR,
    gradient: Callable[[int, Any], Any] = lambda k, y: H @ y + NOISE[k],
    x0: Any = X0,
) -> dict[str, Any]:
    """Run the three sequences; return y_{K+1}, x_K and x_bar_K."""
    x, x_bar = x0.copy(), x0.copy()
    for k in range(1, n_steps + 1):
        alpha, beta, gamma = schedule(k)
        y = (1 - alpha) * x_bar + alpha * x
        g = gradient(k, y)
        x = x - lr(k) * gamma * g
        x_bar = y - lr(k) * beta * g
    alpha = schedule(n_steps + 1)[0]
    return {"y": (1 - alpha) * x_bar + alpha * x, "x": x, "x_bar": x_bar}


def start(dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.tensor(X0, dtype=dtype, requires_grad=True)


def run(opt: torch.optim.Optimizer, p: Tensor, ks: range, sign: float = 1.0) -> None:
    """Take the steps ks on the noisy quadratic."""
    h, noise = torch.tensor(H, dtype=p.dtype), torch.tensor(NOISE, dtype=p.dtype)
    for k in ks:
        p.grad = sign * (h @ p.detach() + noise[k])
        opt.step()


def gradient(p: Tensor, k: int) -> Tensor:
    return torch.tensor(H) @ p.detach() + torch.tensor(NOISE[k])


def close(tensor: Tensor, expected: Any, tol: float = 1e-13) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=0, atol=tol * scale)


def made_of(**rules: Callable[[Any], Any]) -> Callable[[float], steps.StepSizes]:
    """Return the maker of a rule that departs from SGD's."""
    plain = {"alpha": lambda k: 2 / (k + 1), "beta": lambda k: 1.0, "gamma": lambda k: 1.0}
    return lambda beta: steps.StepSizes("mine", **{**plain, **rules})


def same(a: Tensor, b: Tensor) -> None:
    """Equal bit for bit."""
    assert a.dtype == b.dtype
    assert torch.equal(a, b)


# --- the mathematics ------------------------------------------------------------------------------


@every_schedule
@every_path
@pytest.mark.parametrize("n_steps", [1, 2, 3, 60])
def test_equals_algorithm_1(name: str, foreach: bool | None, n_steps: int) -> None:
    options, schedule = SCHEDULES[name]
    p = start()
    opt = AMGD([p], LR, foreach=foreach, **options)
    run(opt, p, range(1, n_steps + 1))
    expected = algorithm1(schedule, n_steps)
    close(p, expected["y"])
    for sequence in ("x", "x_bar", "y"):
        with opt.at(sequence):
            close(p, expected[sequence])


@given(
    alphas=st.lists(st.floats(0, 1), min_size=12, max_size=12),
    betas=st.lists(st.floats(0, 2), min_size=12, max_size=12),
    gammas=st.lists(st.floats(0, 2), min_size=12, max_size=12),
    n_steps=st.integers(1, 10),
)
@settings(max_examples=60)
def test_equals_algorithm_1_for_any_steps(
    alphas: list[float], betas: list[float], gammas: list[float], n_steps: int
) -> None:
    def schedule(k: int) -> tuple[float, float, float]:
        return (1.0 if k == 1 else alphas[k]), betas[k], gammas[k]

    p = start()
    opt = AMGD([p], LR, schedule=schedule)
    run(opt, p, range(1, n_steps + 1))
    expected = algorithm1(schedule, n_steps)
    with opt.at("x"):
        close(p, expected["x"])
    with opt.at("x_bar"):
        close(p, expected["x_bar"])
    close(p, expected["y"])


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"schedule": "nesterov"}, steps.nesterov(0.1)),
        ({"momentum": 0.8}, steps.nesterov(0.1, momentum=0.8)),
        ({"schedule": "ghadimi_lan"}, steps.ghadimi_lan(0.1)),
        ({"schedule": "theorem1"}, steps.theorem1(0.1)),
        ({"schedule": "sgd"}, steps.sgd(0.1)),
    ],
    ids=lambda value: value.name if isinstance(value, steps.StepSizes) else "",
)
def test_equals_the_algorithm_of_the_package(
    options: dict[str, Any], sizes: steps.StepSizes
) -> None:
    """One chain of samples through amgd.descent, and through the optimizer in both spellings."""
    matrix = np.array([[1.0, 0.3], [0.3, 0.5]])
    noise = np.array([[1.0, -1.0], [0.5, 2.0], [-1.5, -1.0]])
    chain = MarkovChain([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])
    n_steps = 50
    path = algorithms.amgd_nonconvex(
        problems.Quadratic(matrix, noise),
        chain,
        sizes,
        n_steps,
        x0=np.ones(2),
        rng=np.random.default_rng(3),
        initial=0,
        record=1,
    )
    states = chain.sample(n_steps + 1, rng=np.random.default_rng(3), initial=0)[0, 1:]
    p, q = (torch.ones(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    named = AMGD([p], 0.1, **options)
    given_steps = AMGD([q], 1.0, schedule=sizes)
    for k, i in enumerate(states, 1):
        for w, opt in ((p, named), (q, given_steps)):
            close(w, path.y[path.k == k][0, 0])  # the gradient of step k is taken at y_k
            w.grad = torch.tensor(matrix) @ w.detach() + torch.tensor(noise[i])
            opt.step()
            with opt.at("x_bar"):
                close(w, path.x_bar[path.k == k][0, 0])
            with opt.at("x"):
                close(w, path.x[path.k == k][0, 0])


@pytest.mark.parametrize("name", ["nesterov", "ghadimi_lan", "theorem1", "sgd", "momentum"])
@pytest.mark.parametrize("start_at", [0, 1000, 10**6, 10**12])
def test_named_schedules_are_their_formulas_bit_for_bit(name: str, start_at: int) -> None:
    """The named ones are computed in blocks, by the arrays of amgd.descent.steps."""
    options, formula = SCHEDULES[name]
    if name == "momentum":
        formula = lambda k: (1.0 if k == 1 else 1 - 0.9, 1.0, 1 / (1 - 0.9))  # noqa: E731
    p, q = start(), start()
    for w, opt in ((p, AMGD([p], LR, **options)), (q, AMGD([q], LR, schedule=formula))):
        opt.state[w].update(step=start_at, e=torch.ones_like(w))
        for k in range(1100):
            w.grad = gradient(w, k % 400)
            opt.step()
    same(p, q)


def test_a_schedule_of_ones_own_gets_a_name_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(beta: float) -> steps.StepSizes:
        return steps.StepSizes("mine", lambda k: 3 / (k + 2), lambda k: beta, lambda k: beta * k)

    with pytest.raises(ValueError, match=r"schedule must be one of 'sgd'.*got 'mine'"):
        AMGD([start()], LR, schedule="mine")
    monkeypatch.setitem(steps.SCHEDULES, "mine", steps.Named(mine, "My method", "My method", 2))
    p, q = start(), start()
    opt = AMGD([p], LR, schedule="mine")
    run(opt, p, range(1, 50))
    run(AMGD([q], LR, schedule=lambda k: (3 / (k + 2), 1.0, k)), q, range(1, 50))
    same(p, q)
    AMGD([start()], LR, schedule="mine").load_state_dict(opt.state_dict())
    # The name may get another rule.
    monkeypatch.setitem(steps.SCHEDULES, "mine", steps.SCHEDULES["sgd"])
    w, v = start(), start()
    run(AMGD([w], LR, schedule="mine"), w, range(1, 50))
    run(AMGD([v], LR, schedule="sgd"), v, range(1, 50))
    same(w, v)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda beta: steps.theorem2(1.0, 1.0), "got mine of Algorithm 2"),
        (lambda beta: steps.theorem3(0.1, 1.0), "got mine of Algorithm 2"),
        (made_of(alpha=lambda k: 1 / (k + 1)), "alpha_1 = 1 at k = 1"),
        (made_of(alpha=lambda k: np.where(k == 5, 2.0, 1 / k)), "alpha_k <= 1 at k = 5"),
        (made_of(beta=lambda k: -1.0), "0 <= beta_k at k = 1"),
        (made_of(gamma=lambda k: np.where(k == 7, np.nan, 1.0)), "gamma_k at k = 7"),
    ],
)
def test_a_name_for_steps_that_are_not_of_algorithm_1_is_refused(
    monkeypatch: pytest.MonkeyPatch, rule: Callable[[float], steps.StepSizes], message: str
) -> None:
    monkeypatch.setitem(steps.SCHEDULES, "mine", steps.Named(rule, "My method", "My method", 2))
    with pytest.raises(ValueError, match=message):
        AMGD([start()], LR, schedule="mine")


@pytest.mark.parametrize("momentum", [0.1, 0.5, 0.9, 0.99])
def test_constant_momentum_is_torch_nesterov(momentum: float) -> None:
    p, q = start(), start()
    run(AMGD([p], LR, momentum=momentum), p, range(1, 200))
    run(torch.optim.SGD([q], LR, momentum=momentum, nesterov=True), q, range(1, 200))
    close(p, q.detach().numpy(), 1e-12)


def test_constant_momentum_with_decay_and_maximize_is_torch_nesterov() -> None:
    p, q = start(), start()
    options: dict[str, Any] = {"momentum": 0.8, "weight_decay": 0.3, "maximize": True}
    run(AMGD([p], LR, **options), p, range(1, 100), sign=-1)
    run(torch.optim.SGD([q], LR, nesterov=True, **options), q, range(1, 100), sign=-1)
    close(p, q.detach().numpy(), 1e-12)


@every_path
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_gamma_equal_to_beta_is_torch_sgd_bit_for_bit(
    foreach: bool | None, weight_decay: float
) -> None:
    p, q = start(), start()
    opt = AMGD([p], LR, schedule="sgd", foreach=foreach, weight_decay=weight_decay)
    run(opt, p, range(1, 100))
    run(torch.optim.SGD([q], LR, weight_decay=weight_decay), q, range(1, 100))
    same(p, q)
    assert set(opt.state[p]) == {"step"}  # no buffer
    with opt.at("x_bar"):
        same(p, q)


def test_nesterov_has_its_textbook_momentum() -> None:
    """y_{k+1} = z_k + (k - 1) / (k + 2) (z_k - z_{k-1}), with z_k = y_k - lr G_k."""
    y, z_before = X0.copy(), X0.copy()
    for k in range(1, 41):
        z = y - LR * (H @ y + NOISE[k])
        y, z_before = z + (k - 1) / (k + 2) * (z - z_before), z
    p = start()
    run(AMGD([p], LR), p, range(1, 41))
    close(p, y)


@every_schedule
def test_first_step_uses_k_equal_to_1(name: str) -> None:
    options, schedule = SCHEDULES[name]
    (alpha, beta, gamma), alpha_2 = schedule(1), schedule(2)[0]
    assert alpha == 1
    p = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    opt = AMGD([p], LR, **options)
    p.grad = torch.tensor([1.0], dtype=torch.float64)
    opt.step()
    close(p, np.array([2.0 - LR * beta - alpha_2 * LR * (gamma - beta)]))


@every_schedule
@every_path
def test_maximize_mirrors(name: str, foreach: bool | None) -> None:
    p, q = start(), start()
    run(AMGD([p], LR, foreach=foreach, **SCHEDULES[name][0]), p, range(1, 30))
    opt = AMGD([q], LR, foreach=foreach, maximize=True, **SCHEDULES[name][0])
    run(opt, q, range(1, 30), sign=-1)
    same(p, q)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@every_path
def test_the_buffer_decays_in_half_precision_too(foreach: bool | None, dtype: torch.dtype) -> None:
    """1 - alpha_k must not be rounded to the dtype: from k = 1023 on bfloat16 would make it 1."""
    p = torch.zeros(100, dtype=dtype, requires_grad=True)
    opt = AMGD([p], 0.0, foreach=foreach, schedule="ghadimi_lan")
    p.grad = torch.zeros_like(p)
    opt.step()
    for k in (600, 2000):
        e = torch.linspace(1, 2, 100).to(dtype)
        opt.state[p].update(step=k - 1, e=e.clone())
        opt.step()
        exact = e.double() * (1 - 2 / (k + 1))
        # Within 0.51 of the spacing of the dtype on [1, 2): rounded once, in float32 before.
        worst = float((opt.state[p]["e"].double() - exact).abs().max())
        assert worst <= 0.51 * torch.finfo(dtype).eps


@every_path
@pytest.mark.parametrize("maximize", [False, True])
def test_weight_decay_is_an_l2_penalty_at_y(foreach: bool | None, maximize: bool) -> None:
    p = start()
    opt = AMGD([p], LR, weight_decay=0.3, maximize=maximize, foreach=foreach)
    run(opt, p, range(1, 30), sign=-1 if maximize else 1)
    _, schedule = SCHEDULES["nesterov"]
    expected = algorithm1(schedule, 29, gradient=lambda k, y: H @ y + NOISE[k] + 0.3 * y)
    close(p, expected["y"])


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"weight_decay": 0.1}])
def test_step_leaves_the_gradient_alone(foreach: bool, options: dict[str, Any]) -> None:
    p = start()
    p.grad = torch.ones_like(p)
    AMGD([p], LR, foreach=foreach, **options).step()
    same(p.grad, torch.ones_like(p))


PROBLEMS: dict[str, Callable[[Tensor], Tensor]] = {
    "quadratic": lambda w: 0.5 * (w[0] - 1) ** 2 + 5 * (w[1] + 2) ** 2,
    "rosenbrock": lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2,
}


@every_schedule
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("maximize", [False, True])
def test_goes_in_the_right_direction(name: str, problem: str, maximize: bool) -> None:
    f = PROBLEMS[problem]
    w = torch.tensor([1.5, 1.5], dtype=torch.float64, requires_grad=True)
    lr = {"quadratic": 0.02, "rosenbrock": 1e-4}[problem]
    opt = AMGD([w], lr, maximize=maximize, **SCHEDULES[name][0])
    first = float(f(w.detach()))
    for _ in range(200):
        opt.zero_grad()
        loss = -f(w) if maximize else f(w)
        loss.backward()
        opt.step()
    assert float(f(w.detach())) < 0.5 * first


def test_acceleration_beats_sgd_on_an_ill_conditioned_quadratic() -> None:
    values = {}
    for schedule in ("nesterov", "ghadimi_lan", "theorem1", "sgd"):
        w = torch.ones(100, dtype=torch.float64, requires_grad=True)
        eigenvalues = torch.logspace(-4, 0, 100, dtype=torch.float64)
        opt = AMGD([w], 1.0, schedule=schedule)
        for _ in range(300):
            w.grad = eigenvalues * w.detach()
            opt.step()
        values[schedule] = float((eigenvalues * w.detach() ** 2).sum() / 2)
    assert values["nesterov"] < 0.1 * values["sgd"]
    assert values["ghadimi_lan"] < 0.1 * values["sgd"]
    # Theorem 1's range is a mild perturbation of SGD.
    assert 0.5 < values["theorem1"] / values["sgd"] < 2


@pytest.mark.parametrize(
    ("sizes", "closed_form"),
    [
        (steps.ghadimi_lan(0.1), lambda k: 0.1 * (3 * k + 5) / 12),
        (steps.nesterov(0.1), lambda k: 0.1 * (k + 3) / 4),
        (steps.theorem1(0.1), lambda k: 0.1 * (1 + 2 / (k + 2))),
        (steps.sgd(0.1), lambda k: 0.1 + 0 * k),
        # PyTorch's Nesterov momentum: buffer (1 - m^k) / (1 - m), step G + m buffer.
        (steps.nesterov(0.1, 0.9), lambda k: 0.1 * (1 + 0.9 * (1 - 0.9**k) / 0.1)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_matched_steps_have_the_displacement_of_the_accelerated_run(
    sizes: steps.StepSizes, closed_form: Callable[[Any], Any]
) -> None:
    k = np.arange(1, 301)
    eta = steps.matched(sizes).beta(k)
    np.testing.assert_allclose(eta, closed_form(k), rtol=1e-12)
    assert (steps.matched(sizes).gamma(k) == eta).all()
    assert steps.matched(sizes).beta(300) == eta[-1]  # asked for the last first
    for schedule in (sizes, steps.matched(sizes)):
        y = torch.zeros(1, dtype=torch.float64)
        optimizer, places = AMGD([y], 1.0, schedule=schedule), [0.0]
        for _ in k:
            y.grad = torch.full((1,), -2.0, dtype=torch.float64)
            optimizer.step()
            places.append(y.item())
        np.testing.assert_allclose(np.diff(places), 2.0 * eta, rtol=1e-9)


# --- learning rate --------------------------------------------------------------------------------


@every_schedule
def test_changing_lr_scales_beta_and_gamma_of_its_step(name: str) -> None:
    options, schedule = SCHEDULES[name]
    p = start()
    opt = AMGD([p], LR, **options)
    scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=7, gamma=0.5)
    for k in range(1, 31):
        run(opt, p, range(k, k + 1))
        scheduler.step()
    expected = algorithm1(schedule, 30, lr=lambda k: LR * 0.5 ** ((k - 1) // 7))
    close(p, expected["y"])
    with opt.at("x_bar"):
        close(p, expected["x_bar"])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_lr_as_a_tensor(shape: tuple[int, ...]) -> None:
    p, q = start(), start()
    lr = torch.full(shape, LR, dtype=torch.float64)
    opt = AMGD([p], lr)
    run(opt, p, range(1, 10))
    run(AMGD([q], LR), q, range(1, 10))
    same(p, q)
    lr.fill_(0.0)  # read anew at each step
    before, e = p.detach().clone(), opt.state[p]["e"].clone()
    run(opt, p, range(10, 11))  # k = 10: the gradient does not enter, momentum goes on
    close(p, (before - 2 / 12 * (1 - 2 / 11) * e).numpy())
    assert not torch.equal(p, before)


def test_lr_zero_and_a_warm_up_from_it() -> None:
    p = start()
    opt = AMGD([p], LR)
    warm_up = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 10))
    run(opt, p, range(1, 2))
    same(p, start())
    warm_up.step()
    run(opt, p, range(2, 3))
    assert not torch.equal(p, start())


# --- complaints of users of other optimizers ------------------------------------------------------

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def reload(state: Any) -> Any:
    """Write to a file and read back, allowing plain data only."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@every_schedule
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_resumed_run_is_the_same_bit_for_bit(name: str, dtype: torch.dtype) -> None:
    """Complaints 1, 7, 12: also past step 256, where bfloat16 cannot count."""
    options, _ = SCHEDULES[name]
    p = start(dtype)
    opt = AMGD([p], LR, **options)
    run(opt, p, range(1, 302))
    saved = reload({"model": p.detach(), "optimizer": opt.state_dict()})
    run(opt, p, range(302, 330))

    q = saved["model"].clone().requires_grad_()
    fresh = AMGD([q], 123.0, **options)  # the saved lr prevails, as in torch
    fresh.load_state_dict(saved["optimizer"])
    assert fresh.state[q]["step"] == 301
    run(fresh, q, range(302, 330))
    same(p, q)
    assert fresh.param_groups[0]["lr"] == LR
    for sequence in ("x", "x_bar"):
        with opt.at(sequence), fresh.at(sequence):
            same(p, q)


def test_loading_shares_no_buffer() -> None:
    """Two runs from one live state dict do not disturb each other."""
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 5))
    saved = copy.deepcopy(opt.state_dict())
    q, r = (p.detach().clone().requires_grad_() for _ in range(2))
    second, third = AMGD([q], LR), AMGD([r], LR)
    second.load_state_dict(opt.state_dict())
    run(second, q, range(5, 9))
    third.load_state_dict(saved)
    run(third, r, range(5, 9))
    assert opt.state[p]["step"] == saved["state"][0]["step"] == 4
    same(opt.state[p]["e"], saved["state"][0]["e"])
    run(opt, p, range(5, 9))
    same(p, q)
    same(p, r)


def named(*names: str) -> list[tuple[str, Tensor]]:
    """Parameters whose values and shapes tell them apart."""
    values = {"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0, 7.0]}
    return [(n, torch.tensor(values[n], requires_grad=True)) for n in names]


def advance(opt: AMGD, params: list[tuple[str, Tensor]], n_steps: int = 3) -> None:
    for _ in range(n_steps):
        for _, p in params:
            p.grad = p.detach() ** 2
        opt.step()


def test_named_parameters_are_matched_by_name() -> None:
    """Complaint 2."""
    params = named("a", "b", "c")
    opt = AMGD(params, LR)
    advance(opt, params)
    saved = reload(opt.state_dict())
    permuted = named("c", "b", "a")
    with torch.no_grad():
        for name, p in permuted:
            p.copy_(dict(params)[name])
    fresh = AMGD(permuted, LR)
    fresh.load_state_dict(saved)
    assert fresh.param_groups[0]["param_names"] == ["c", "b", "a"]
    advance(opt, params)
    advance(fresh, permuted)
    for name, p in permuted:
        same(p, dict(params)[name])


def test_other_names_are_refused() -> None:
    opt = AMGD(named("a", "b"), LR)
    with pytest.raises(ValueError, match=r"missing \['c'\], unexpected \['b'\]"):
        AMGD(named("a", "c"), LR).load_state_dict(opt.state_dict())


def test_unnamed_parameters_of_another_shape_are_refused() -> None:
    """Complaint 7: the buffer must fit."""
    params = named("a", "c")
    opt = AMGD([p for _, p in params], LR)
    advance(opt, params)
    other = AMGD([p for _, p in named("c", "a")], LR)
    with pytest.raises(ValueError, match=r"e of parameter 0 has shape \(2,\).*has \(3,\)"):
        other.load_state_dict(opt.state_dict())
    assert not other.state


def test_other_numbers_of_groups_or_parameters_are_refused() -> None:
    saved = AMGD(named("a", "b"), LR).state_dict()
    with pytest.raises(ValueError, match="parameter group"):
        AMGD([p for _, p in named("a")], LR).load_state_dict(saved)
    with pytest.raises(ValueError, match="number of parameter groups"):
        AMGD([{"params": [p]} for _, p in named("a", "b")], LR).load_state_dict(saved)


@pytest.mark.parametrize(
    "other",
    [
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: torch.optim.Adam(p, 0.1),
    ],
)
def test_state_of_another_optimizer_is_refused(
    other: Callable[[list[Tensor]], torch.optim.Optimizer],
) -> None:
    p = start()
    opt = other([p])
    run(opt, p, range(1, 3))
    state = opt.state_dict()
    for group in state["param_groups"]:
        group.pop("momentum", None)
    with pytest.raises(ValueError, match="not one of AMGD"):
        AMGD([start()], 0.1).load_state_dict(state)


@pytest.mark.parametrize(
    "entry", [{"step": -3}, {"step": True}, {"step": 2, "e": [0.0]}, {"step": 2, "v": 0}, 3, None]
)
def test_a_state_that_no_optimizer_has_is_refused(entry: Any) -> None:
    opt = AMGD([start()], 0.1)
    state = opt.state_dict() | {"state": {0: entry}}
    if entry is None:  # as PyTorch leaves out a parameter without a state
        opt.load_state_dict(state)
    else:
        with pytest.raises(ValueError, match="not one of AMGD: parameter 0 has"):
            opt.load_state_dict(state)


@pytest.mark.parametrize(
    ("saved", "present"),
    [
        ({"schedule": "nesterov"}, {"schedule": "sgd"}),
        ({"schedule": "theorem1"}, {"schedule": "ghadimi_lan"}),
        ({"schedule": "nesterov"}, {"momentum": 0.9}),
        ({"schedule": random_schedule}, {"schedule": "nesterov"}),
        ({"schedule": "nesterov"}, {"schedule": random_schedule}),
        ({"schedule": STEPS}, {"schedule": random_schedule}),
        ({"schedule": steps.nesterov(0.1)}, {"schedule": steps.nesterov(0.2)}),
        ({"schedule": steps.nesterov(0.1)}, {"schedule": steps.nesterov(0.1, momentum=0.5)}),
        ({"schedule": lambda k: (1 / k, 1, 1)}, {"schedule": lambda k: (1 / k, 1, k)}),
        (
            {"schedule": STEPS},
            {"schedule": Steps(STEPS.alpha, STEPS.beta, STEPS.gamma, name="yours")},
        ),
    ],
)
def test_loading_into_another_schedule_is_refused(
    saved: dict[str, Any], present: dict[str, Any]
) -> None:
    state = AMGD([start()], LR, **saved).state_dict()
    opt = AMGD([start()], LR, **present)
    with pytest.raises(ValueError, match="was made with schedule="):
        opt.load_state_dict(state)


def test_loading_a_damaged_option_is_refused() -> None:
    state = AMGD([start()], LR).state_dict()
    state["param_groups"][0]["weight_decay"] = float("nan")
    with pytest.raises(ValueError, match=r"weight_decay must lie in \[0, inf\): got"):
        AMGD([start()], LR).load_state_dict(state)


def test_state_saved_before_an_option_existed_loads() -> None:
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 5))
    state = opt.state_dict()
    for option in ("maximize", "foreach", "weight_decay", "schedule"):
        del state["param_groups"][0][option]
    state["param_groups"][0]["momentum"] = None  # was there, until schedulers saw it
    q = p.detach().clone().requires_grad_()
    fresh = AMGD([q], LR)
    fresh.load_state_dict(state)
    run(opt, p, range(5, 9))
    run(fresh, q, range(5, 9))
    same(p, q)


def test_old_pickle_gets_missing_options() -> None:
    opt = AMGD([start()], LR)
    state: Any = opt.__getstate__()
    state["defaults"]["momentum"] = None
    for option in ("maximize", "foreach", "weight_decay", "schedule"):
        del state["param_groups"][0][option]
    old = AMGD.__new__(AMGD)
    old.__setstate__(state)
    assert "momentum" not in old.defaults
    run(old, old.param_groups[0]["params"][0], range(1, 3))


def test_hooks_of_the_user_see_the_state_dict() -> None:
    opt = AMGD([start()], LR, schedule=random_schedule)
    seen: list[Any] = []
    opt.register_state_dict_post_hook(lambda _, s: seen.append(s["param_groups"][0]["schedule"]))
    opt.state_dict()
    assert seen[0].startswith("callable from (1.0, ")  # plain data already
    # A load hook may rename: ours comes after it.
    params = named("a", "b")
    source = AMGD([("old." + n, p) for n, p in params], LR)
    target = AMGD(named("b", "a"), LR)

    def rename(_: Any, state: dict[str, Any]) -> dict[str, Any]:
        groups = [
            {**g, "param_names": [n.removeprefix("old.") for n in g["param_names"]]}
            for g in state["param_groups"]
        ]
        return {**state, "param_groups": groups}

    target.register_load_state_dict_pre_hook(rename)
    target.load_state_dict(source.state_dict())
    assert target.param_groups[0]["param_names"] == ["b", "a"]


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_of_parameters_is_refused(kind: type) -> None:
    """Complaint 3, for the constructor and for a group."""
    with pytest.raises(TypeError, match="ordered collections"):
        AMGD(kind([start()]), LR)
    opt = AMGD([start()], LR)
    with pytest.raises(TypeError, match="ordered collections"):
        opt.add_param_group({"params": kind([start()])})
    assert len(opt.param_groups) == 1


@pytest.mark.parametrize("outer", [torch.no_grad, torch.enable_grad])
def test_closure(outer: Callable[[], Any]) -> None:
    """Complaints 4, 5: called once, at y_k, with gradients on; its loss is returned."""
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 4))
    y = p.detach().clone()
    seen = []

    def closure() -> Tensor:
        assert torch.is_grad_enabled()
        seen.append(p.detach().clone())
        opt.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    with outer():
        before = torch.is_grad_enabled()
        loss = opt.step(closure)  # type: ignore[arg-type, call-overload]
        assert torch.is_grad_enabled() == before
    assert len(seen) == 1
    same(seen[0], y)
    assert float(loss.detach()) == float((y**2).sum())
    assert opt.step() is None

    # The gradient that entered is the one at y_4.
    q = start()
    other = AMGD([q], LR)
    run(other, q, range(1, 4))
    q.grad = 2 * q.detach()
    other.step()
    other.step()
    same(p, q)


@every_schedule
@pytest.mark.parametrize("sequence", ["y", "x", "x_bar"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_at_restores_y_bit_for_bit_though_the_body_raises(
    name: str, sequence: Any, dtype: torch.dtype
) -> None:
    """Complaint 6."""
    p, frozen = start(dtype), start(dtype)
    opt = AMGD([p, frozen], LR, **SCHEDULES[name][0])
    run(opt, p, range(1, 9))
    y = p.detach().clone()

    def spoil() -> None:
        with opt.at(sequence):
            with torch.no_grad():
                p.add_(float("nan"))
                frozen.zero_()
            raise KeyError

    with pytest.raises(KeyError):
        spoil()
    same(p, y)
    same(frozen, start(dtype))
    with opt.at("x_bar"):  # and the block can be entered again
        pass
    run(opt, p, range(9, 10))


def test_at_moves_and_y_does_not() -> None:
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 9))
    y = p.detach().clone()
    held = {}
    for sequence in ("y", "x", "x_bar"):
        with opt.at(sequence):
            held[sequence] = p.detach().clone()
    same(held["y"], y)
    assert len({tuple(v.tolist()) for v in held.values()}) == 3


@pytest.mark.parametrize("sequence", ["y", "x", "x_bar"])
def test_at_before_the_first_step_is_the_start(sequence: Any) -> None:
    p = start()
    opt = AMGD([p], LR)
    with opt.at(sequence):
        same(p, start())
    assert not opt.state


def test_at_refuses_steps_nesting_and_other_names() -> None:
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 3))
    y = p.detach().clone()
    with opt.at("x"):
        x = p.detach().clone()
        with pytest.raises(RuntimeError, match=r"step\(\) was called inside"):
            opt.step()
        with pytest.raises(RuntimeError, match="cannot be nested"), opt.at("x_bar"):
            pass
        same(p, x)
    same(p, y)
    assert opt.state[p]["step"] == 2
    with pytest.raises(ValueError, match="'y', 'x_bar' or 'x': got 'xbar'"), opt.at("xbar"):  # type: ignore[arg-type]
        pass


def test_at_leaves_the_parameters_alone_when_the_schedule_raises() -> None:
    table = [(1.0, 1.0, 2.0), (0.5, 1.0, 2.0)]
    p = start()
    opt = AMGD([p], LR, schedule=lambda k: table[k - 1])
    run(opt, p, range(1, 2))
    with opt.at("x_bar"):
        pass
    y = p.detach().clone()
    with pytest.raises(IndexError):  # step 2 needs alpha_3
        run(opt, p, range(2, 3))
    same(p, y)
    assert opt.state[p]["step"] == 1


SHAPES = [(), (1,), (0,), (7,), (3, 4), (0, 3), (2, 3, 4)]


@every_schedule
@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"weight_decay": 0.01}])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_foreach_and_loop_are_equal(name: str, options: dict[str, Any], dtype: torch.dtype) -> None:
    """Complaint 8. On a CPU they are equal bit for bit in every dtype, empty tensors included."""
    results = []
    for foreach in (False, True, None):
        generator = torch.Generator().manual_seed(1)
        params = [torch.randn(s, generator=generator).to(dtype).requires_grad_() for s in SHAPES]
        opt = AMGD(params, 0.01, foreach=foreach, **options, **SCHEDULES[name][0])
        for _ in range(20):
            for p in params:
                p.grad = torch.randn(p.shape, generator=generator).to(dtype)
            opt.step()
        results.append(params)
    for loop, multi, default in zip(*results, strict=True):
        assert bool(torch.isfinite(loop).all())
        same(loop, multi)
        same(loop, default)


def test_tensor_subclass_takes_the_loop() -> None:
    class Tagged(Tensor):
        pass

    p = torch.tensor(X0).as_subclass(Tagged).requires_grad_()
    q = start()
    opt = AMGD([p], LR)
    for k in range(1, 5):
        p.grad = gradient(p, k)
        opt.step()
    run(AMGD([q], LR), q, range(1, 5))
    np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-14)
    assert type(p) is Tagged


@pytest.mark.parametrize("name", ["nesterov", "momentum", "random"])
@every_path
def test_group_added_later_starts_at_1(name: str, foreach: bool | None) -> None:
    """Complaint 9; and each group keeps its own options."""
    options, schedule = SCHEDULES[name]
    p, q = start(), start()
    opt = AMGD([p], LR, foreach=foreach, **options)
    run(opt, p, range(1, 6))
    opt.add_param_group({"params": [q], "lr": 0.02, "schedule": "theorem1", "momentum": None})
    assert opt.param_groups[1]["maximize"] is False
    for k in range(6, 20):
        q.grad = gradient(q, k)
        run(opt, p, range(k, k + 1))
    assert (opt.state[p]["step"], opt.state[q]["step"]) == (19, 14)
    close(p, algorithm1(schedule, 19)["y"])
    late = algorithm1(
        SCHEDULES["theorem1"][1],
        14,
        lr=lambda k: 0.02,
        gradient=lambda k, y: H @ y + NOISE[k + 5],
    )
    close(q, late["y"])
    with opt.at("x_bar"):
        close(q, late["x_bar"])


@every_path
def test_late_unfrozen_parameter_starts_at_1(foreach: bool | None) -> None:
    """Complaint 10: it follows Algorithm 1 from its own first gradient, in the same group."""
    p, q = start(), start()
    opt = AMGD([p, q], LR, foreach=foreach)
    run(opt, p, range(1, 6))
    assert q not in opt.state
    same(q, start())
    for k in range(6, 20):
        q.grad = gradient(q, k)
        run(opt, p, range(k, k + 1))
    _, schedule = SCHEDULES["nesterov"]
    close(p, algorithm1(schedule, 19)["y"])
    close(q, algorithm1(schedule, 14, gradient=lambda k, y: H @ y + NOISE[k + 5])["y"])


@every_path
def test_skipped_parameter_keeps_its_place(foreach: bool | None) -> None:
    p, q = start(), start()
    opt = AMGD([p, q], LR, foreach=foreach)
    alone = AMGD([other := start()], LR)
    for k in range(1, 20):
        run(alone, other, range(k, k + 1))
        p.grad = gradient(p, k)
        opt.step()
        opt.zero_grad()
        opt.step()  # no gradient at all: nothing moves
        if k % 2:
            q.grad = torch.ones_like(q)
            opt.step()  # q alone
            opt.zero_grad()
    same(p, other)
    assert (opt.state[p]["step"], opt.state[q]["step"]) == (19, 10)


def test_all_gradients_none() -> None:
    p = start()
    opt = AMGD([p], LR)
    opt.step()
    assert not opt.state
    assert opt.state_dict()["state"] == {}
    same(p, start())


def test_zero_gradient_is_a_step() -> None:
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 3))
    y = p.detach().clone()
    opt.zero_grad(set_to_none=False)
    opt.step()
    assert opt.state[p]["step"] == 3
    assert not torch.equal(p, y)  # momentum goes on


@every_schedule
def test_resumed_schedule_goes_on_where_it_stopped(name: str) -> None:
    """Complaint 11: no step size is used twice or left out, at the start or on resume."""
    asked: list[int] = []
    schedule = SCHEDULES[name][1]

    def spy(k: int) -> tuple[float, float, float]:
        asked.append(k)
        return schedule(k)

    p = start()
    opt = AMGD([p], LR, schedule=spy)
    asked.clear()
    run(opt, p, range(1, 4))
    assert asked == [1, 2, 2, 3, 3, 4]  # step k takes its own values and alpha_{k+1}
    state = opt.state_dict()
    opt = AMGD([p], LR, schedule=spy)
    opt.load_state_dict(state)
    asked.clear()
    run(opt, p, range(4, 6))
    assert asked == [4, 5, 5, 6]
    close(p, algorithm1(schedule, 5)["y"])


# --- groups, dtypes, hooks, copies ----------------------------------------------------------------


@every_path
def test_mixed_dtypes_in_one_group(foreach: bool | None) -> None:
    params = [start(dtype) for dtype in DTYPES]
    opt = AMGD(params, LR, foreach=foreach)
    for _ in range(10):
        for p in params:
            p.grad = p.detach().clone()
        opt.step()
    for p, dtype in zip(params, DTYPES, strict=True):
        assert opt.state[p]["e"].dtype == dtype
        q = start(dtype)
        alone = AMGD([q], LR)
        for _ in range(10):
            q.grad = q.detach().clone()
            alone.step()
        same(p, q)


def test_groups_are_independent() -> None:
    options: list[dict[str, Any]] = [
        {"lr": 0.01, "schedule": "theorem1"},
        {"lr": 0.02, "maximize": True},
        {"weight_decay": 0.1, "momentum": 0.5, "schedule": "nesterov", "foreach": False},
    ]
    params = [start() for _ in options]
    groups = [{"params": [p], **o} for p, o in zip(params, options, strict=True)]
    opt = AMGD(groups, LR)
    for k in range(1, 10):
        for p in params:
            p.grad = gradient(p, k)
        opt.step()
    for p, o in zip(params, options, strict=True):
        q = start()
        run(AMGD([q], **{"lr": LR, **o}), q, range(1, 10))
        same(p, q)


def test_non_contiguous_parameter() -> None:
    base = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    p, q = base.t().detach().requires_grad_(), base.t().contiguous().requires_grad_()
    for w in (p, q):
        opt = AMGD([w], 0.1)
        for _ in range(5):
            w.grad = w.detach().clone()
            opt.step()
        with opt.at("x_bar"):
            pass
    same(p, q)
    assert not p.is_contiguous()


def test_deepcopy_and_pickle_go_on_alike() -> None:
    p = start()
    opt = AMGD([p], LR)
    run(opt, p, range(1, 5))
    copies = [copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))]
    run(opt, p, range(5, 9))
    for other in copies:
        q = other.param_groups[0]["params"][0]
        assert q is not p
        run(other, q, range(5, 9))
        same(p, q)
        other.add_param_group({"params": [start()]})


def test_step_hooks_and_zero_grad() -> None:
    p = start()
    opt = AMGD([p], LR)
    calls: list[str] = []
    opt.register_step_pre_hook(lambda *_: calls.append("pre"))
    handle = opt.register_step_post_hook(lambda *_: calls.append("post"))
    run(opt, p, range(1, 2))
    handle.remove()
    opt.step()
    assert calls == ["pre", "post", "pre"]
    opt.zero_grad()
    assert p.grad is None
    assert "AMGD" in repr(opt)
    assert "schedule: nesterov" in repr(opt)


def test_gradient_scaler_skips_the_step_on_overflow() -> None:
    p = torch.ones(3, requires_grad=True)
    opt = AMGD([p], LR)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale((p**2).sum()).backward()
    scaler.step(opt)
    scaler.update()
    expected = torch.ones(3, requires_grad=True)
    other = AMGD([expected], LR)
    expected.grad = 2 * torch.ones(3)
    other.step()
    same(p, expected)
    p.grad = torch.full((3,), float("inf"))
    scaler.scale(torch.zeros(1))
    scaler.step(opt)
    same(p, expected)
    assert opt.state[p]["step"] == 1


def test_trains_a_module() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.randn(64, 4)
    target = x[:, :1] - x[:, 1:2] ** 2
    opt = AMGD(model.named_parameters(), 0.05)
    losses = []
    for _ in range(300):
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        opt.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.05 * losses[0]


# --- what is refused ------------------------------------------------------------------------------

nan, inf = float("nan"), float("inf")
BAD_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"lr": -0.1}, ValueError, r"lr must lie in \[0, inf\): got -0.1"),
    ({"lr": nan}, ValueError, r"lr must lie in \[0, inf\): got"),
    ({"lr": inf}, ValueError, r"lr must lie in \[0, inf\): got"),
    ({"lr": True}, TypeError, "lr must be a real number in .*: got True"),
    ({"lr": "0.1"}, TypeError, "lr must be a real number in"),
    ({"lr": None}, TypeError, "lr must be a real number in"),
    ({"lr": torch.tensor([0.1, 0.2])}, ValueError, r"one element: got shape \(2,\)"),
    ({"lr": torch.tensor([])}, ValueError, "one element"),
    ({"lr": torch.tensor(nan)}, ValueError, r"lr must lie in \[0, inf\): got"),
    ({"lr": torch.tensor(-1.0)}, ValueError, r"lr must lie in \[0, inf\): got"),
    ({"lr": torch.tensor(True)}, TypeError, "lr must be a real number in"),
    ({"lr": torch.tensor(1j)}, TypeError, "lr must be a real number in"),
    ({"weight_decay": -1}, ValueError, r"weight_decay must lie in \[0, inf\): got"),
    ({"weight_decay": nan}, ValueError, r"weight_decay must lie in \[0, inf\): got"),
    ({"weight_decay": inf}, ValueError, r"weight_decay must lie in \[0, inf\): got"),
    ({"weight_decay": True}, TypeError, "weight_decay must be a real number in"),
    ({"weight_decay": None}, TypeError, "weight_decay must be a real number in"),
    ({"momentum": 1.0}, ValueError, r"momentum must lie in \[0, 1\): got 1.0"),
    ({"momentum": -0.1}, ValueError, r"momentum must lie in \[0, 1\): got"),
    ({"momentum": nan}, ValueError, r"momentum must lie in \[0, 1\): got"),
    ({"momentum": "0.9"}, TypeError, "momentum must be a real number in"),
    ({"momentum": 0.9, "schedule": "sgd"}, ValueError, "momentum belongs to 'nesterov': got 'sgd'"),
    (
        {"momentum": 0.9, "schedule": random_schedule},
        ValueError,
        "momentum belongs to .*random_sched",
    ),
    ({"momentum": 0.9, "schedule": STEPS}, ValueError, "momentum belongs to .*got Steps"),
    (
        {"schedule": "nestrov"},
        ValueError,
        "'sgd', 'theorem1', 'ghadimi_lan', 'nesterov': got 'nestrov'",
    ),
    ({"schedule": None}, TypeError, "'ghadimi_lan', 'nesterov', a callable"),
    ({"schedule": 3}, TypeError, "'ghadimi_lan', 'nesterov', a callable"),
    ({"schedule": lambda k: (2 / (k + 2), 1, 1)}, ValueError, "alpha_1 = 1.*got alpha_1 = 0.66"),
    ({"schedule": lambda k: (2 / k, 1, 1)}, ValueError, "0 <= alpha_k <= 1"),
    ({"schedule": lambda k: (1 / k, -1, 1)}, ValueError, "beta = -1.0"),
    ({"schedule": lambda k: (1 / k, 1, nan)}, ValueError, "gamma = nan.*at k = 1"),
    ({"schedule": lambda k: (1 / k, 1)}, TypeError, "three numbers"),
    ({"schedule": lambda k: 1 / k}, TypeError, "three numbers"),
    ({"schedule": lambda k: (1 / k, 1, "a")}, TypeError, "three numbers"),
    ({"schedule": steps.theorem2(1.0, 1.0)}, ValueError, "got step sizes 'theorem2'.*beta_k is a"),
    ({"schedule": steps.theorem3(0.1, 1.0)}, ValueError, "Algorithm 2 .mu = 0.1"),
    (
        {"schedule": Steps(STEPS.alpha, STEPS.beta, STEPS.gamma, mu=0.5)},
        ValueError,
        "mu = 0.5.*beta_k is a weight",
    ),
    ({"maximize": 1}, TypeError, "maximize must be True or False"),
    ({"maximize": None}, TypeError, "maximize must be True or False"),
    ({"foreach": "yes"}, TypeError, "foreach must be True or False: got 'yes'; or None"),
]


@pytest.mark.parametrize(("options", "error", "match"), BAD_OPTIONS)
def test_bad_option_is_refused(options: dict[str, Any], error: type[Exception], match: str) -> None:
    """By the constructor, by a group given to it, and by a group added later."""
    good = {"lr": LR}
    with pytest.raises(error, match=match):
        AMGD([start()], **{**good, **options})
    with pytest.raises(error, match=match):
        AMGD([{"params": [start()], **options}], **good)
    opt = AMGD([start()], **good)
    with pytest.raises(error, match=match):
        opt.add_param_group({"params": [start()], **options})
    assert len(opt.param_groups) == 1


def test_a_group_without_the_momentum_of_the_optimizer_is_refused() -> None:
    """The group would be Nesterov's method until a scheduler gives it constant momentum."""
    groups: list[dict[str, Any]] = [
        {"params": [start()], "momentum": None},
        {"params": [start()], "momentum": None, "schedule": "nesterov"},
    ]
    for group in groups:
        with pytest.raises(ValueError, match="a number in each group with schedule 'nesterov'"):
            AMGD([group], LR, momentum=0.9)
        opt = AMGD([start()], LR, momentum=0.9)
        with pytest.raises(ValueError, match="leave out the optimizer's, and give it to"):
            opt.add_param_group(group)
        assert len(opt.param_groups) == 1
    cured = AMGD([groups[0], {"params": [start()], "momentum": 0.9}], LR)
    assert [group.get("momentum") for group in cured.param_groups] == [None, 0.9]


def test_steps_of_algorithm_2_by_the_callable_of_the_message() -> None:
    """For mu = 0, Algorithm 2 with weights alpha and steps gamma is beta_k = alpha_k gamma_k."""
    sizes = steps.theorem2(1.0, 0.5)

    def schedule(k: int) -> tuple[float, float, float]:
        return sizes.alpha(k), sizes.alpha(k) * sizes.gamma(k), sizes.gamma(k)

    x, x_bar = X0.copy(), X0.copy()
    for k in range(1, 21):
        y = (1 - sizes.beta(k)) * x_bar + sizes.beta(k) * x
        x = x - sizes.gamma(k) * (H @ y + NOISE[k])
        x_bar = (1 - sizes.alpha(k)) * x_bar + sizes.alpha(k) * x
    p = start()
    opt = AMGD([p], 1.0, schedule=schedule)
    run(opt, p, range(1, 21))
    with opt.at("x_bar"):
        close(p, x_bar)
    with opt.at("x"):
        close(p, x)


@pytest.mark.parametrize("lr", [nan, inf, -1.0])
def test_lr_spoiled_between_steps_is_refused_and_nothing_moves(lr: float) -> None:
    p, q = start(), start()
    opt = AMGD([{"params": [p]}, {"params": [q]}], LR)
    opt.param_groups[1]["lr"] = lr
    p.grad, q.grad = torch.ones_like(p), torch.ones_like(q)
    with pytest.raises(ValueError, match=r"lr must lie in \[0, inf\): got"):
        opt.step()
    same(p, start())
    assert not opt.state


def test_schedule_that_goes_bad_names_its_k() -> None:
    p = start()
    opt = AMGD([p], LR, schedule=lambda k: (1 / k, 1.0, 1.0 if k < 4 else nan))
    with pytest.raises(ValueError, match="gamma = nan at k = 4"):
        run(opt, p, range(1, 9))


def test_sparse_gradient_is_refused_and_nothing_moves() -> None:
    p, q = start(), torch.ones(2, 2, requires_grad=True)
    p.grad = torch.ones_like(p)
    q.grad = torch.eye(2).to_sparse()
    opt = AMGD([p, q], LR)
    with pytest.raises(RuntimeError, match=r"group 0 has layout torch.sparse_coo.*sparse=False"):
        opt.step()
    same(p, start())
    assert not opt.state
    q.grad = q.grad.to_dense()  # the cure that the message names
    opt.step()


def test_sparse_embedding_is_refused_and_a_dense_one_works() -> None:
    for sparse in (True, False):
        embedding = torch.nn.Embedding(4, 2, sparse=sparse)
        opt = AMGD(embedding.parameters(), LR)
        embedding(torch.tensor([1])).sum().backward()
        if sparse:
            with pytest.raises(RuntimeError, match="dense gradients"):
                opt.step()
        else:
            opt.step()


@pytest.mark.parametrize(
    ("param", "match"),
    [
        (lambda: torch.zeros(2, dtype=torch.complex64), "real parameters.*view_as_complex"),
        (lambda: torch.zeros(2, dtype=torch.complex128), "real parameters"),
        (lambda: torch.zeros(2, dtype=torch.int64), "floating-point parameters"),
        (lambda: torch.zeros(2, dtype=torch.bool), "floating-point parameters"),
        (lambda: torch.eye(2).to_sparse(), "dense parameters"),
    ],
)
def test_parameter_of_a_wrong_kind_is_refused(param: Callable[[], Tensor], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        AMGD([start(), param()], LR)
    with pytest.raises(TypeError, match=match):
        AMGD([("a", start()), ("b", param())], LR)
    opt = AMGD([start()], LR)
    with pytest.raises(TypeError, match=match):
        opt.add_param_group({"params": param()})
    assert len(opt.param_groups) == 1


def test_complex_cure_works() -> None:
    real = torch.tensor([[1.0, 2.0]], requires_grad=True)
    opt = AMGD([real], 0.1)
    (torch.view_as_complex(real).abs() ** 2).sum().backward()
    opt.step()
    assert float(real.detach().norm()) < 5**0.5


def test_parameters_that_torch_refuses() -> None:
    p = start()
    with pytest.raises(TypeError, match="iterable of Tensors"):
        AMGD(p, LR)
    with pytest.raises(ValueError, match="empty parameter list"):
        AMGD([], LR)
    with pytest.raises(ValueError, match="non-leaf"):
        AMGD([p * 2], LR)
    with pytest.raises(TypeError, match="only optimize Tensors"):
        AMGD([p, 3.0], LR)
    with pytest.raises(ValueError, match="each parameter must be given once"):
        AMGD([p, p], LR)
    with pytest.raises(ValueError, match="more than one parameter group"):
        AMGD([{"params": [p]}, {"params": [p]}], LR)
    with pytest.raises(TypeError, match="must be a dict"):
        AMGD([p], LR).add_param_group([p])  # type: ignore[arg-type]


def test_parameters_from_a_generator() -> None:
    params = [start(), start()]
    opt = AMGD((p for p in params), LR)
    opt.add_param_group({"params": (p for p in [start()])})
    assert [len(group["params"]) for group in opt.param_groups] == [2, 1]


@pytest.mark.parametrize("one_tenth", [0.1, np.float64(0.1), np.array(0.1), Fraction(1, 10)])
def test_numbers_of_other_libraries_are_kept_as_floats(one_tenth: Any) -> None:
    p = start()
    group = {"params": [p], "lr": one_tenth, "momentum": one_tenth, "weight_decay": one_tenth}
    for opt in (
        AMGD([p], one_tenth, momentum=one_tenth, weight_decay=one_tenth),
        AMGD([group], 1.0),
    ):
        options = reload(opt.state_dict())["param_groups"][0]
        for name in ("lr", "momentum", "weight_decay"):
            assert type(options[name]) is float
            assert options[name] == 0.1


def test_a_module_in_place_of_its_parameters_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got the module Linear; pass module\.parameters\(\)"):
        AMGD(torch.nn.Linear(2, 1), 0.1)
