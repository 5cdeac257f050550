"""The policies that are kept beside a record: the ones that its runs ended with."""

import numpy as np
import pytest
import torch

from amgd.experiments.records import Record
from amgd.reinforce import train
from tools import keep_policies


def kept(copy, variant, seed=0):
    arguments = ["figure2-cartpole-smoke", "--variants", variant, "--seed", str(seed)]
    keep_policies.main([*arguments, "--out", str(copy)])
    record = Record(copy / "figure2-cartpole-smoke")
    return record, keep_policies.kept_policy(record, variant, seed)


@pytest.mark.parametrize(("variant", "seed"), [("plain", 0), ("ghadimi_lan", 1), ("tuned", 0)])
def test_the_policy_that_is_kept_is_the_one_that_was_trained(copy, variant, seed):
    record, policy = kept(copy, variant, seed)
    rate = float(record.tuning[variant]["best"]) if variant in record.tuning else None
    [trained] = train(record.spec.training_for(variant, (seed,), rate)).policies
    for name, value in trained.state_dict().items():
        assert torch.equal(policy.state_dict()[name], value), name
    [start] = keep_policies.trainer_of(record, variant, seed).result().policies
    assert not all(map(torch.equal, policy.parameters(), start.parameters()))
    record.verify()  # it stands beside the runs and is none of them


def test_a_file_of_plain_arrays(copy):
    record, policy = kept(copy, "plain")
    [file] = (record.path / "policies").iterdir()
    assert file.name == "plain-seed00.npz"
    with np.load(file, allow_pickle=False) as arrays:
        assert sum(arrays[name].size for name in arrays) == policy.n_parameters


def test_a_second_call_keeps_what_is_there(copy, capsys):
    kept(copy, "plain")
    before = capsys.readouterr().out
    kept(copy, "plain")
    assert capsys.readouterr().out == before.replace("\n", " is there\n")


def test_a_curve_that_comes_out_otherwise_keeps_nothing(copy, monkeypatch):
    own = keep_policies.trainer_of
    monkeypatch.setattr(keep_policies, "trainer_of", lambda r, v, seed: own(r, v, seed + 1))
    with pytest.raises(SystemExit, match="plain-seed00 comes out otherwise than it is recorded"):
        kept(copy, "plain")
    assert not (copy / "figure2-cartpole-smoke" / "policies").exists()


def test_what_has_no_policy(copy, capsys):
    keep_policies.main(["figure2-cartpole-smoke", "--seed", "7", "--out", str(copy)])
    assert "plain has no run of seed 7 yet" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no record in"):
        keep_policies.main(["nothing", "--out", str(copy)])
    with pytest.raises(SystemExit, match="has no policies: it is a record of gridworld"):
        keep_policies.main(["figure1-grid10-smoke", "--variants", "plain", "--out", str(copy)])
