"""The runner: one record, however the work is cut, spread and interrupted."""

import gc
import os
import subprocess
import sys
from dataclasses import replace
from socket import gethostname

import joblib
import numpy as np
import pytest
from filelock import FileLock

from amgd.experiments import runner
from amgd.experiments.checkpoints import (
    CHECKPOINTS,
    Checkpoints,
    owner,
    read_checkpoint,
    write_checkpoint,
)
from amgd.experiments.experiment import FIRST_TUNING_RUN, plain_hash, to_toml
from amgd.experiments.gridworld import GridWorldSpec, run
from amgd.experiments.named import named
from amgd.experiments.progress import planned_rows
from amgd.experiments.records import Record, RecordError
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.runner import LOCK, Task, checkpointed_rows, record, tasks_for
from amgd.reinforce.training import Trainer, TrainingSpec, train

GRID_WORLD = named("figure1-grid10", "smoke")
TRAINING = TrainingSpec(
    environment="CartPole-v0",
    hidden=(4,),
    iterations=3,
    batch=3,
    horizon=40,
    evaluation_episodes=3,
    seed=3,
)
CARTPOLE = ReinforceSpec(
    training=TRAINING,
    variants=("plain", "theorem1", "nesterov", "matched", "tuned", "tuned_accelerated"),
    rates={"tuned": (0.1, 1.0), "tuned_accelerated": (0.01, 0.1), "nesterov": (0.02,)},
    seeds=3,
    tuning_seeds=2,
)
ROBOT = named("figure3-swimmer", "smoke")
SPECS = {"grid world": GRID_WORLD, "cartpole": CARTPOLE, "robot": ROBOT}
# Steps so long that a parameter overflows: with Theorem 1's, run 0 after two updates, run 1 after
# six, runs 2 and 4 after one, run 3 never; with plain ones runs 2 and 4 at once.
WILD = ReinforceSpec(
    training=replace(TRAINING, iterations=9, lr=7e153),
    variants=("plain", "theorem1", "tuned"),
    rates={"tuned": (0.1, 1e155)},
    seeds=5,
    tuning_seeds=2,
)
LOST = {0: (2, 2), 1: (6, 6), 2: (1, 1), 4: (1, 1)}  # run: (iteration, rows)


def tables(path):
    return {file.name: file.read_bytes() for file in path.glob("*.csv")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The record of each specification, made in one go by this process."""
    made = {}

    def of(name):
        if name not in made:
            spec = {**SPECS, "wild": WILD}[name]
            made[name] = record(spec, tmp_path_factory.mktemp("whole"))
        return made[name]

    return of


def complete(record):
    return planned_rows(record.spec, record.spec.variants, range(record.spec.seeds)).keys() <= (
        record.files.keys()
    )


def assert_same(found, whole):
    assert tables(found.path) == tables(whole.path)
    assert found.digest == whole.digest
    assert found.tuning == whole.tuning
    assert complete(found)
    Record(found.path).verify()
    assert not list((found.path / CHECKPOINTS).iterdir())
    assert not [file for file in found.path.glob(".*") if file.name != LOCK]


def assert_part(found, whole, variant):
    """All runs of a variant are there, with the bits of the whole."""
    assert found.seeds(variant) == tuple(range(found.spec.seeds))
    expected, known = tables(whole.path), tables(found.path)
    assert known == {name: expected[name] for name in known}
    found.verify()
    assert not list((found.path / CHECKPOINTS).iterdir())


# --- what is recorded -----------------------------------------------------------------------------
def test_the_grid_world_is_what_run_returns(uninterrupted):
    whole, result = uninterrupted("grid world"), run(GRID_WORLD)
    for variant in GRID_WORLD.variants:
        curves = whole.curves(variant, "neu")
        np.testing.assert_array_equal(curves.samples, result[variant].neu)
        np.testing.assert_array_equal(curves.k, result[variant].episodes)
        theta = whole.curves(variant, "theta1").samples
        np.testing.assert_array_equal(theta, result[variant].theta[:, :, 1])
    assert whole.tuning["tuned"]["best"] == result["tuned"].tuning.best


@pytest.mark.parametrize("name", ["cartpole", "robot"])
def test_reinforce_is_what_train_returns(uninterrupted, name):
    whole, spec = uninterrupted(name), SPECS[name]
    for variant in set(spec.variants) - {"tuned", "tuned_accelerated"}:
        log = train(spec.training_for(variant, tuple(range(spec.seeds)))).log
        for column in log.columns:
            np.testing.assert_array_equal(whole.curves(variant, column).samples, log[column])
        assert len(whole.curves(variant, "return").k) == spec.rows


def test_tuning_knows_only_runs_of_its_own(uninterrupted):
    """The winner is that of the best mean return on the runs from 1000 on, tried for each rate."""
    whole = uninterrupted("cartpole")
    runs = tuple(range(FIRST_TUNING_RUN, FIRST_TUNING_RUN + CARTPOLE.tuning_seeds))
    for variant, prefix in (("tuned", "tuning"), ("tuned_accelerated", "tuning_accelerated")):
        grid = CARTPOLE.grid(variant)
        tried = {r: train(CARTPOLE.training_for(variant, runs, r)).log for r in grid}
        for rate, log in tried.items():
            for i, number in enumerate(runs):
                table = whole.read(f"{prefix}-{rate:g}", number)
                np.testing.assert_array_equal(
                    table["evaluation_return"], log["evaluation_return"][i]
                )
        means = {rate: log["evaluation_return"].mean() for rate, log in tried.items()}
        best = max(means, key=means.get)
        assert whole.tuning[variant]["best"] == f"{best:g}"
        assert whole.tuning[variant]["areas"] == pytest.approx(
            [-m for m in means.values()], rel=1e-14
        )
        reported = train(CARTPOLE.training_for(variant, (0, 1, 2), best)).log["evaluation_return"]
        np.testing.assert_array_equal(whole.curves(variant, "evaluation_return").samples, reported)
    named_runs = {stem.rpartition("-seed") for stem in whole.files}
    for variant, _, number in named_runs:
        assert (int(number) >= FIRST_TUNING_RUN) == variant.startswith("tuning")


def fill_grid(record, areas, diverged=()):
    """Write tuning runs with these mean returns by hand."""
    for rate, height in areas.items():
        for number in range(FIRST_TUNING_RUN, FIRST_TUNING_RUN + CARTPOLE.tuning_seeds):
            rows = {"k": np.arange(4), "evaluation_return": np.full(4, float(height))}
            what = "at iteration 4" if rate in diverged else None
            identity = CARTPOLE.identity("tuned", rate)
            record.add(f"tuning-{rate:g}", number, rows, 0.0, diverged=what, identity=identity)


@pytest.mark.parametrize(
    ("areas", "diverged", "winner"),
    [
        ({0.1: 1, 1.0: 2}, (), 1.0),
        ({0.1: 2, 1.0: 1}, (), 0.1),
        ({0.1: -2, 1.0: -1}, (), 1.0),
        ({0.1: 1, 1.0: 1}, (), 0.1),  # a tie goes to the first
        ({0.1: 1, 1.0: 2}, (1.0,), 0.1),
        ({0.1: 1}, (), None),
        ({0.1: 1, 1.0: 1}, (0.1, 1.0), None),
    ],
    ids=["second", "first", "negative", "tie", "diverged", "unfinished", "all diverged"],
)
def test_the_winner_has_the_largest_return(tmp_path, areas, diverged, winner):
    made = Record.create(tmp_path, CARTPOLE)
    fill_grid(made, areas, diverged)
    # Reported runs do not count, however good they are.
    rows = {"k": np.arange(4), "evaluation_return": np.full(4, 1e9)}
    made.add("plain", 0, rows, 0.0)
    (rate,) = {task.rate for task in tasks_for(made, ["tuned"], [0, 1])} or {None}
    if winner is None and len(areas) < 2:
        assert (rate, made.tuning) == (1.0, {})  # what is missing
    else:
        assert rate == winner
        assert bool(made.tuning) == (winner is not None)


def test_a_grid_that_diverges_is_told_when_the_rest_is_there(tmp_path):
    spec = replace(WILD, rates={"tuned": (1e155, 1e156)}, variants=("tuned", "plain"), seeds=2)
    for _ in range(2):  # also the second time
        with pytest.raises(ValueError, match=r"no rate of tuned is stable: .*expected .*smaller"):
            record(spec, tmp_path)
        assert Record(tmp_path).seeds("plain") == (0, 1)
    Record(tmp_path).verify()


def test_a_grid_world_whose_grid_diverges_is_told(tmp_path):
    spec = replace(GRID_WORLD, rates=(1e5,), scales=(1e6, 1e7))
    with pytest.raises(ValueError, match=r"no step is stable"):
        record(spec, tmp_path)
    assert Record(tmp_path).seeds("plain") == (0, 1, 2)


# --- any cut --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SPECS)
def test_parts_make_the_whole(uninterrupted, tmp_path, name):
    spec = SPECS[name]
    record(spec, tmp_path, variants=spec.variants[1::2], seeds=[1])
    record(spec, tmp_path, variants=spec.variants[:1])
    assert not complete(Record(tmp_path))
    assert_same(record(spec, tmp_path), uninterrupted(name))


@pytest.mark.parametrize("name", SPECS)
def test_nothing_is_done_twice(uninterrupted, monkeypatch, name):
    whole = uninterrupted(name)
    before = (whole.path / "manifest.json").read_bytes()
    monkeypatch.setattr(runner, "_run_task", None)
    seen = []
    assert_same(record(SPECS[name], whole.path, on_progress=lambda *a: seen.append(a)), whole)
    assert (whole.path / "manifest.json").read_bytes() == before
    assert seen == []


def test_progress_names_each_run_once(tmp_path):
    seen = []

    def note(made, name):
        seen.append((name, name in made.files))

    made = record(CARTPOLE, tmp_path, variants=["plain", "tuned"], on_progress=note)
    assert sorted(seen) == [(stem, True) for stem in sorted(made.files)]


@pytest.fixture
def two_workers():
    yield
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
    gc.collect()


def test_two_processes_give_the_same(uninterrupted, tmp_path, two_workers):
    for name, spec in SPECS.items():
        assert_same(record(spec, tmp_path / name, jobs=2), uninterrupted(name))


@pytest.mark.filterwarnings("ignore::ResourceWarning:distributed", "ignore::DeprecationWarning")
def test_a_dask_cluster_gives_the_same(uninterrupted, tmp_path):
    """Its workers see the folder; on other machines it must be shared under the same path."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster), joblib.parallel_config(backend="dask"):
        for name, spec in SPECS.items():
            made = record(spec, tmp_path / name, checkpoint_seconds=0.0)
            assert_same(made, uninterrupted(name))


def test_another_process_gives_the_same(uninterrupted, tmp_path):
    """Whatever the order of sets, and however many threads BLAS has."""
    text = (
        "import sys; from amgd.experiments.runner import record\n"
        "from amgd.experiments.experiment import from_toml, plain_hash\n"
        "for name in sys.argv[2:]:\n"
        "    spec = from_toml(open(f'{sys.argv[1]}/{name}.toml').read())\n"
        "    made = record(spec, f'{sys.argv[1]}/{name}')\n"
        "    print(plain_hash(spec.to_plain()), made.digest)"
    )
    for name, spec in SPECS.items():
        (tmp_path / f"{name}.toml").write_text(to_toml(spec))
    threads = "1" if os.environ.get("OMP_NUM_THREADS") == "2" else "2"
    numbers = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    done = subprocess.run(
        [sys.executable, "-c", text, str(tmp_path), *SPECS],
        env=os.environ | {"PYTHONHASHSEED": hash_seed} | numbers,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [
        f"{plain_hash(SPECS[name].to_plain())} {uninterrupted(name).digest}" for name in SPECS
    ]
    assert done.stdout.splitlines() == expected
    for name in SPECS:
        assert tables(tmp_path / name) == tables(uninterrupted(name).path)


def test_threads_of_blas_do_not_change_a_paper_sized_grid(tmp_path):
    """The largest products of the grid world; torch's are kept to one thread by the trainer."""
    text = (
        "import hashlib, numpy as np; from dataclasses import replace\n"
        "from amgd.experiments.gridworld import FIGURE1, run\n"
        "spec = replace(FIGURE1[1], episodes=40, seeds=10, features='order', variants=('plain',))\n"
        "curve = run(spec)['plain']\n"
        "print(hashlib.sha256(curve.neu.tobytes() + curve.neu_estimate.tobytes()).hexdigest())"
    )
    found = set()
    for threads in ("1", "2"):
        numbers = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
        done = subprocess.run(
            [sys.executable, "-c", text],
            env=os.environ | numbers,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


# --- divergence -----------------------------------------------------------------------------------
def test_diverged_runs_keep_their_rows_and_spare_the_others(uninterrupted):
    whole = uninterrupted("wild")
    curves = whole.curves("theorem1", "evaluation_return")
    assert curves.seeds == (3,)
    assert set(curves.diverged) == set(LOST)
    for seed, (iteration, rows) in LOST.items():
        assert curves.diverged[seed] == f"at iteration {iteration}: a parameter is not finite"
        assert whole.files[Record.stem("theorem1", seed)]["rows"] == rows
    assert set(whole.curves("plain", "return").diverged) == {2, 4}
    assert whole.tuning["tuned"] == {
        "tried": ["0.1", "1e+155"],
        "areas": [pytest.approx(whole.tuning["tuned"]["areas"][0]), None],
        "best": "0.1",
    }


def test_a_run_is_the_same_alone_as_beside_diverging_ones(uninterrupted, tmp_path):
    for seed in range(WILD.seeds):
        alone = record(WILD, tmp_path / str(seed), variants=["theorem1"], seeds=[seed])
        stem = Record.stem("theorem1", seed)
        whole = uninterrupted("wild")
        assert (alone.path / f"{stem}.csv").read_bytes() == (
            whole.path / f"{stem}.csv"
        ).read_bytes()
        assert alone.files[stem]["diverged"] == whole.files[stem]["diverged"]


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_divergence_after_an_interruption(uninterrupted, tmp_path, monkeypatch, rows):
    stop_after(monkeypatch, rows)
    with pytest.raises(KeyboardInterrupt):
        record(WILD, tmp_path, variants=["theorem1"], checkpoint_seconds=0.0)
    monkeypatch.undo()
    made = record(WILD, tmp_path, variants=["theorem1"], checkpoint_seconds=0.0)
    assert_part(made, uninterrupted("wild"), "theorem1")


def test_a_grid_world_keeps_diverged_seeds(tmp_path):
    # Steps between those with which all seeds stay finite and those with which none does.
    spec = GridWorldSpec(
        n=4, episodes=40, rate=2.0, limit=6.0, seeds=6, variants=("plain",), reward="goal"
    )
    made = record(spec, tmp_path)
    result = run(spec)["plain"]
    assert 0 < len(result.diverged) < spec.seeds
    curves = made.curves("plain", "neu")
    np.testing.assert_array_equal(curves.samples, result.neu)
    assert curves.diverged == {s: f"in episode {e}" for s, e in result.diverged.items()}


# --- interruptions --------------------------------------------------------------------------------
def stop_after(monkeypatch, rows):
    """Let Ctrl-C arrive after so many rows of all trainers together."""
    advance, made = Trainer.advance, []

    def interrupted(trainer):
        if len(made) == rows:
            raise KeyboardInterrupt
        advance(trainer)
        made.append(trainer.k)

    monkeypatch.setattr(Trainer, "advance", interrupted)


def count_rows(monkeypatch):
    """Return a list to which every row that is made adds the numbers of its runs."""
    advance, made = Trainer.advance, []

    def counted(trainer):
        advance(trainer)
        made.extend(trainer.runs)

    monkeypatch.setattr(Trainer, "advance", counted)
    return made


@pytest.mark.parametrize("name", ["cartpole", "robot"])
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_come_from_the_checkpoint(uninterrupted, tmp_path, monkeypatch, name, rows):
    spec = SPECS[name]
    stop_after(monkeypatch, rows)
    with pytest.raises(KeyboardInterrupt):
        record(spec, tmp_path, variants=["plain"], checkpoint_seconds=0.0)
    monkeypatch.undo()
    together = 1 if name == "robot" else spec.seeds
    assert checkpointed_rows(Record(tmp_path)) == {
        Record.stem("plain", seed): rows for seed in range(together)
    }
    made = count_rows(monkeypatch)
    found = record(spec, tmp_path, variants=["plain"], checkpoint_seconds=0.0)
    assert len(made) == spec.seeds * spec.rows - together * rows
    assert made.count(0) == spec.rows - rows
    assert_part(found, uninterrupted(name), "plain")


def test_without_time_for_a_checkpoint_the_run_starts_anew(uninterrupted, tmp_path, monkeypatch):
    stop_after(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        record(CARTPOLE, tmp_path, variants=["plain"], checkpoint_seconds=1e6)
    monkeypatch.undo()
    assert checkpointed_rows(Record(tmp_path)) == {}
    assert_part(record(CARTPOLE, tmp_path, variants=["plain"]), uninterrupted("cartpole"), "plain")


def test_runs_that_are_not_equally_far_are_not_mixed(uninterrupted, tmp_path):
    """A worker that outlived its caller may save one while another has just begun."""
    folder = tmp_path / CHECKPOINTS
    folder.mkdir()
    task = Task(CARTPOLE, "plain", (0, 1, 2))
    for seed, rows in ((0, 2), (1, 1)):
        trainer = Trainer(CARTPOLE.training_for("plain", (seed,)))
        for _ in range(rows):
            trainer.advance()
        saving = Checkpoints(
            folder, "plain", task.identity, {}, environment=TRAINING.environment, seconds=0.0
        )
        saving.offer([seed], rows, lambda trainer=trainer: [trainer.state_dict()])
    outcomes = runner._run_task(task, folder, tmp_path, 1e6, "refuse").outcomes
    assert sorted(one.seed for one in outcomes) == [0, 1, 2]
    samples = uninterrupted("cartpole").curves("plain", "return").samples
    for one in outcomes:
        np.testing.assert_array_equal(one.columns["return"], samples[one.seed])


def test_leftovers_of_a_kill_are_swept(uninterrupted, tmp_path):
    record(CARTPOLE, tmp_path, variants=["plain"])
    folder = tmp_path / CHECKPOINTS
    left = [
        tmp_path / ".plain-seed00.csv.abc",
        tmp_path / ".manifest.json.abc",
        folder / ".plain-seed00.pt.abc",
        folder / "plain-seed00.pt",  # of a run that is finished
        tmp_path / "theorem1-seed00.csv",  # renamed, but not yet in the manifest
    ]
    for path in left:
        path.write_bytes(b"torn")
    made = record(CARTPOLE, tmp_path, variants=["theorem1"])
    assert_part(made, uninterrupted("cartpole"), "theorem1")
    assert not [file for file in tmp_path.glob(".*") if file.name != LOCK]


def test_a_file_that_vanishes_meanwhile_does_no_harm(uninterrupted, tmp_path, monkeypatch):
    """A worker that outlived its caller renames its file between the look and the sweep."""
    record(CARTPOLE, tmp_path, variants=["plain"])
    glob = type(tmp_path).glob

    def with_ghost(path, pattern):
        yield from glob(path, pattern)
        yield path / ".plain-seed00.pt.ghost"

    monkeypatch.setattr(type(tmp_path), "glob", with_ghost)
    record(CARTPOLE, tmp_path, variants=["plain"])


# --- what is refused ------------------------------------------------------------------------------
def interrupted_record(path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            record(CARTPOLE, path, variants=["plain"], checkpoint_seconds=0.0)
    return path / CHECKPOINTS / "plain-seed01.pt"


@pytest.mark.parametrize(
    "kind", ["torn", "of another run", "of another specification", "of a rate"]
)
def test_a_bad_checkpoint_is_named_and_can_be_deleted(uninterrupted, tmp_path, monkeypatch, kind):
    path = interrupted_record(tmp_path, monkeypatch)
    content = path.read_bytes()
    saved = read_checkpoint(path)
    if kind == "torn":
        path.write_bytes(content[:-10])
    elif kind == "of another run":
        path.write_bytes((path.parent / "plain-seed00.pt").read_bytes())
    else:
        training = saved["owner"]["training"]
        change = {"seed": 4} if kind == "of another specification" else {"lr": 0.3}
        identity = saved["owner"] | {"training": training | change}
        write_checkpoint(path, saved | {"owner": owner(path.stem, identity)})
    words = "is torn or edited" if kind == "torn" else "belongs to another run"
    for _ in range(2):
        with pytest.raises(RecordError, match=rf"plain-seed01.pt {words}.*amgd repair"):
            record(CARTPOLE, tmp_path)
    kept = read_checkpoint(path.parent / "plain-seed00.pt")
    assert kept["state"]["k"] == kept["rows"] == 2  # nothing else is lost
    path.unlink()
    assert_part(record(CARTPOLE, tmp_path, variants=["plain"]), uninterrupted("cartpole"), "plain")


def test_torn_checkpoints_do_not_hide_the_others(tmp_path, monkeypatch):
    interrupted_record(tmp_path, monkeypatch).write_bytes(b"torn")
    assert checkpointed_rows(Record(tmp_path)) == {"plain-seed00": 2, "plain-seed02": 2}


def test_an_edited_table_stops_the_run(tmp_path):
    record(CARTPOLE, tmp_path, variants=["plain"])
    path = tmp_path / "plain-seed01.csv"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"1", b"2", 1))
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(RecordError, match=r"plain-seed01.csv is torn or edited"):
        record(CARTPOLE, tmp_path)
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert not list(tmp_path.glob("theorem1*"))
    path.write_bytes(content)
    record(CARTPOLE, tmp_path, variants=["theorem1"])


def test_a_second_run_on_a_record_is_refused(uninterrupted, tmp_path):
    refused = []

    def second(_, name):
        me = rf"another process is writing .* held by process {os.getpid()} on {gethostname()} .*w"
        with pytest.raises(RecordError, match=me):
            record(CARTPOLE, tmp_path)
        refused.append(name)

    made = record(CARTPOLE, tmp_path, variants=["plain"], on_progress=second)
    assert_part(made, uninterrupted("cartpole"), "plain")
    assert refused == list(made.files)


def test_a_locked_folder_is_left_alone(tmp_path):
    """Not even a manifest is put into a folder where another process begins."""
    with FileLock(tmp_path / LOCK), pytest.raises(RecordError, match=r"another process is writing"):
        record(CARTPOLE, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_the_lock_is_free_after_an_error(tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_run_task", fail)
        with pytest.raises(type(error)):
            record(GRID_WORLD, tmp_path)
    record(GRID_WORLD, tmp_path, variants=["plain"])


@pytest.mark.parametrize("at", range(1, 12, 2))
def test_a_disk_that_fills_up_loses_nothing(uninterrupted, tmp_path, monkeypatch, at):
    """Room for the first writes only, be they tables, manifests or checkpoints."""
    fsync, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > at:
            raise OSError(28, "No space left on device")
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space"):
            record(CARTPOLE, tmp_path, variants=["plain"], seeds=[0, 1], checkpoint_seconds=1e-9)
    made = record(CARTPOLE, tmp_path, variants=["plain"], seeds=[0, 1])
    whole = uninterrupted("cartpole")
    for stem in ("plain-seed00", "plain-seed01"):
        assert made.files[stem]["sha256"] == whole.files[stem]["sha256"]
    made.verify()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"file"):
            record(GRID_WORLD, path)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"variants": []}, ValueError, r"variants must be some of .*got \[\] .*expected some of"),
        ({"variants": ["plain", "sgd"]}, ValueError, r"variants must be some of .*'sgd'"),
        ({"variants": "plain"}, TypeError, r"variants must be a list: got 'plain'"),
        ({"seeds": [3]}, ValueError, r"seeds must be some of .*got \[3\] .*\[0, 1, 2\]"),
        ({"seeds": [-1]}, ValueError, r"seeds must be some of"),
        ({"seeds": 2}, TypeError, r"seeds must be a list: got 2"),
        ({"jobs": 0}, ValueError, r"jobs must not be 0: got 0"),
        ({"jobs": 1.5}, TypeError, r"jobs must be an integer: got 1.5"),
        ({"jobs": True}, TypeError, r"jobs must be an integer: got True"),
        ({"checkpoint_seconds": -1}, ValueError, r"checkpoint_seconds must lie in"),
        ({"checkpoint_seconds": float("inf")}, ValueError, r"checkpoint_seconds must lie in"),
        ({"checkpoint_seconds": "30"}, TypeError, r"checkpoint_seconds must be a real number"),
    ],
    ids=str,
)
def test_arguments_are_refused(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        record(CARTPOLE, tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


def test_only_a_specification_is_run(tmp_path):
    with pytest.raises(TypeError, match=r"spec must be a Experiment: got str; make one"):
        record("figure1", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_another_specification_is_refused(uninterrupted):
    whole = uninterrupted("cartpole")
    before = tables(whole.path)
    other = replace(CARTPOLE, training=replace(TRAINING, seed=4))
    with pytest.raises(RecordError, match=r"another specification: .*training.seed was 3, is 4;"):
        record(other, whole.path)
    assert tables(whole.path) == before
