"""Mended, merged and carried over: every damage, every cut, and records of the first format."""

import hashlib
import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from amgd.experiments import repair as module
from amgd.experiments.checkpoints import CHECKPOINTS, Checkpoints
from amgd.experiments.experiment import plain_hash
from amgd.experiments.named import named
from amgd.experiments.records import FORMAT, MANIFEST, Record, RecordError
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.repair import SET_ASIDE, merge, recompute, repair
from amgd.experiments.reruns import changes_since, first_difference, rerun
from amgd.experiments.runner import LOCK, record
from amgd.reinforce.training import TrainingSpec

GRID = replace(named("figure1-grid10", "smoke"), variants=("plain", "matched", "tuned"))
TRAINING = TrainingSpec(
    environment="CartPole-v0", hidden=(3,), iterations=2, batch=2, horizon=15, evaluation_episodes=2
)
CARTPOLE = ReinforceSpec(
    training=TRAINING,
    variants=("plain", "matched", "tuned"),
    rates={"tuned": (0.1, 1.0)},
    seeds=3,
    tuning_seeds=2,
)
SPECS = {"grid world": GRID, "cartpole": CARTPOLE}


@pytest.fixture
def copy(whole, tmp_path):
    return lambda name: shutil.copytree(whole(name).path, tmp_path / "copy")


def files(path):
    """The content of every file of a record but for its manifest and lock, wherever it lies."""
    found = {file.relative_to(path): file for file in sorted(path.rglob("*")) if file.is_file()}
    return {
        str(name): file.read_bytes()
        for name, file in found.items()
        if name.name not in (MANIFEST, LOCK, f"{LOCK}-holder")
    }


def tables(path):
    return {file.name: file.read_bytes() for file in path.glob("*.csv")}


def edit(path, change):
    data = json.loads((path / MANIFEST).read_text())
    change(data)
    (path / MANIFEST).write_text(json.dumps(data))


def mended(path, spec):
    _, done, lost = repair(path)
    return recompute(path, spec, lost), done, lost


def assert_whole(path, whole):
    found = Record(path)
    found.verify()
    assert tables(path) == tables(whole.path)
    assert found.digest == whole.digest
    assert found.tuning == whole.tuning


# --- damages --------------------------------------------------------------------------------------
def torn(path, name="plain-seed01"):
    file = path / f"{name}.csv"
    file.write_bytes(file.read_bytes()[:-9])


def edited(path):
    file = path / "plain-seed01.csv"
    file.write_bytes(file.read_bytes().replace(b"1", b"2", 1))


def missing(path):
    (path / "plain-seed01.csv").unlink()


def unlisted(path):
    """A kill between the two writes leaves it."""
    edit(path, lambda data: data["files"].pop("plain-seed01"))


def no_table(path):
    """As its checksum says, but no table of numbers."""
    content = b"k,x\n1,word\n"
    (path / "plain-seed01.csv").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    edit(path, lambda data: data["files"]["plain-seed01"].update(sha256=digest))


def wrong_rows(path):
    edit(path, lambda data: data["files"]["plain-seed01"].update(rows=99))


def lost_tuning(path):
    edit(path, lambda data: data["tuning"].clear())


def all_of_a_variant(path):
    for seed in range(3):
        torn(path, f"tuned-seed{seed:02d}")


def tuned_and_its_tuning(path):
    torn(path, "tuned-seed02")
    lost_tuning(path)


def torn_checkpoint(path, name="plain-seed01"):
    (path / CHECKPOINTS / f"{name}.pt").write_bytes(b"torn")


def saved(path, name, identity, seed=1):
    saving = Checkpoints(path / CHECKPOINTS, name, identity, {}, seconds=0.0)
    saving.offer([seed], 1, lambda: [{"k": 1}])


def foreign_checkpoint(path):
    spec = Record(path).spec
    other = {"n": 5} if spec.kind == "gridworld" else {"training": replace(TRAINING, seed=9)}
    saved(path, "plain", replace(spec, **other).identity("plain"))


def checkpoint_of_another_seed(path):
    saved(path, "plain", Record(path).spec.identity("plain"), seed=2)
    folder = path / CHECKPOINTS
    (folder / "plain-seed02.pt").rename(folder / "plain-seed01.pt")


def checkpoint_of_another_variant(path):
    saved(path, "momentum", {"kind": "mine"})


DAMAGES = {
    torn: (["plain-seed01.csv is set aside: its run is taken out"], ["plain-seed01"]),
    edited: (["plain-seed01.csv is set aside: its run is taken out"], ["plain-seed01"]),
    missing: (["plain-seed01.csv is missing: its run is taken out"], ["plain-seed01"]),
    unlisted: (["plain-seed01.csv is set aside: no run has finished it"], []),
    no_table: (["plain-seed01.csv is set aside: its run is taken out"], ["plain-seed01"]),
    wrong_rows: (["plain-seed01.csv is set aside: its run is taken out"], ["plain-seed01"]),
    lost_tuning: ([], []),
    all_of_a_variant: (
        [f"tuned-seed0{seed}.csv is set aside: its run is taken out" for seed in range(3)],
        [f"tuned-seed0{seed}" for seed in range(3)],
    ),
    tuned_and_its_tuning: (
        ["tuned-seed02.csv is set aside: its run is taken out"],
        ["tuned-seed02"],
    ),
    torn_checkpoint: (["checkpoints/plain-seed01.pt is set aside: it is torn"], []),
    foreign_checkpoint: (["checkpoints/plain-seed01.pt is set aside: it is of another run"], []),
    checkpoint_of_another_seed: (
        ["checkpoints/plain-seed01.pt is set aside: it is of another run"],
        [],
    ),
    checkpoint_of_another_variant: (
        ["checkpoints/momentum-seed01.pt is set aside: it is of another run"],
        [],
    ),
}


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_every_damage_is_mended_and_nothing_is_deleted(whole, copy, name, damage):
    path, spec = copy(name), SPECS[name]
    damage(path)
    before = files(path)
    found, done, lost = mended(path, spec)
    assert (done, lost) == DAMAGES[damage]
    after = files(path)
    assert not Counter(before.values()) - Counter(after.values())
    if damage is unlisted:  # what no run has finished is not asked for here
        assert not found.has("plain", 1)
        record(spec, path)
    assert_whole(path, whole(name))
    assert not list((path / CHECKPOINTS).iterdir())
    # Again there is nothing to do.
    manifest = (path / MANIFEST).read_bytes()
    again, done, lost = mended(path, spec)
    assert (done, lost) == ([], [])
    assert files(path) == files(again.path)
    assert (path / MANIFEST).read_bytes() == manifest


def test_all_runs_for_tuning_are_found_again(whole, copy):
    path = copy("cartpole")
    names = sorted(file.stem for file in path.glob("tuning-*.csv"))
    for stem in names:
        torn(path, stem)
    lost_tuning(path)
    _, done, lost = mended(path, CARTPOLE)
    assert (len(done), lost) == (4, names)
    assert_whole(path, whole("cartpole"))


def test_everything_is_lost(whole, copy):
    path = copy("cartpole")
    for file in path.glob("*.csv"):
        file.write_bytes(b"")
    mended(path, CARTPOLE)
    assert_whole(path, whole("cartpole"))


def test_only_what_is_lost_is_run_again(copy, tmp_path):
    """Of a record that has some seeds of some variants, as one job of an array has."""
    path = record(CARTPOLE, tmp_path / "part", variants=["plain", "tuned"], seeds=[0, 2]).path
    before = tables(path)
    torn(path, "tuned-seed02")
    torn(path, "tuning-1-seed1001")
    _, _, lost = mended(path, CARTPOLE)
    assert lost == ["tuned-seed02", "tuning-1-seed1001"]
    assert tables(path) == before


def test_files_that_are_set_aside_never_collide(copy):
    path = copy("cartpole")
    contents = [b"", b"one", b"two", b"three"]
    for content in contents:
        (path / "plain-seed01.csv").write_bytes(content)
        torn_checkpoint(path)
        (path / "notes.csv").write_bytes(content)
        mended(path, CARTPOLE)
    aside = Counter(file.read_bytes() for file in (path / SET_ASIDE).iterdir())
    assert aside == Counter(2 * contents + 4 * [b"torn"])


def test_a_repair_that_is_killed_at_any_write_is_repeated(whole, copy, monkeypatch):
    """Before and after each renaming, also of the runs that are made again."""
    original = copy("cartpole")
    torn(original)
    torn(original, "tuning-1-seed1000")
    torn_checkpoint(original)
    (original / "unlisted.csv").write_bytes(b"unlisted")
    real = {name: getattr(os, name) for name in ("rename", "replace")}
    at = 0
    while True:
        path = original.parent / f"{at}"
        shutil.copytree(original, path)
        before, calls = files(path), []

        def deadly(name, at=at, calls=calls):
            def call(*arguments):
                calls.append(name)
                if len(calls) == at // 2 and at % 2 == 0:
                    raise KeyboardInterrupt
                real[name](*arguments)
                if len(calls) == at // 2:
                    raise KeyboardInterrupt

            return call

        with monkeypatch.context() as patch:
            for name in real:
                patch.setattr(os, name, deadly(name))
            try:
                mended(path, CARTPOLE)
                finished = True
            except KeyboardInterrupt:
                finished = False
        mended(path, CARTPOLE)
        assert_whole(path, whole("cartpole"))
        assert not Counter(before.values()) - Counter(files(path).values())
        if finished and at >= 2:
            break
        at += 1
    assert at > 12


def test_a_torn_manifest_is_not_guessed(copy):
    path = copy("cartpole")
    (path / MANIFEST).write_text("{")
    before = files(path)
    with pytest.raises(RecordError, match=r"manifest.json is torn or edited: .*restore it from"):
        repair(path)
    assert files(path) == before
    with pytest.raises(RecordError, match="no record in"):
        repair(path / "nothing")
    assert not (path / "nothing").exists()


# --- merging --------------------------------------------------------------------------------------
def parts_of(spec, folder, cuts):
    """Records of some seeds and variants each, as an array of jobs makes them."""
    return [
        record(spec, folder / f"{i}", variants=variants, seeds=seeds).path
        for i, (variants, seeds) in enumerate(cuts)
    ]


CUTS = {
    "seeds": [(None, [0]), (None, [1, 2])],
    "one seed each": [(None, [2]), (None, [0]), (None, [1])],
    "variants": [(["plain"], None), (["matched"], None), (["tuned"], None)],
    "both": [(["plain", "tuned"], [0, 1]), (["plain", "tuned"], [2]), (["matched"], None)],
    "overlapping": [(None, [0, 1]), (None, [1, 2]), (["plain"], None)],
    "alike": [(None, None), (None, None)],
}


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("target", ["new", "begun", "a source"])
def test_the_jobs_of_an_array_are_merged(whole, tmp_path, name, cuts, target):
    parts = parts_of(SPECS[name], tmp_path, cuts)
    before = [files(part) for part in parts]
    path = parts[0] if target == "a source" else tmp_path / "all"
    if target == "begun":
        record(SPECS[name], path, variants=["matched"], seeds=[1])
    made = merge(path, parts)
    assert made.spec == SPECS[name]
    assert_whole(path, whole(name))
    for part, kept in zip(parts, before, strict=True):
        assert part == path or files(part) == kept
    manifest = (path / MANIFEST).read_bytes()
    merge(path, parts)  # again there is nothing to do
    assert (path / MANIFEST).read_bytes() == manifest


def test_specifications_of_parts_become_one_of_the_whole(whole, tmp_path):
    """Each job has a file of its own, with its variants and the largest seed that it needs."""
    first = replace(CARTPOLE, variants=("plain",), rates={}, seeds=2)
    second = replace(CARTPOLE, variants=("matched", "tuned"))
    paths = [record(spec, tmp_path / f"{spec.seeds}").path for spec in (first, second)]
    made = merge(tmp_path / "all", paths)
    assert made.spec == CARTPOLE
    assert made.seeds("plain") == (0, 1)
    record(CARTPOLE, made.path)
    assert_whole(made.path, whole("cartpole"))


def test_runs_for_tuning_may_be_spread_over_jobs(whole, tmp_path):
    """The winner is found when they are together."""
    stems = [f"tuning-{rate}-seed{seed}" for rate in ("0.1", "1") for seed in (1000, 1001)]
    parts = [record(CARTPOLE, tmp_path / stem, only={stem}).path for stem in stems]
    assert all(Record(part).tuning == {} for part in parts)
    made = merge(tmp_path / "all", parts)
    assert made.tuning == whole("cartpole").tuning
    at_once = record(CARTPOLE, tmp_path / "at_once", only=set(stems))
    assert (made.digest, made.files.keys()) == (at_once.digest, at_once.files.keys())
    record(CARTPOLE, made.path)
    assert_whole(made.path, whole("cartpole"))


def test_a_merged_run_keeps_its_surroundings(tmp_path):
    parts = parts_of(GRID, tmp_path, [(None, [0]), (None, [1])])
    edit(parts[1], lambda data: data["surroundings"][0].update(processor="another"))
    made = merge(tmp_path / "all", parts)
    assert made.places("plain-seed01")[0]["processor"] == "another"
    assert made.places("plain-seed00")[0]["processor"] != "another"
    assert Record(made.path).files["plain-seed01"]["surroundings"] == [1]


def other_bits(path):
    record(GRID, path, variants=["plain"])
    edited(path)
    content = (path / "plain-seed01.csv").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    edit(path, lambda data: data["files"]["plain-seed01"].update(sha256=digest))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (other_bits, r"plain-seed01 differs in .*other and .*mine \(expected one of them"),
        (lambda path: record(replace(GRID, rate=0.3), path), r"plain .*: rate was 0\.3, is 0\.001"),
        (
            lambda path: record(replace(GRID, delta=0.3, variants=("matched",)), path),
            r"matched .*: delta was 0\.3, is 0\.1",
        ),
        (
            lambda path: record(replace(GRID, n=5, variants=("accelerated",)), path),
            "accelerated .*: n was 5, is 4",
        ),
        (
            lambda path: record(CARTPOLE, path, variants=["matched"]),
            "is of the kind 'reinforce' .expected 'gridworld'",
        ),
        (lambda path: torn(record(GRID, path).path), "plain-seed01.csv is torn or edited"),
        (lambda path: path.mkdir(), "no record in .*other"),
    ],
    ids=[
        "other bits",
        "other rate",
        "other parameter of another variant",
        "other problem of another variant",
        "other kind",
        "torn",
        "no record",
    ],
)
@pytest.mark.parametrize("target", ["new", "mine"])
def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path, make, words, target):
    mine = record(GRID, tmp_path / "mine", variants=["plain"]).path
    make(tmp_path / "other")
    before = files(mine), (mine / MANIFEST).read_bytes()
    with pytest.raises(RecordError, match=words):
        merge(tmp_path / target, [mine, tmp_path / "other"])
    assert (files(mine), (mine / MANIFEST).read_bytes()) == before
    assert not (tmp_path / "new").exists()


def test_winners_that_differ_are_refused(whole, copy, tmp_path):
    """Two jobs with a grid each, and runs of the winner of each."""
    best = float(whole("cartpole").tuning["tuned"]["best"])
    (other,) = {0.1, 1.0} - {best}
    part = record(replace(CARTPOLE, rates={"tuned": (other,)}), tmp_path / "part").path
    with pytest.raises(
        RecordError, match=rf"tuned than .*training.lr was {best}, is {other} .expec"
    ):
        merge(copy("cartpole"), [part])
    # The grids alone fit together: the runs of the winner are made when they are one.
    grids = [
        record(replace(CARTPOLE, rates={"tuned": (rate,)}), tmp_path / f"{rate}", only=stems).path
        for rate, stems in (
            (0.1, {"tuning-0.1-seed1000", "tuning-0.1-seed1001"}),
            (1.0, {"tuning-1-seed1000", "tuning-1-seed1001"}),
        )
    ]
    made = merge(tmp_path / "all", grids, CARTPOLE)
    record(CARTPOLE, made.path)
    assert_whole(made.path, whole("cartpole"))


def test_nothing_is_merged_from_nothing(tmp_path):
    with pytest.raises(ValueError, match=r"sources is empty: got no record"):
        merge(tmp_path / "all", [])


def test_a_merge_that_is_killed_at_any_write_is_repeated(whole, tmp_path, monkeypatch):
    parts = parts_of(CARTPOLE, tmp_path, CUTS["seeds"])
    real, at, finished = os.replace, 1, False
    while not finished:
        calls = []

        def deadly(*arguments, at=at, calls=calls):
            real(*arguments)
            calls.append(1)
            if len(calls) == at:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", deadly)
            try:
                merge(tmp_path / f"all{at}", parts)
                finished = True
            except KeyboardInterrupt:
                merge(tmp_path / f"all{at}", parts)
        assert_whole(tmp_path / f"all{at}", whole("cartpole"))
        at += 3


# --- the first format -----------------------------------------------------------------------------
FIRST = sorted((Path(__file__).parent / "format1").iterdir())
"""Two seeds of two variants, made by the last version that wrote that format."""


@pytest.fixture(params=FIRST, ids=lambda path: path.name)
def first(request, tmp_path):
    return shutil.copytree(request.param, tmp_path / request.param.name)


def test_a_record_of_the_first_format_is_refused_with_the_cure(first):
    with pytest.raises(RecordError, match=r"has format 1: expected 2; `amgd repair` rewrites"):
        Record(first)


def test_it_is_carried_over_with_every_byte_of_its_tables(first):
    before, old = files(first), json.loads((first / MANIFEST).read_text())
    spec = named(first.name, "smoke")
    found, done, lost = mended(first, spec)
    assert (done, lost) == ([f"{MANIFEST} is rewritten in format {FORMAT}"], [])
    assert files(first) == before
    found.verify()
    assert found.spec == spec
    new = json.loads((first / MANIFEST).read_text())
    assert new["hash"] == plain_hash(new["spec"])
    assert new["surroundings"] == old["surroundings"]
    assert new["tuning"] == {variant: old["tuning"][variant] for variant in new["tuning"]}
    for stem, entry in old["files"].items():
        assert new["files"][stem] == entry | {"surroundings": [entry["surroundings"]]}
    names = {stem.rpartition("-seed")[0] for stem in old["files"]}
    assert new["identities"].keys() == names
    assert new["identities"]["plain"] == json.loads(json.dumps(spec.identity("plain")))
    assert mended(first, spec)[1:] == ([], [])


def test_it_is_what_comes_out_today(first):
    """To the last bit, if this is the processor and these are the versions that made it."""
    found = repair(first)[0]
    for variant in ("plain", "tuned"):
        for seed, again in rerun(found, variant, [0, 1], rows=9).items():
            difference = first_difference(found.read(variant, seed), again)
            assert difference is None or changes_since(found, variant, seed).place


def test_it_grows(first, tmp_path):
    spec = replace(named(first.name, "smoke"), variants=("plain", "tuned"))
    repair(first)
    found, at_once = record(spec, first), record(spec, tmp_path / "at_once")
    assert found.seeds("tuned") == (0, 1, 2)
    for stem in ("plain-seed02", "tuned-seed02"):
        assert found.files[stem]["sha256"] == at_once.files[stem]["sha256"]
    if found.places("plain-seed00")[0]["processor"] == found.places("plain-seed02")[0]["processor"]:
        assert found.digest == at_once.digest


def test_its_lost_tuning_is_found_again(first, tmp_path):
    before = tables(first)
    tuning = json.loads((first / MANIFEST).read_text())["tuning"]
    lost_tuning(first)
    spec = replace(named(first.name, "smoke"), variants=("plain", "tuned"), seeds=2)
    found, _, _ = mended(first, spec)
    assert found.tuning.keys() == tuning.keys()
    assert found.tuning["tuned"]["best"] == tuning["tuned"]["best"]
    assert found.seeds("tuned") == (0, 1)
    kept = files(first).values()
    assert all(content in kept for content in before.values())


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["spec"].update(seeds=7),
        lambda data: data.update(hash="0" * 64),
        lambda data: data.pop("hash"),
        lambda data: data.pop("tuning"),
        lambda data: data["files"]["plain-seed00"].pop("sha256"),
        lambda data: data["files"]["plain-seed00"].update(surroundings=7),
        lambda data: data["files"].update({"../../x-seed00": data["files"]["plain-seed00"]}),
        lambda data: data.update(files=[]),
        lambda data: data.update(spec=[], hash=plain_hash([])),
    ],
)
def test_an_edited_manifest_of_the_first_format_is_refused(first, change):
    edit(first, change)
    before = files(first), (first / MANIFEST).read_bytes()
    with pytest.raises(
        RecordError, match=r"manifest.json is torn or edited: .*restore it from git"
    ):
        repair(first)
    assert (files(first), (first / MANIFEST).read_bytes()) == before


def test_the_records_of_the_book_are_of_the_present_format():
    results = Path(module.__file__).parents[2] / "book" / "results"
    for path in results.glob(f"*/{MANIFEST}"):
        found = Record(path.parent)
        for stem, entry in found.files.items():
            content = (path.parent / f"{stem}.csv").read_bytes()
            assert entry["sha256"] == hashlib.sha256(content).hexdigest()
            assert np.isfinite(entry["seconds"])
