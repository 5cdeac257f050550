"""A record belongs to its runs: it grows by seeds and variants, and takes no other runs."""

import json
import shutil
from dataclasses import replace

import pytest

from amgd.experiments import runner
from amgd.experiments.checkpoints import CHECKPOINTS, read_checkpoint, write_checkpoint
from amgd.experiments.experiment import plain_hash
from amgd.experiments.gridworld import GridWorldSpec
from amgd.experiments.named import named
from amgd.experiments.records import MANIFEST, Record, RecordError
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.runner import record
from amgd.reinforce.training import Trainer, TrainingSpec

GRID = replace(named("figure1-grid10", "smoke"), features="order", update="episode", seeds=5)
TRAINING = TrainingSpec(
    environment="CartPole-v0", hidden=(3,), iterations=2, batch=2, horizon=15, evaluation_episodes=2
)
CARTPOLE = ReinforceSpec(
    training=TRAINING,
    variants=("plain", "nesterov", "matched", "tuned"),
    rates={"tuned": (0.1, 1.0), "nesterov": (0.05,)},
    seeds=5,
    tuning_seeds=2,
)
ROBOT = replace(
    CARTPOLE,
    training=replace(
        TRAINING, environment="Swimmer-v5", evaluation="next_batch", baseline="linear"
    ),
    variants=("plain", "tuned"),
)
SPECS = {"grid world": GRID, "cartpole": CARTPOLE, "robot": ROBOT}


@pytest.fixture
def copy(whole, tmp_path):
    """A copy of it that a test may change."""

    def of(name):
        return shutil.copytree(whole(name).path, tmp_path / "copy")

    return of


def files(path):
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


def tables(path):
    return {name: content for name, content in files(path).items() if name.endswith(".csv")}


def edit(path, change):
    """Change a manifest and hash its specification again, as another version had written it."""
    data = json.loads((path / MANIFEST).read_text())
    change(data)
    data["hash"] = plain_hash(data["spec"])
    (path / MANIFEST).write_text(json.dumps(data))


def assert_equal(found, whole):
    assert tables(found.path) == tables(whole.path)
    assert found.digest == Record(found.path).digest == whole.digest
    assert found.tuning == whole.tuning
    assert found.identities == whole.identities


# --- growth ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("steps", [(2, 3, 5), (4, 5)], ids=str)
def test_more_seeds_extend_a_record(whole, tmp_path, name, steps):
    """By one and by several, to the bits of all at once; what is there is not done again."""
    before = {}
    for seeds in steps:
        made = record(replace(SPECS[name], seeds=seeds), tmp_path / "r")
        assert all(made.seeds(variant) == tuple(range(seeds)) for variant in made.spec.variants)
        assert {stem: made.files[stem] for stem in before} == before
        before = dict(made.files)
    assert_equal(made, whole(name))


@pytest.mark.parametrize("name", SPECS)
def test_more_variants_extend_a_record(whole, tmp_path, name):
    variants = SPECS[name].variants
    for some in (variants[:1], variants[1::2], variants[::-1], variants):
        made = record(replace(SPECS[name], variants=some), tmp_path / "r")
    assert_equal(made, whole(name))


@pytest.mark.parametrize("name", SPECS)
def test_fewer_seeds_and_variants_keep_the_files(whole, copy, monkeypatch, name):
    path, spec = copy(name), SPECS[name]
    monkeypatch.setattr(runner, "_run_task", None)  # nothing is run
    fewer = replace(spec, seeds=2, variants=spec.variants[-1:])
    made = record(fewer, path)
    assert made.seeds(spec.variants[-1]) == (0, 1)
    assert tables(path) == tables(whole(name).path)
    made.verify()
    assert_equal(record(spec, path), whole(name))


# --- what may change ------------------------------------------------------------------------------
UNTUNED = replace(CARTPOLE, variants=("plain", "nesterov", "matched"))


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("cartpole", CARTPOLE, replace(CARTPOLE, threshold=30.0)),
        ("cartpole", replace(CARTPOLE, threshold=9.0), replace(CARTPOLE, threshold=30.0)),
        ("cartpole", replace(CARTPOLE, threshold=9.0), CARTPOLE),
        ("cartpole", UNTUNED, replace(UNTUNED, tuning_seeds=7)),
        ("cartpole", UNTUNED, replace(UNTUNED, rates={"nesterov": (0.05,), "adam": (0.1,)})),
        ("grid world", replace(GRID, variants=("plain",)),
         replace(GRID, variants=("plain",), delta=0.3, rates=(1.0,), tuning_seeds=9)),
        ("grid world", replace(GRID, variants=("matched",)),
         replace(GRID, variants=("matched",), rate=0.3, scales=(2.0,))),
        ("grid world", replace(GRID, variants=("tuned",)),
         replace(GRID, variants=("tuned",), rate=0.3, delta=0.7, mu=2.0, deltas=(1.0, 2.0, 3.0))),
    ],
)  # fmt: skip
def test_what_decides_no_bits_may_change(whole, copy, monkeypatch, name, first, then):
    path = copy(name)
    monkeypatch.setattr(runner, "_run_task", None)  # nothing is run
    record(first, path)
    read = Record(path, then)
    assert read.spec == then
    made = record(then, path)
    assert Record(path).spec == then
    assert tables(path) == tables(whole(name).path)
    assert made.digest == whole(name).digest


@pytest.mark.parametrize(
    ("name", "then", "words"),
    [
        *(
            ("cartpole", replace(CARTPOLE, training=replace(TRAINING, **change)), words)
            for change, words in (
                ({"lr": 0.2}, r"plain .*training.lr was 0\.1, is 0\.2"),
                ({"environment": "Acrobot-v1"}, r"training.environment was 'CartPole-v0', is 'Acr"),
                ({"hidden": (4,)}, r"training.hidden was \[3\], is \[4\]"),
                ({"seed": 1}, "training.seed was 0, is 1"),
                ({"batch": 3, "iterations": 3}, "batch was 2, is 3, training.iterations was 2, is"),
                ({"options": {"a": 1}}, "training.options.a was None, is 1"),
            )
        ),
        ("cartpole", replace(CARTPOLE, rates=CARTPOLE.rates | {"nesterov": (0.06,)}),
         r"nesterov was run .*training.lr was 0\.05, is 0\.06"),
        ("cartpole", replace(CARTPOLE, rates=CARTPOLE.rates | {"plain": (0.06,)}),
         r"plain was run .*training.lr was 0\.1, is 0\.06"),
        ("cartpole", GRID, "kind was 'reinforce', is 'gridworld'; choose"),
        ("grid world", CARTPOLE, "kind was 'gridworld', is 'reinforce'; choose"),
        *(
            ("grid world", replace(GRID, **change), words)
            for change, words in (
                ({"n": 5}, "n was 4, is 5"),
                ({"rate": 0.3}, r"plain .* rate was 0\.001, is 0\.3"),
                ({"delta": 0.3}, r"accelerated .* delta was 0\.1, is 0\.3"),
                ({"scales": (0.4,)}, r"tuned was .* scales was \[0\.3\], is \[0\.4\]"),
                ({"tuning_seeds": 3}, "tuned was .*tuning_seeds was 2, is 3"),
                ({"law": "uniform"}, "law was 'episode', is 'uniform'"),
                ({"record": 5}, "record was 10, is 5"),
                ({"test_episodes": 5}, "test_episodes was 10, is 5"),
            )
        ),
    ],
)  # fmt: skip
def test_other_runs_are_refused_by_what_differs(copy, name, then, words):
    path = copy(name)
    before = files(path)
    for look in (lambda: record(then, path), lambda: Record(path, then)):
        with pytest.raises(RecordError, match=rf"another specification: .*{words}.*another name"):
            look()
    assert {name: content for name, content in files(path).items() if name[0] != "."} == before


def test_a_record_without_a_run_takes_a_corrected_specification(tmp_path, monkeypatch):
    """As after a misspelt environment, or a stop before the first run."""
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_run_task", lambda *arguments: pytest.fail("stopped"))
        with pytest.raises(pytest.fail.Exception):
            record(replace(UNTUNED, training=replace(TRAINING, lr=0.7)), tmp_path)
    assert Record(tmp_path).files == {}
    made = record(replace(UNTUNED, seeds=2, variants=("plain",)), tmp_path)
    assert made.seeds("plain") == (0, 1)


# --- grids ----------------------------------------------------------------------------------------
def test_a_wider_grid_with_the_same_winner_extends_a_record(whole, copy):
    """And a narrower one keeps what it leaves out."""
    path, first = copy("cartpole"), Record(whole("cartpole").path)
    best = float(first.tuning["tuned"]["best"])
    for grid in ((0.1, 1.0, 1e-9), (best,), (0.1, 1.0)):
        made = record(replace(CARTPOLE, rates=CARTPOLE.rates | {"tuned": grid}), path)
        assert made.tuning["tuned"]["tried"] == [f"{rate:g}" for rate in grid]
        assert made.tuning["tuned"]["best"] == f"{best:g}"
        assert all(made.files[stem] == entry for stem, entry in first.files.items())
        made.verify()
    assert made.tuning == first.tuning
    assert made.has("tuning-1e-09", 1000)


def test_a_grid_with_another_winner_is_refused_and_the_old_one_goes_on(whole, copy):
    path, first = copy("cartpole"), whole("cartpole")
    best = float(first.tuning["tuned"]["best"])
    (other,) = {0.1, 1.0} - {best}
    # The rate of the recorded runs is in the grid, so the specification fits; its area is worse.
    for stem in [s for s in Record(path).files if s.startswith(f"tuning-{best:g}-")]:
        edit(path, lambda data, stem=stem: data["files"][stem].update(diverged="in a test"))
    words = rf"grid of tuned now chooses {other:g}, and .*lr was {best}, is {other}; .*another name"
    with pytest.raises(RecordError, match=words):
        record(CARTPOLE, path)
    kept = Record(path)
    assert kept.tuning == first.tuning
    assert tables(path) == tables(first.path)
    # A rate of which the recorded runs are none is refused before anything is run.
    with pytest.raises(RecordError, match=rf"tuned was run .*lr was {best}, is {other}"):
        record(replace(CARTPOLE, rates=CARTPOLE.rates | {"tuned": (other,)}), path)


def test_more_tuning_seeds_are_added_when_the_winner_stays(whole, copy, tmp_path):
    more = replace(CARTPOLE, tuning_seeds=3)
    at_once = record(more, tmp_path / "at_once")
    assert at_once.tuning["tuned"]["best"] == whole("cartpole").tuning["tuned"]["best"]
    assert_equal(record(more, copy("cartpole")), at_once)


# --- a new field ----------------------------------------------------------------------------------
def with_default(spec, of):
    """Names of the fields of a specification that have their default."""
    plain, defaults = spec.to_plain(), spec.defaults()
    if of == "training":
        plain, defaults = plain["training"], defaults["training"]
    own = ("lr",)  # of the variant with a rate of its own it is not the default
    return [n for n in plain if n in defaults and plain[n] == defaults[n] and n not in own]


FIELDS = [
    *(("cartpole", CARTPOLE, ("training", field)) for field in with_default(CARTPOLE, "training")),
    *(("cartpole", CARTPOLE, (field,)) for field in with_default(CARTPOLE, "spec")),
    *(("grid world", GRID, (field,)) for field in with_default(GRID, "spec")),
]


def without(data, keys):
    """Take an entry out of a table, or of one inside of it."""
    for key in keys[:-1]:
        data = data.get(key, {})
    data.pop(keys[-1], None)


@pytest.mark.parametrize(("name", "spec", "keys"), FIELDS, ids=lambda value: str(value)[:40])
def test_a_new_field_with_a_default_leaves_old_records_valid(
    whole, copy, monkeypatch, name, spec, keys
):
    """As if the record had been written before there was that field."""
    path = copy(name)

    def age(data):
        without(data["spec"], keys)
        for identity in data["identities"].values():
            without(identity, keys)

    edit(path, age)
    monkeypatch.setattr(runner, "_run_task", None)
    assert Record(path).spec == spec
    made = record(spec, path)
    assert tables(path) == tables(whole(name).path)
    made.verify()


@pytest.mark.parametrize(
    ("name", "keys"), [("cartpole", ("training", "discount")), ("grid world", ("law",))]
)
def test_such_a_record_grows(whole, tmp_path, name, keys):
    spec = SPECS[name]
    path = record(replace(spec, seeds=3, variants=spec.variants[:2]), tmp_path / "r").path

    def age(data):
        without(data["spec"], keys)
        for identity in data["identities"].values():
            without(identity, keys)

    edit(path, age)
    record(spec, path)
    assert tables(path) == tables(whole(name).path)


def test_and_so_does_its_checkpoint(whole, tmp_path, monkeypatch):
    advance, rows = Trainer.advance, []

    def stopped(trainer):
        if len(rows) == 2:
            raise KeyboardInterrupt
        advance(trainer)
        rows.append(trainer.k)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "advance", stopped)
        with pytest.raises(KeyboardInterrupt):
            record(CARTPOLE, tmp_path, variants=["plain"], checkpoint_seconds=0.0)
    saved = sorted((tmp_path / CHECKPOINTS).glob("*.pt"))
    assert len(saved) == CARTPOLE.seeds
    for path in saved:
        content = read_checkpoint(path)
        without(content["owner"], ("training", "discount"))
        write_checkpoint(path, content)
    rows.clear()
    with monkeypatch.context() as patch:
        patch.setattr(
            Trainer, "advance", lambda trainer: (advance(trainer), rows.append(trainer.k))
        )
        made = record(CARTPOLE, tmp_path, variants=["plain"])
    assert rows == [3]  # the last row of all seeds together
    expected = whole("cartpole")
    for stem, entry in made.files.items():
        assert entry["sha256"] == expected.files[stem]["sha256"]


def test_a_new_field_with_another_value_is_another_run(copy):
    path = copy("grid world")

    def age(data):
        for identity in data["identities"].values():
            del identity["discount"]

    edit(path, age)
    assert isinstance(Record(path).spec, GridWorldSpec)
    with pytest.raises(RecordError, match=r"discount was 0\.9, is 0\.8"):
        record(replace(GRID, discount=0.8), path)
