"""Keep the trained policies of recorded runs, as plain arrays beside their record.

    python tools/keep_policies.py figure3-swimmer-L --variants plain,ghadimi_lan

A record holds curves and no policies. This trains a run again, sees that its curve is the recorded
one to the last bit, and writes the last policy to `book/results/NAME/policies/VARIANT-seedNN.npz`:
an array for each parameter, by its name. NumPy reads it without pickle, and `kept_policy` makes a
policy of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from amgd.experiments.records import Record, RecordError
from amgd.experiments.reinforce import ReinforceSpec
from amgd.reinforce import Policy, Trainer

RESULTS = Path(__file__).resolve().parents[1] / "book" / "results"


def trainer_of(record: Record, variant: str, seed: int) -> Trainer:
    """Return a trainer of a recorded run, at its start."""
    if not isinstance(record.spec, ReinforceSpec):
        raise SystemExit(f"{record.path} has no policies: it is a record of {record.spec.kind}")
    best = record.tuning.get(variant, {}).get("best")
    rate = None if best is None else float(best)
    return Trainer(record.spec.training_for(variant, (seed,), rate))


def file_of(record: Record, variant: str, seed: int) -> Path:
    """Return where the policy of a run is kept."""
    return record.path / "policies" / f"{record.stem(variant, seed)}.npz"


def keep(record: Record, variant: str, seed: int) -> Path:
    """Train a run again, compare it with the record, and write its last policy."""
    known = record.read(variant, seed)
    trainer = trainer_of(record, variant, seed)
    while not trainer.done:
        trainer.advance()
    for name, rows in trainer.log.columns.items():
        if name in known and not np.array_equal(rows[0], known[name]):
            raise SystemExit(
                f"{record.path}: {record.stem(variant, seed)} comes out otherwise than it is "
                f"recorded (column {name}); its policy is not kept. Where it was recorded it comes "
                "out the same: see amgd check"
            )
    path = file_of(record, variant, seed)
    path.parent.mkdir(exist_ok=True)
    [policy] = trainer.result().policies
    arrays = {name: value.numpy() for name, value in policy.state_dict().items()}
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return path


def kept_policy(record: Record, variant: str, seed: int) -> Policy:
    """Return a policy that `keep` has written."""
    [policy] = trainer_of(record, variant, seed).result().policies
    with np.load(file_of(record, variant, seed), allow_pickle=False) as arrays:
        policy.load_state_dict({name: torch.from_numpy(arrays[name]) for name in arrays})
    return policy


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep the policies of one seed of some variants."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="records in the folder")
    parser.add_argument("--variants", default="plain,ghadimi_lan", help="with commas between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the records")
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        try:
            record = Record(chosen.out / name)
        except RecordError as error:
            raise SystemExit(str(error)) from None
        for variant in chosen.variants.split(","):
            if not record.has(variant, chosen.seed):
                print(f"{name}: {variant} has no run of seed {chosen.seed} yet", file=sys.stderr)
            elif file_of(record, variant, chosen.seed).exists():
                print(f"{file_of(record, variant, chosen.seed)} is there")
            else:
                print(keep(record, variant, chosen.seed), flush=True)


if __name__ == "__main__":
    main()
