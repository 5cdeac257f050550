"""Checkpoints: the same state comes back, and nothing else is taken for one."""

import errno
import os
import pickle
import zipfile

import pytest
import torch

from amgd.experiments.checkpoints import load_checkpoint, save_checkpoint
from amgd.experiments.named import named, spec_hash
from amgd.experiments.records import RecordError
from amgd.reinforce.training import Trainer, TrainingSpec

OWNER = {"hash": "0" * 64, "run": "plain-seed00", "rate": None}


def state_of(**choices):
    """Return the state of a training after two rows."""
    base = {
        "environment": "CartPole-v0",
        "hidden": (4,),
        "iterations": 3,
        "batch": 2,
        "horizon": 20,
    }
    trainer = Trainer(TrainingSpec(**base | {"optimizer": "ghadimi_lan"} | choices))
    trainer.advance()
    trainer.advance()
    return trainer.state_dict()


def same(one, two):
    """Whether two states are equal to the last bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[k], two[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and one == two


@pytest.fixture
def saved(tmp_path):
    path, state = tmp_path / "plain-seed00.pt", state_of()
    save_checkpoint(path, OWNER, state)
    return path, state


@pytest.mark.parametrize(
    "choices",
    [{}, {"baseline": "linear"}, {"optimizer": "sgd"}, {"dtype": "float32"}, {"runs": 3}],
    ids=str,
)
def test_a_state_comes_back(tmp_path, choices):
    path, state = tmp_path / "a.pt", state_of(**choices)
    save_checkpoint(path, OWNER, state)
    assert same(load_checkpoint(path, OWNER), state)


def test_none_is_none(tmp_path):
    assert load_checkpoint(tmp_path / "missing.pt", OWNER) is None
    assert load_checkpoint(tmp_path / "missing" / "missing.pt", OWNER) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hash", spec_hash(named("figure1-grid10"))),
        ("run", "plain-seed01"),
        ("run", "matched-seed00"),
        ("rate", 0.1),
    ],
)
def test_that_of_another_run_is_refused(saved, key, value):
    with pytest.raises(RecordError, match=r"belongs to another run: got .*expected .*delete"):
        load_checkpoint(saved[0], OWNER | {key: value})


def test_every_torn_file_is_refused(saved):
    path, _ = saved
    content = path.read_bytes()
    for n in [*range(0, len(content), 131), *range(len(content) - 100, len(content))]:
        path.write_bytes(content[:n])
        with pytest.raises(RecordError, match=r"plain-seed00.pt is torn or edited: .*delete"):
            load_checkpoint(path, OWNER)


def test_a_flipped_bit_is_refused_or_harmless(saved):
    """Some bytes hold no data, such as times in the archive's directory."""
    path, state = saved
    content = path.read_bytes()
    refused = 0
    for i in range(0, len(content), 37):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1 << i % 8]) + content[i + 1 :])
        try:
            found = load_checkpoint(path, OWNER)
        except RecordError:
            refused += 1
        else:
            assert same(found, state), i
    assert refused > 20


def test_every_flipped_bit_of_the_numbers_is_refused(saved):
    path, _ = saved
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if "/data/" in part.filename]
    assert parts
    for part in parts:
        start = content.index(part.filename.encode(), part.header_offset) + len(part.filename)
        # The name is followed by padding up to a multiple of 64, then come the numbers.
        start += -start % 64
        for i in (start, start + part.file_size - 1):
            path.write_bytes(content[:i] + bytes([content[i] ^ 0x10]) + content[i + 1 :])
            with pytest.raises(RecordError, match=r"torn or edited"):
                load_checkpoint(path, OWNER)


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("kind", ["pickle", "archive", "in the state", "in the owner"])
def test_reading_executes_nothing(tmp_path, kind):
    target, path = tmp_path / "exploded", tmp_path / "plain-seed00.pt"
    bomb = Bomb(target)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(bomb))
    elif kind == "archive":
        torch.save(bomb, path)
    elif kind == "in the state":
        torch.save({"owner": OWNER, "state": {"k": bomb}}, path)
    else:
        torch.save({"owner": bomb, "state": {}}, path)
    with pytest.raises(RecordError, match=r"torn or edited"):
        load_checkpoint(path, OWNER)
    assert not target.exists()
    if kind != "pickle":
        torch.load(path, weights_only=False)  # the bomb is a live one
        assert target.exists()


@pytest.mark.parametrize(
    "saved_instead",
    [3, [], {}, {"owner": OWNER}, {"state": {}}, {"owner": OWNER, "state": 3}, torch.zeros(3)],
    ids=["number", "list", "nothing", "no state", "no owner", "state is a number", "tensor"],
)
def test_other_archives_are_refused(tmp_path, saved_instead):
    path = tmp_path / "a.pt"
    torch.save(saved_instead, path)
    with pytest.raises(RecordError, match=r"torn or edited"):
        load_checkpoint(path, OWNER)


@pytest.mark.parametrize("content", [b"", b"PK", b"text", b"\0" * 1000], ids=str)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"torn or edited"):
        load_checkpoint(path, OWNER)


def test_a_file_that_cannot_be_read_is_not_called_torn(tmp_path):
    """Advice to delete it would be wrong."""
    (tmp_path / "a.pt").mkdir()
    with pytest.raises(IsADirectoryError):
        load_checkpoint(tmp_path / "a.pt", OWNER)


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_write_that_fails_keeps_the_older_one(saved, monkeypatch, function):
    path, state = saved

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        with pytest.raises(OSError, match=r"No space .*plain-seed00.pt"):
            save_checkpoint(path, OWNER, {"k": 7})
    assert same(load_checkpoint(path, OWNER), state)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
