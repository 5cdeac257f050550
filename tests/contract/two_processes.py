"""The contract on two processes: DDP with ZeRO, and FSDP2, each beside one process.

Run as ``python two_processes.py FOLDER``: prints a line of JSON, {case: largest difference}. Both
see the same data, so the mean of their gradients is the gradient, to the bit.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contract
import torch
from contract import END, OPTIMIZERS, SAVED, TWO_PROCESSES, loss
from torch import distributed as dist
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard
from torch.optim import Optimizer, lr_scheduler


def network() -> nn.Module:
    """Return the network of the contract without BatchNorm, which FSDP2 computes otherwise."""
    layers = [layer for layer in contract.model() if not isinstance(layer, nn.BatchNorm1d)]
    return nn.Sequential(*layers)


def go(net: nn.Module, optimizer: Optimizer, scheduler: Any, first: int, last: int) -> None:
    for k in range(first, last + 1):
        optimizer.zero_grad()
        loss(net, k).backward()
        optimizer.step()
        scheduler.step()


def cycle(optimizer: Optimizer) -> lr_scheduler.LRScheduler:
    asked = "momentum" in optimizer.defaults  # ZeRO knows the options that it was given
    return lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=END, cycle_momentum=asked)


def alone(make: Callable[..., Optimizer]) -> dict[str, torch.Tensor]:
    net = network()
    optimizer = make(net.parameters())
    go(net, optimizer, cycle(optimizer), 1, END)
    return net.state_dict()


def zero(make: Any, folder: Path) -> dict[str, torch.Tensor]:
    """DDP and ZeRO, saved on the first process and loaded on both."""
    from torch.distributed.optim import ZeroRedundancyOptimizer  # warns when imported

    def fresh() -> tuple[nn.Module, Any, Any]:
        net = nn.parallel.DistributedDataParallel(network())
        optimizer = ZeroRedundancyOptimizer(net.parameters(), make.func, **make.keywords)
        return net, optimizer, cycle(optimizer)

    stopped = fresh()
    go(*stopped, 1, SAVED)
    stopped[1].consolidate_state_dict()
    states: list[Any] = [None]
    if dist.get_rank() == 0:
        states = [[part.state_dict() for part in stopped]]
    dist.broadcast_object_list(states)
    went_on = fresh()
    for part, state in zip(went_on, states[0], strict=True):
        part.load_state_dict(state)
    go(*went_on, SAVED + 1, END)
    return went_on[0].module.state_dict()


def fsdp(make: Any, folder: Path) -> dict[str, torch.Tensor]:
    """FSDP2, saved and loaded by torch.distributed.checkpoint."""

    def fresh() -> tuple[nn.Module, Optimizer, Any]:
        net = network()
        for layer in net:
            if list(layer.parameters()):
                fully_shard(layer)
        fully_shard(net)
        optimizer = make(net.parameters())
        return net, optimizer, cycle(optimizer)

    stopped = fresh()
    go(*stopped, 1, SAVED)
    net, optimizer = get_state_dict(*stopped[:2])
    checkpoint.save({"net": net, "optimizer": optimizer}, checkpoint_id=folder)
    went_on = fresh()
    net, optimizer = get_state_dict(*went_on[:2])
    checkpoint.load({"net": net, "optimizer": optimizer}, checkpoint_id=folder)
    set_state_dict(*went_on[:2], model_state_dict=net, optim_state_dict=optimizer)
    went_on[2].load_state_dict(stopped[2].state_dict())
    go(*went_on, SAVED + 1, END)
    return {name: p.full_tensor() for name, p in went_on[0].state_dict().items()}


KINDS = {"zero": zero, "fsdp": fsdp}


def process(rank: int, folder: Path) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    results = {}
    for name in TWO_PROCESSES:
        whole = alone(OPTIMIZERS[name])
        for kind, run in KINDS.items():
            got = run(OPTIMIZERS[name], folder / f"{name} {kind}")
            off = max(float((got[key] - whole[key]).abs().max()) for key in whole)
            results[f"{kind} {name}"] = off
    if rank == 0:
        print(json.dumps(results))
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(process, (Path(sys.argv[1]),), nprocs=2)
