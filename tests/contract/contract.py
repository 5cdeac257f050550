"""What users do with an optimizer, each beside an unbroken run, bit for bit.

A check takes ``make(params) -> optimizer`` and asserts; it knows no optimizer. `OPTIMIZERS` are
those it is called with, and `SCHEDULERS` every scheduler of PyTorch.
"""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.func import functional_call
from torch.optim import Optimizer, lr_scheduler, swa_utils

from amgd.descent import steps
from amgd.optim import AMGD

LR = 0.05
SAVED, END = 7, 20  # updates before the break, and in all: in the middle of every cycle below

Make = Callable[[Iterable[Any]], Optimizer]


def decaying(k: int) -> tuple[float, float, float]:
    return 2 / (k + 1), 1.0, 1.0 + 1 / k


OPTIMIZERS: dict[str, Make] = {
    **{f"amgd {name}": partial(AMGD, lr=LR, schedule=name) for name in steps.SCHEDULES},
    "amgd momentum": partial(AMGD, lr=LR, momentum=0.9),
    "amgd callable": partial(AMGD, lr=LR, schedule=decaying),
    "amgd matched": partial(AMGD, lr=LR, schedule=steps.matched(steps.nesterov(1.0))),
    "amgd decay": partial(AMGD, lr=LR, weight_decay=0.1, foreach=False),
    "sgd": partial(torch.optim.SGD, lr=LR),
    "sgd momentum": partial(torch.optim.SGD, lr=LR, momentum=0.9, nesterov=True),
    "adam": partial(torch.optim.Adam, lr=LR),
}

TWO_PROCESSES = ("amgd nesterov", "amgd momentum", "amgd theorem1", "sgd momentum", "adam")

SCHEDULERS: dict[str, Callable[[Optimizer], Any]] = {
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda k: 1 / (1 + k)),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda k: 0.9),
    "StepLR": lambda o: lr_scheduler.StepLR(o, 3),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 9]),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, 0.5, 9),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o, 0.1, total_iters=9),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1), lr_scheduler.ExponentialLR(o, 0.9)], [9]
    ),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 12),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.5, 9), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=4),
    "CyclicLR of lr": lambda o: lr_scheduler.CyclicLR(
        o, 0.01, 0.1, step_size_up=4, cycle_momentum=False
    ),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 5),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=END),
    "OneCycleLR of lr": lambda o: lr_scheduler.OneCycleLR(
        o, 0.1, total_steps=END, cycle_momentum=False
    ),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 15),
    "SWALR": lambda o: swa_utils.SWALR(o, 0.01, 9),
}
CYCLE_MOMENTUM = ("CyclicLR", "OneCycleLR")


# --- a run ----------------------------------------------------------------------------------------


def model() -> nn.Module:
    """Return a small network with the same start each time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))


def loss(net: Callable[[Tensor], Tensor], k: int) -> Tensor:
    data = torch.randn(8, 3, generator=torch.Generator().manual_seed(k))
    return ((net(data) - data[:, :2]) ** 2).mean()


@dataclass
class Run:
    """A network in training."""

    net: nn.Module
    optimizer: Optimizer
    scheduler: Any = None

    @classmethod
    def start(cls, make: Make, schedule: Callable[[Optimizer], Any] | None = None) -> Run:
        net = model()
        optimizer = make(net.parameters())
        return cls(net, optimizer, schedule and schedule(optimizer))

    def go(self, first: int, last: int) -> Run:
        """Do the updates from `first` to `last`."""
        for k in range(first, last + 1):
            self.optimizer.zero_grad()
            value = loss(self.net, k)
            value.backward()
            self.optimizer.step()
            self.schedule(value)
        return self

    def schedule(self, value: Tensor) -> None:
        if isinstance(self.scheduler, lr_scheduler.ReduceLROnPlateau):
            self.scheduler.step(value.item())
        elif self.scheduler is not None:
            self.scheduler.step()


def same(a: nn.Module, b: nn.Module) -> None:
    """Assert that parameters and buffers are equal, bit for bit."""
    for (name, x), y in zip(a.state_dict().items(), b.state_dict().values(), strict=True):
        assert torch.equal(x, y), f"{name} differs by up to {(x - y).abs().max():.3g}"


# --- ways to stop and go on -----------------------------------------------------------------------


def by_file(run: Run, fresh: Run, folder: Path) -> Run:
    """torch.save and torch.load, as the tutorials of PyTorch do it."""
    parts = ("net", "optimizer", "scheduler")
    stream = io.BytesIO()
    torch.save(
        {name: getattr(run, name) and getattr(run, name).state_dict() for name in parts}, stream
    )
    stream.seek(0)
    loaded = torch.load(stream, weights_only=True)
    for name in parts:
        if getattr(run, name):
            getattr(fresh, name).load_state_dict(loaded[name])
    return fresh


def by_copy(run: Run, fresh: Run, folder: Path) -> Run:
    return copy.deepcopy(run)


def by_pickle(run: Run, fresh: Run, folder: Path) -> Run:
    parts = pickle.loads(pickle.dumps((run.net, run.optimizer)))
    if run.scheduler:
        fresh.scheduler.optimizer = parts[1]
        fresh.scheduler.load_state_dict(run.scheduler.state_dict())
    return Run(*parts, fresh.scheduler)


def by_state_dict(run: Run, fresh: Run, folder: Path) -> Run:
    """get_state_dict and set_state_dict, which make a template by a step with lr = 0."""
    states = copy.deepcopy(get_state_dict(run.net, run.optimizer))
    template = get_state_dict(fresh.net, fresh.optimizer)
    assert {k: list(v) for k, v in template[1]["state"].items()} == {
        k: list(v) for k, v in states[1]["state"].items()
    }, "the template has other entries than the state"
    set_state_dict(
        fresh.net, fresh.optimizer, model_state_dict=states[0], optim_state_dict=states[1]
    )
    if run.scheduler:
        fresh.scheduler.load_state_dict(run.scheduler.state_dict())
    return fresh


def by_distributed_checkpoint(run: Run, fresh: Run, folder: Path) -> Run:
    """Save and load a folder by torch.distributed.checkpoint, here in one process."""
    net, optimizer = get_state_dict(run.net, run.optimizer)
    with pytest.warns(UserWarning, match="assuming the intent is to save in a single process"):
        checkpoint.save({"net": net, "optimizer": optimizer}, checkpoint_id=folder)
    net, optimizer = get_state_dict(fresh.net, fresh.optimizer)
    with pytest.warns(UserWarning, match="assuming the intent is to load in a single process"):
        checkpoint.load({"net": net, "optimizer": optimizer}, checkpoint_id=folder)
    set_state_dict(fresh.net, fresh.optimizer, model_state_dict=net, optim_state_dict=optimizer)
    if run.scheduler:
        fresh.scheduler.load_state_dict(run.scheduler.state_dict())
    return fresh


WAYS = {
    f.__name__: f for f in (by_file, by_copy, by_pickle, by_state_dict, by_distributed_checkpoint)
}


# --- checks ---------------------------------------------------------------------------------------


def check_goes_on(make: Make, way: str, folder: Path, scheduler: str | None = None) -> None:
    """A run that stopped and went on is the unbroken one."""
    schedule = SCHEDULERS[scheduler] if scheduler else None
    whole = Run.start(make, schedule).go(1, END)
    stopped = Run.start(make, schedule).go(1, SAVED)
    went_on = WAYS[way](stopped, Run.start(make, schedule), folder).go(SAVED + 1, END)
    same(whole.net, went_on.net)


def check_momentum_is_cycled_or_refused(make: Make, scheduler: str) -> None:
    """A scheduler of momentum changes a momentum that was asked for, or PyTorch refuses it."""
    run = Run.start(make)
    asked = {"momentum", "betas"} & set(run.optimizer.defaults)
    if asked:
        before = copy.deepcopy(run.optimizer.param_groups[0])
        run.scheduler = SCHEDULERS[scheduler](run.optimizer)
        run.go(1, SAVED)
        assert all(before.get(name) is not None for name in asked), "none was asked for"
        assert any(run.optimizer.param_groups[0][name] != before[name] for name in asked)
        return
    with pytest.raises(ValueError, match="optimizer must support momentum"):
        SCHEDULERS[scheduler](run.optimizer)


def check_template_has_every_entry(make: Make) -> None:
    """A step with lr = 0 moves nothing and makes every entry that later steps use."""
    run, later = Run.start(make), Run.start(make).go(1, END)
    before = copy.deepcopy(run.net)
    for p in run.net.parameters():
        p.grad = torch.zeros_like(p)
    for group in run.optimizer.param_groups:
        group["lr"] = 0.0
    run.optimizer.step()
    same(run.net, before)
    for p, q in zip(run.net.parameters(), later.net.parameters(), strict=True):
        assert set(run.optimizer.state[p]) == set(later.optimizer.state[q])


def check_averages(make: Make, average: Callable[..., Any]) -> None:
    """SWA and EMA go on with a loaded run."""

    def averaged(run: Run, mean: Any, first: int, last: int) -> None:
        for k in range(first, last + 1):
            run.go(k, k)
            mean.update_parameters(run.net)

    def fresh() -> tuple[Run, Any]:
        run = Run.start(make)
        return run, swa_utils.AveragedModel(run.net, **average())

    whole, whole_mean = fresh()
    averaged(whole, whole_mean, 1, END)
    stopped, stopped_mean = fresh()
    averaged(stopped, stopped_mean, 1, SAVED)
    went_on, mean = fresh()
    by_file(stopped, went_on, Path())
    mean.load_state_dict(stopped_mean.state_dict())
    averaged(went_on, mean, SAVED + 1, END)
    same(whole_mean, mean)
    same(whole.net, went_on.net)


def check_scaler(make: Make) -> None:
    """GradScaler leaves out a step that overflows; its scales are powers of 2 and change no bit."""
    plain, scaled = Run.start(make), Run.start(make)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=4)
    for k in range(1, END + 1):
        overflow = k in (3, 11)
        scaled.optimizer.zero_grad()
        value = loss(scaled.net, k)
        scaler.scale(value * float("inf") if overflow else value).backward()
        scaler.step(scaled.optimizer)
        scaler.update()
        if overflow:
            loss(plain.net, k)  # the averages of BatchNorm
        else:
            plain.go(k, k)
    same(plain.net, scaled.net)


def check_hooks(make: Make) -> None:
    """Hooks around a step see it once; an optimizer stepped by hooks of backward is the same."""
    whole, hooked = Run.start(make).go(1, END), Run.start(make)
    seen: list[str] = []
    hooked.optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    hooked.optimizer.register_step_post_hook(lambda *_: seen.append("after"))
    hooked.go(1, END)
    assert seen == ["before", "after"] * END
    same(whole.net, hooked.net)

    net = model()
    for p in net.parameters():
        own = make([p])

        def step(_: Tensor, own: Optimizer = own) -> None:
            own.step()
            own.zero_grad()

        p.register_post_accumulate_grad_hook(step)
    for k in range(1, END + 1):
        loss(net, k).backward()
    same(whole.net, net)


def go_late(run: Run, late: Tensor, first: int, last: int) -> None:
    """Do updates of a network and of a parameter that came late."""
    for k in range(first, last + 1):
        run.optimizer.zero_grad()
        loss(run.net, k).backward()
        late.grad = late.detach() * torch.arange(1.0, 4.0)
        run.optimizer.step()


def check_late_group(make: Make) -> None:
    """A group that came late goes on from a file; the parameters of the first do not notice it."""

    def fresh(alone: int) -> tuple[Run, Tensor]:
        run, late = Run.start(make).go(1, alone), torch.ones(3, requires_grad=True)
        run.optimizer.add_param_group({"params": [late], "lr": LR / 2})
        return run, late

    whole, stopped, went_on = fresh(3), fresh(3), fresh(0)
    go_late(*whole, 4, END)
    go_late(*stopped, 4, SAVED)
    by_file(stopped[0], went_on[0], Path())
    went_on[1].data.copy_(stopped[1].data)
    go_late(*went_on, SAVED + 1, END)
    same(whole[0].net, went_on[0].net)
    assert torch.equal(whole[1], went_on[1])
    same(whole[0].net, Run.start(make).go(1, END).net)


def check_group_after_a_load(make: Make, way: str, folder: Path) -> None:
    """A group that is added after a break has the options of the optimizer all the same."""

    def add(run: Run) -> Tensor:
        late = torch.ones(3, requires_grad=True)
        run.optimizer.add_param_group({"params": [late]})
        go_late(run, late, SAVED + 1, END)
        return late

    whole, stopped = Run.start(make).go(1, SAVED), Run.start(make).go(1, SAVED)
    went_on = WAYS[way](stopped, Run.start(make), folder)
    assert torch.equal(add(whole), add(went_on))
    same(whole.net, went_on.net)


def check_functional_call(make: Make) -> None:
    """Gradients that come through functional_call are gradients."""
    whole, run = Run.start(make).go(1, END), Run.start(make)
    named = {**dict(run.net.named_parameters()), **dict(run.net.named_buffers())}
    for k in range(1, END + 1):
        run.optimizer.zero_grad()
        loss(lambda data: functional_call(run.net, named, (data,)), k).backward()
        run.optimizer.step()
    same(whole.net, run.net)


def check_compile(make: Make, whole_step: bool) -> int:
    """Compiled, a step gives the same bits and is not compiled anew after the first two.

    Return how many graphs the compiler made.
    """
    from torch._dynamo import reset, utils

    eager, run = Run.start(make), Run.start(make)
    run.net.train(False)
    eager.net.train(False)

    def update(data: Tensor) -> None:
        run.optimizer.zero_grad()
        ((run.net(data) - data[:, :2]) ** 2).mean().backward()
        run.optimizer.step()

    reset()
    before = utils.counters["stats"]["unique_graphs"]
    compiled = torch.compile(update if whole_step else run.optimizer.step, backend="eager")
    graphs = []
    for k in range(1, END + 1):
        data = torch.randn(8, 3, generator=torch.Generator().manual_seed(k))
        if whole_step:
            compiled(data)
        else:
            run.optimizer.zero_grad()
            loss(run.net, k).backward()
            compiled()
        eager.go(k, k)
        graphs.append(utils.counters["stats"]["unique_graphs"] - before)
    reset()
    same(eager.net, run.net)
    assert graphs[2] == graphs[-1], f"graphs after each step: {graphs}"
    return int(graphs[-1])


# --- of AMGD alone --------------------------------------------------------------------------------


def check_away(make: Make, sequence: str, way: str) -> None:
    """A copy that is made inside `at` goes on from y, or is refused."""
    whole, stopped = Run.start(make).go(1, END), Run.start(make).go(1, SAVED)
    went_on = None
    optimizer: Any = stopped.optimizer
    with contextlib.suppress(RuntimeError), optimizer.at(sequence):
        went_on = WAYS[way](stopped, Run.start(make), Path())
    if went_on is not None:
        same(whole.net, went_on.go(SAVED + 1, END).net)
    same(whole.net, stopped.go(SAVED + 1, END).net)


def check_lost_entry(make: Make) -> None:
    """A state that lost an entry is refused, and nothing has changed."""
    stopped = Run.start(make).go(1, SAVED)
    fresh = Run.start(make).go(1, 2)
    before = copy.deepcopy(fresh)
    state = stopped.optimizer.state_dict()
    del state["state"][0]["e"]
    with pytest.raises(ValueError, match="has no e of parameter 0, which took 7 steps"):
        fresh.optimizer.load_state_dict(state)
    same(before.go(3, END).net, fresh.go(3, END).net)


def check_buffers(make: Make) -> None:
    """The lines of the documentation keep the averages of BatchNorm over a block of `at`."""
    whole, run = Run.start(make).go(1, END), Run.start(make)
    optimizer: Any = run.optimizer
    for k in range(1, END + 1):
        run.go(k, k)
        kept = copy.deepcopy(dict(run.net.named_buffers()))
        with optimizer.at("x_bar"):
            loss(run.net, k + 1)
            changed = dict(run.net.named_buffers())
            assert not all(torch.equal(kept[name], changed[name]) for name in kept)
        run.net.load_state_dict(kept, strict=False)
    same(whole.net, run.net)
