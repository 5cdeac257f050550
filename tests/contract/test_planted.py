"""The contract is red for faults that were once there, each planted again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import contract
import pytest
import torch

from amgd import optim


def momentum_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every optimizer has a momentum for schedulers to set."""

    class Planted(optim.AMGD):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.defaults.setdefault("momentum", None)

    monkeypatch.setattr(contract, "AMGD", Planted)


def momentum_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state with another momentum is another method."""
    plain = optim._method
    monkeypatch.setattr(optim, "_method", lambda group: f"{plain(group)}{group.get('momentum')}")


def no_entry_at_lr_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """e is made when something is put into it, and a state without it is loaded."""

    class Planted(optim.AMGD):
        @staticmethod
        def _coefficients(group: dict[str, Any], k: int) -> optim._Coefficients:
            coefficients = optim.AMGD._coefficients(group, k)
            return coefficients._replace(needs_e=coefficients.push != 0)

    monkeypatch.setattr(contract, "AMGD", Planted)
    monkeypatch.setattr(optim, "_pushes", lambda rule, k: False)


def defaults_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded state, which has no defaults, takes the optimizer's schedule away."""
    plain, lost = optim.AMGD.__setstate__, {"defaults": {"lr": contract.LR}}
    monkeypatch.setattr(optim.AMGD, "__setstate__", lambda self, state: plain(self, lost | state))


def copies_inside_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is made inside `at` holds the parameters of the block."""
    monkeypatch.setattr(optim.AMGD, "_refuse_away", lambda self, what: None)


def compiled_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step is compiled, with k as a constant."""
    monkeypatch.setattr(optim.AMGD, "step", torch.no_grad()(inspect.unwrap(optim.AMGD.step)))


def red(plant: Callable[..., None], options: dict[str, Any], check: str, *args: Any) -> Any:
    return pytest.param(plant, options, check, args, id=f"{plant.__name__}-{check}-{args}")


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:Dynamo detected")
@pytest.mark.parametrize(
    ("plant", "options", "check", "args"),
    [
        red(momentum_by_default, {}, "check_momentum_is_cycled_or_refused", "OneCycleLR"),
        red(momentum_by_default, {}, "check_momentum_is_cycled_or_refused", "CyclicLR"),
        red(momentum_must_agree, {"momentum": 0.9}, "check_goes_on", "by_file", "OneCycleLR"),
        red(momentum_must_agree, {"momentum": 0.9}, "check_goes_on", "by_state_dict", "CyclicLR"),
        red(no_entry_at_lr_0, {}, "check_goes_on", "by_state_dict"),
        red(no_entry_at_lr_0, {}, "check_goes_on", "by_distributed_checkpoint"),
        red(no_entry_at_lr_0, {}, "check_template_has_every_entry"),
        red(no_entry_at_lr_0, {}, "check_lost_entry"),
        red(defaults_of_the_state, {"schedule": "sgd"}, "check_group_after_a_load", "by_file"),
        red(copies_inside_at, {}, "check_away", "x_bar", "by_file"),
        red(copies_inside_at, {}, "check_away", "x", "by_copy"),
        red(copies_inside_at, {}, "check_away", "x_bar", "by_pickle"),
        red(compiled_step, {}, "check_compile", False),
    ],
)
def test_a_planted_fault_is_seen(
    plant: Callable[[pytest.MonkeyPatch], None],
    options: dict[str, Any],
    check: str,
    args: tuple[Any, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def run(folder: str) -> None:
        stops = check in ("check_goes_on", "check_group_after_a_load")
        where = (tmp_path / folder,) if stops else ()
        make = partial(contract.AMGD, lr=contract.LR, **options)
        getattr(contract, check)(make, *args[:1], *where, *args[1:])

    run("sound")
    plant(monkeypatch)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        run("planted")
