"""Every optimizer through the contract."""

from __future__ import annotations

from pathlib import Path

import contract
import pytest
import torch
from contract import CYCLE_MOMENTUM, OPTIMIZERS, SCHEDULERS, WAYS
from torch.optim import lr_scheduler, swa_utils

AMGDS = [name for name in OPTIMIZERS if name.startswith("amgd")]
SCHEDULED = ["amgd nesterov", "amgd ghadimi_lan", "amgd momentum", "sgd momentum", "adam"]


def test_the_table_has_every_scheduler_of_pytorch() -> None:
    assert set(lr_scheduler.__all__) - {"LRScheduler"} <= set(SCHEDULERS)


@pytest.mark.parametrize("check", [contract.check_goes_on, contract.check_group_after_a_load])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_stopped_run_goes_on(
    name: str, way: str, check: contract.Callable[..., None], tmp_path: Path
) -> None:
    if (name, way) == ("amgd matched", "by_pickle"):
        with pytest.raises(AttributeError, match="pickle local object"):  # its rules are closures
            check(OPTIMIZERS[name], way, tmp_path)
        return
    check(OPTIMIZERS[name], way, tmp_path)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("name", SCHEDULED)
def test_with_every_scheduler(name: str, scheduler: str, tmp_path: Path) -> None:
    make = OPTIMIZERS[name]
    if scheduler in CYCLE_MOMENTUM:
        contract.check_momentum_is_cycled_or_refused(make, scheduler)
        if not {"momentum", "betas"} & set(contract.Run.start(make).optimizer.defaults):
            return
    contract.check_goes_on(make, "by_file", tmp_path, scheduler)


@pytest.mark.parametrize("scheduler", CYCLE_MOMENTUM)
@pytest.mark.parametrize("name", ["amgd momentum", "adam"])
@pytest.mark.parametrize("way", WAYS)
def test_in_the_middle_of_a_cycle(name: str, scheduler: str, way: str, tmp_path: Path) -> None:
    contract.check_goes_on(OPTIMIZERS[name], way, tmp_path, scheduler)


@pytest.mark.parametrize("scheduler", CYCLE_MOMENTUM)
@pytest.mark.parametrize("name", AMGDS)
def test_no_scheduler_changes_the_method(name: str, scheduler: str) -> None:
    contract.check_momentum_is_cycled_or_refused(OPTIMIZERS[name], scheduler)


AVERAGES = {
    "mean": dict,
    "ema": lambda: {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)},
}


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", ["amgd nesterov", "amgd momentum", "adam"])
def test_averages(name: str, average: str) -> None:
    contract.check_averages(OPTIMIZERS[name], AVERAGES[average])


@pytest.mark.parametrize(
    "check",
    [
        contract.check_scaler,
        contract.check_hooks,
        contract.check_late_group,
        contract.check_functional_call,
        contract.check_template_has_every_entry,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_users_do(name: str, check: contract.Callable[..., None]) -> None:
    check(OPTIMIZERS[name])


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # the compiler's own
@pytest.mark.parametrize("whole_step", [False, True])
@pytest.mark.parametrize("name", ["amgd nesterov", "amgd momentum", "sgd"])
def test_compile(name: str, whole_step: bool) -> None:
    graphs = contract.check_compile(OPTIMIZERS[name], whole_step)
    if "amgd" in name:  # as the class says
        assert graphs == int(whole_step)
        step = contract.Run.start(OPTIMIZERS[name]).optimizer.step
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(step, backend="eager", fullgraph=True)()


@pytest.mark.parametrize("way", ["by_file", "by_copy", "by_pickle"])
@pytest.mark.parametrize("sequence", ["x_bar", "x", "y"])
def test_copies_inside_at(sequence: str, way: str) -> None:
    contract.check_away(OPTIMIZERS["amgd nesterov"], sequence, way)


@pytest.mark.parametrize("name", sorted(set(AMGDS) - {"amgd sgd", "amgd matched"}))  # without e
def test_a_state_without_an_entry(name: str) -> None:
    contract.check_lost_entry(OPTIMIZERS[name])


@pytest.mark.parametrize("name", ["amgd nesterov", "amgd theorem1"])
def test_buffers(name: str) -> None:
    contract.check_buffers(OPTIMIZERS[name])
