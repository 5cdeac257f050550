"""Checkpoints: the same state comes back, and nothing else is taken for one."""

import errno
import hashlib
import io
import os
import pickle

import pytest
import torch

from amgd.experiments.checkpoints import Checkpoints, owner, read_checkpoint, write_checkpoint
from amgd.experiments.provenance import surroundings
from amgd.experiments.records import RecordError
from amgd.reinforce.training import Trainer, TrainingSpec

IDENTITY = {"kind": "reinforce", "training": {"lr": 0.1, "hidden": [4]}, "rate": None}
OWNER = owner("plain-seed00", IDENTITY)
HERE = surroundings()
WHOLE = {"owner": OWNER, "rows": 2, "places": [HERE], "state": {"k": 2}}


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
    write_checkpoint(path, WHOLE | {"state": state})
    return path, state


def checkpoints(folder, *, name="plain", identity=IDENTITY, defaults=None, **options):
    return Checkpoints(folder, name, identity, defaults or {}, **options)


def load(path):
    """Return the state of the first run of the plain variant."""
    return checkpoints(path.parent).load(0)


@pytest.mark.parametrize(
    "choices",
    [{}, {"baseline": "linear"}, {"optimizer": "sgd"}, {"dtype": "float32"}, {"runs": 3}],
    ids=str,
)
def test_a_state_comes_back(tmp_path, choices):
    state = state_of(**choices)
    saving = checkpoints(tmp_path, seconds=0.0)
    saving.offer([3], 2, lambda: [state])
    found = read_checkpoint(tmp_path / "plain-seed03.pt")
    assert same(found["state"], state)
    assert found["rows"] == 2
    assert found["places"] == [HERE]
    again = checkpoints(tmp_path)
    assert same(again.load(3), state)
    assert again.places(3) == [HERE]


def test_none_is_none(tmp_path):
    assert read_checkpoint(tmp_path / "missing.pt") is None
    for folder in (tmp_path, tmp_path / "missing", None):
        assert checkpoints(folder).load(0) is None


def test_nothing_is_saved_before_its_time_or_without_a_folder(tmp_path):
    for one in (checkpoints(tmp_path, seconds=1e6), checkpoints(None, seconds=0.0)):
        one.offer([0], 2, lambda: pytest.fail("asked for a state"))
    assert list(tmp_path.iterdir()) == []


def test_a_worker_is_asked_after_each_row_whether_it_is_wanted(tmp_path):
    asked = []
    one = checkpoints(tmp_path, seconds=1e6, alive=lambda: asked.append(1))
    for rows in range(3):
        one.offer([0], rows, list)
    assert len(asked) == 3


# --- that of another run --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"identity": IDENTITY | {"rate": 0.1}}, "rate was None, is 0.1"),
        ({"identity": IDENTITY | {"kind": "gridworld"}}, "kind was 'reinforce', is 'gridworld'"),
        (
            {"identity": IDENTITY | {"training": {"lr": 0.2, "hidden": [4]}}},
            r"training.lr was 0.1, is 0.2",
        ),
        ({"name": "matched"}, "run was 'plain-seed00', is 'matched-seed00'"),
        ({"identity": IDENTITY | {"new": 1}}, "new was None, is 1"),
        ({"identity": IDENTITY | {"new": 1}, "defaults": {"new": 0}}, "new was 0, is 1"),
    ],
    ids=str,
)
def test_that_of_another_run_is_refused(saved, change, words):
    path, _ = saved
    path.rename(path.with_name(f"{change.get('name', 'plain')}-seed00.pt"))
    with pytest.raises(RecordError, match=rf"belongs to another run: {words}; `amgd repair`"):
        checkpoints(path.parent, **change).load(0)


def test_that_of_another_seed_is_refused(saved):
    path, _ = saved
    path.rename(path.with_name("plain-seed01.pt"))
    with pytest.raises(RecordError, match=r"run was 'plain-seed00', is 'plain-seed01'"):
        checkpoints(path.parent).load(1)


def test_a_new_field_with_a_default_leaves_it_valid(saved):
    path, state = saved
    now = IDENTITY | {"new": 1, "training": {"lr": 0.1, "hidden": [4], "more": [2.0]}}
    later = checkpoints(
        path.parent, identity=now, defaults={"new": 1, "training": {"more": [2.0], "lr": 7.0}}
    )
    assert same(later.load(0), state)


# --- that from elsewhere --------------------------------------------------------------------------
ELSEWHERE = {
    "source": ({"source": "f" * 64}, "source of amgd ffffffffffff there, "),
    "processor": ({"processor": "Z80"}, "processor Z80 there, "),
    "kernel": ({"blas": {"numpy": "openblas 0.1"}}, "BLAS kernel of numpy openblas 0.1 there, "),
    "version": ({"versions": HERE["versions"] | {"numpy": "1.0"}}, "numpy 1.0 there, "),
    "environment": (
        {"environment": {"module": "mine", "source": "f" * 64}},
        "source of the environment mine ffffffffffff there, none here",
    ),
    "torch": ({"torch": "AVX9"}, "PyTorch's instruction set AVX9 there, none here"),
    "libc": ({"libc": "musl 1.2"}, "C library musl 1.2 there, "),
    "python": ({"python": "2.7"}, "Python 2.7 there, "),
}


@pytest.mark.parametrize(("change", "words"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_that_from_elsewhere_is_not_continued_in_silence(saved, change, words):
    path, state = saved
    there = HERE | change
    write_checkpoint(path, WHOLE | {"state": state, "places": [there]})
    with pytest.raises(RecordError, match=rf"was made elsewhere: .*{words}.*--accept-changed goes"):
        checkpoints(path.parent).load(0)
    assert checkpoints(path.parent, changed="restart").load(0) is None
    assert path.exists()  # until the new run has something to put into its place
    accepting = checkpoints(path.parent, changed="accept", seconds=0.0)
    assert same(accepting.load(0), state)
    assert accepting.places(0) == [there, HERE]
    accepting.offer([0], 3, lambda: [state])
    again = checkpoints(path.parent)  # from here on it is at home
    assert same(again.load(0), state)
    assert again.places(0) == [there, HERE]


def test_another_commit_with_the_same_sources_is_no_change(saved):
    path, state = saved
    write_checkpoint(path, WHOLE | {"state": state, "places": [HERE | {"revision": "a" * 40}]})
    again = checkpoints(path.parent)
    assert same(again.load(0), state)
    assert again.places(0) == [HERE]


# --- torn, edited and dangerous files -------------------------------------------------------------
def test_every_torn_file_is_refused(saved):
    path, _ = saved
    content = path.read_bytes()
    for n in [*range(0, len(content), 131), *range(len(content) - 100, len(content))]:
        path.write_bytes(content[:n])
        with pytest.raises(RecordError, match=r"plain-seed00.pt is torn or edited: .*repair"):
            load(path)


def test_every_flipped_bit_is_refused(saved):
    """Also one that makes a tensor a folder in the list of contents: PyTorch reads anything."""
    path, _ = saved
    content = path.read_bytes()
    for i in range(0, len(content), 11):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1 << i % 8]) + content[i + 1 :])
        with pytest.raises(RecordError, match=r"torn or edited"):
            load(path)


def seal(path, saved_instead):
    """Write something else, with a checksum that fits."""
    file = io.BytesIO()
    torch.save(saved_instead, file)
    path.write_bytes(hashlib.sha256(file.getvalue()).digest() + file.getvalue())


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("kind", ["pickle", "archive", *WHOLE])
def test_reading_executes_nothing(tmp_path, kind):
    target, path = tmp_path / "exploded", tmp_path / "plain-seed00.pt"
    bomb = Bomb(target)
    if kind == "pickle":
        content = pickle.dumps(bomb)
        path.write_bytes(hashlib.sha256(content).digest() + content)
    else:
        seal(path, bomb if kind == "archive" else WHOLE | {kind: {"k": bomb}})
    with pytest.raises(RecordError, match=r"torn or edited"):
        load(path)
    assert not target.exists()
    if kind != "pickle":
        torch.load(io.BytesIO(path.read_bytes()[32:]), weights_only=False)  # it is a live one
        assert target.exists()


@pytest.mark.parametrize(
    "saved_instead",
    [
        3,
        [],
        {},
        torch.zeros(3),
        *({key: value for key, value in WHOLE.items() if key != left_out} for left_out in WHOLE),
        *(WHOLE | {key: 3.5} for key in WHOLE),
        WHOLE | {"places": []},
        WHOLE | {"places": [{}]},
        WHOLE | {"places": [HERE, HERE | {"versions": "all"}]},
    ],
)
def test_other_archives_are_refused(tmp_path, saved_instead):
    path = tmp_path / "plain-seed00.pt"
    seal(path, saved_instead)
    with pytest.raises(RecordError, match=r"torn or edited"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"text", b"\0" * 1000], ids=str)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "plain-seed00.pt"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"torn or edited"):
        load(path)


def test_a_file_that_cannot_be_read_is_not_called_torn(tmp_path):
    """Advice to delete it would be wrong."""
    (tmp_path / "plain-seed00.pt").mkdir()
    with pytest.raises(IsADirectoryError):
        load(tmp_path / "plain-seed00.pt")


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_write_that_fails_keeps_the_older_one(saved, monkeypatch, function):
    path, state = saved

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        with pytest.raises(OSError, match=r"No space .*plain-seed00.pt"):
            write_checkpoint(path, WHOLE)
    assert same(load(path), state)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
