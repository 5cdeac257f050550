"""Killed and continued at will: the finished record has the bits of an uninterrupted one.

The environment variable AMGD_KILLS sets how often each experiment is killed at random moments
(default 4; a release is tried with 20).
"""

import itertools
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from amgd.experiments.checkpoints import CHECKPOINTS
from amgd.experiments.experiment import from_toml, to_toml
from amgd.experiments.named import named
from amgd.experiments.progress import planned_rows
from amgd.experiments.records import Record, RecordError
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.runner import LOCK, record
from amgd.reinforce.training import TrainingSpec

KILLS = int(os.environ.get("AMGD_KILLS", "4"))
SMOKE = {
    name: named(name, "smoke") for name in ("figure1-grid10", "figure2-cartpole", "figure3-swimmer")
}
TRAINING = TrainingSpec(
    environment="CartPole-v0",
    hidden=(4,),
    iterations=2,
    batch=2,
    horizon=20,
    evaluation_episodes=2,
)
TINY = ReinforceSpec(training=TRAINING, variants=("plain",), seeds=2)
NORMALISED = from_toml(
    to_toml(TINY).replace("[training]\n", "[training]\nnormalise_observations = 2.0\n")
)
# Two runs of a second or two.
LONG = replace(
    named("figure3-swimmer", "smoke"),
    training=replace(SMOKE["figure3-swimmer"].training, iterations=30, batch=5, horizon=100),
    variants=("plain",),
)

# A server that has imported the slow packages once and makes processes that can be killed.
FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(
    ["amgd.experiments.runner", "amgd.experiments.reinforce", "torch._dynamo"]
)


def start(target, *arguments, **options):
    process = FORK.Process(target=target, args=arguments, kwargs=options)
    process.start()
    return process


def kill(process):
    process.kill()
    process.join()


def tables(path):
    return {file.name: file.read_bytes() for file in path.glob("*.csv")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The records of these specifications, made in one go, with the seconds that takes."""
    made = {}
    start(int).join()  # the server's imports are no part of the seconds

    def of(spec):
        if spec not in made:
            begin = time.monotonic()
            path = tmp_path_factory.mktemp("whole")
            process = start(record, spec, path)
            process.join()
            made[spec] = Record(path), time.monotonic() - begin
        return made[spec]

    return of


def complete(path):
    """Whether all runs are recorded, those of the grids among them."""
    if not (path / "manifest.json").exists():
        return False
    found = Record(path)
    plan = planned_rows(found.spec, found.spec.variants, range(found.spec.seeds))
    return plan.keys() <= found.files.keys()


def assert_same(path, whole):
    found = Record(path)
    found.verify()
    assert complete(path)
    assert found.digest == whole.digest
    assert found.tuning == whole.tuning
    assert tables(path) == tables(whole.path)
    assert not list((path / CHECKPOINTS).iterdir())
    assert not [file for file in path.glob(".*") if file.name != LOCK]


def assert_readable(path):
    """At any moment a record holds finished runs and nothing that misleads."""
    if path.exists() and (path / "manifest.json").exists():
        Record(path).verify(unlisted=False)


@pytest.mark.parametrize("name", SMOKE)
def test_killed_at_random_moments(uninterrupted, tmp_path, name):
    spec, rng = SMOKE[name], np.random.default_rng()
    whole, seconds = uninterrupted(spec)
    killed = finished = 0
    while killed < KILLS:
        path = tmp_path / str(finished)
        process = start(record, spec, path, checkpoint_seconds=0.0)
        process.join(rng.uniform(0.0, 2.0 * seconds / 4))
        kill(process)
        assert_readable(path)
        if process.exitcode == 0:
            assert_same(path, whole)
            finished += 1
        else:
            assert process.exitcode == -signal.SIGKILL
            killed += 1
    path = tmp_path / str(finished)
    record(spec, path, checkpoint_seconds=0.0)
    assert_same(path, whole)


def dies(at, after, spec, path):
    """Record, and be killed before or after the renaming of the `at`-th file."""
    rename, calls = os.replace, itertools.count()

    def deadly(*arguments):
        now = next(calls) == at
        if now and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*arguments)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = deadly
    record(spec, path, checkpoint_seconds=0.0)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_write(uninterrupted, tmp_path, after):
    """The manifest, two checkpoints after each of two rows, then table and manifest of each run."""
    whole, _ = uninterrupted(TINY)
    names = set()
    for at in range(9):
        path = tmp_path / str(at)
        process = start(dies, at, after, TINY, path)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert_readable(path)
        names |= {file.name for file in path.glob("*.csv")}
        record(TINY, path, checkpoint_seconds=0.0)
        assert_same(path, whole)
    process = start(dies, 9, after, TINY, tmp_path / "9")
    process.join()
    assert process.exitcode == 0  # there is no tenth write
    assert names == set(tables(whole.path))


@pytest.mark.parametrize("spec", [TINY, NORMALISED], ids=["plain", "normalised"])
def test_killed_again_and_again_at_the_same_write(uninterrupted, tmp_path, spec):
    """Each try gets one write further, and none loses what the one before has written."""
    whole, _ = uninterrupted(spec)
    tries = 0
    while not complete(tmp_path):
        process = start(dies, 1, True, spec, tmp_path)
        process.join()
        tries += 1
        assert tries < 10
    record(spec, tmp_path)
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_other_signals_lose_nothing(uninterrupted, tmp_path, number):
    spec = LONG
    process = start(record, spec, tmp_path, checkpoint_seconds=0.0)
    wait_for(lambda: list((tmp_path / CHECKPOINTS).glob("*.pt")), process)
    os.kill(process.pid, number)
    process.join()
    assert process.exitcode != 0
    assert_readable(tmp_path)
    record(spec, tmp_path, checkpoint_seconds=0.0)
    assert_same(tmp_path, uninterrupted(spec)[0])


def wait_for(condition, process, seconds=300):
    """Wait until something has happened while a process is at work."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.is_alive()
        assert time.monotonic() < end
        time.sleep(0.01)


def works(process):
    """Whether a process uses the processor in half a second."""
    try:
        before = sum(process.cpu_times()[:2])
        time.sleep(0.5)
        return sum(process.cpu_times()[:2]) > before
    except psutil.NoSuchProcess:
        return False


def test_a_caller_is_killed_while_its_workers_live(uninterrupted, tmp_path):
    """Its two workers are in the midst of their runs when the next process begins."""
    process = start(record, LONG, tmp_path, jobs=2, checkpoint_seconds=0.0)
    wait_for(lambda: len(list((tmp_path / CHECKPOINTS).glob("*.pt"))) == 2, process)
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 2
    kill(process)
    record(LONG, tmp_path, checkpoint_seconds=0.0)
    _, alive = psutil.wait_procs(workers, timeout=60)
    # One whose run had ended waits for the next: joblib sends it away after five minutes.
    assert [one for one in alive if works(one)] == []
    record(LONG, tmp_path)  # sweeps what the workers may have saved last
    assert_same(tmp_path, uninterrupted(LONG)[0])


def orphan(path):
    """Record in a process whose parent is gone, as after closing the terminal."""
    if os.fork() == 0:
        record(TINY, path)
        os._exit(0)


def test_a_run_outlives_the_shell_that_started_it(uninterrupted, tmp_path):
    process = start(orphan, tmp_path)
    process.join()
    end = time.monotonic() + 60
    while not complete(tmp_path):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert tables(tmp_path) == tables(uninterrupted(TINY)[0].path)


def test_a_second_run_is_refused_while_the_first_lives(uninterrupted, tmp_path):
    process = start(record, LONG, tmp_path, checkpoint_seconds=0.0)
    wait_for(lambda: list((tmp_path / CHECKPOINTS).glob("*.pt")), process)
    with pytest.raises(RecordError, match=r"another process is writing"):
        record(LONG, tmp_path)
    assert process.is_alive()
    process.join()
    assert process.exitcode == 0
    assert_same(tmp_path, uninterrupted(LONG)[0])
