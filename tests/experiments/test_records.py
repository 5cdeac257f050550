"""Records: bits that survive a file, torn and edited files by name, disks that refuse to write."""

import contextlib
import errno
import hashlib
import json
import math
import os
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from amgd.experiments.checkpoints import write_checkpoint
from amgd.experiments.experiment import Tuning, plain_hash
from amgd.experiments.named import named
from amgd.experiments.provenance import changes, surroundings
from amgd.experiments.records import FORMAT, Record, RecordError, write_atomic

SPEC = named("figure1-grid10", "smoke")
PLACE = {
    "revision": "abc",
    "python": "3",
    "system": "Linux",
    "processor": "one",
    "versions": {"numpy": "2"},
}


def add(record, variant="plain", seed=0, rows=3, **options):
    columns = {"episode": np.arange(rows), "neu": np.linspace(1.0, 0.1, rows) + seed}
    record.add(variant, seed, columns, 0.5, places=[PLACE], **options)


@pytest.fixture
def record(tmp_path):
    """Two runs of one variant, and the winner of a grid."""
    made = Record.create(tmp_path / "mine", SPEC)
    for seed in range(2):
        add(made, seed=seed)
    made.set_tuning("tuned", Tuning(("0.1", "0.3"), (2.0, np.inf)))
    return made


def manifest(record):
    return json.loads((record.path / "manifest.json").read_text())


def put(record, data):
    (record.path / "manifest.json").write_text(json.dumps(data))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- numbers --------------------------------------------------------------------------------------
SPECIAL = [
    np.inf,
    -np.inf,
    -0.0,
    0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
]


@pytest.mark.parametrize(
    "values",
    [
        np.array(SPECIAL),
        np.array([0.1 + 0.2, 1 / 3, math.pi, 1e22, 1e23, 9007199254740993.0]),
        np.nextafter(1.0, [0.0, 2.0]),
        np.random.default_rng(0).integers(0, 2**64, 2000, dtype=np.uint64).view(np.float64),
    ],
    ids=["special", "decimal", "neighbours of 1", "random bits"],
)
def test_numbers_keep_their_bits(tmp_path, values):
    record = Record.create(tmp_path, SPEC)
    k = np.arange(len(values))
    record.add("plain", 0, {"episode": k, "neu": values}, 0.0)
    table = Record(tmp_path).read("plain", 0)
    assert table["episode"].dtype == np.int64
    np.testing.assert_array_equal(table["episode"], k)
    # NaN comes back as NaN; its sign and payload have no meaning here.
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(np.isnan(table["neu"]), ~numbers)
    np.testing.assert_array_equal(
        table["neu"].view(np.int64)[numbers], values.view(np.int64)[numbers]
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=arrays(np.float64, st.integers(0, 20), elements=st.floats(allow_nan=False)))
def test_any_numbers_keep_their_bits(tmp_path, values):
    record = Record.create(tmp_path / "any", SPEC)
    record.add("plain", 0, {"episode": np.arange(len(values)), "neu": values}, 0.0, places=[PLACE])
    read = record.read("plain", 0)["neu"]
    np.testing.assert_array_equal(read.view(np.int64), values.view(np.int64))


def test_numbers_of_single_precision_keep_their_value(tmp_path):
    values = np.random.default_rng(0).normal(size=50).astype(np.float32)
    record = Record.create(tmp_path, SPEC)
    record.add("plain", 0, {"episode": np.arange(50), "neu": values}, 0.0)
    np.testing.assert_array_equal(record.read("plain", 0)["neu"].astype(np.float32), values)


def test_a_big_table_keeps_its_bits(tmp_path):
    record = Record.create(tmp_path, SPEC)
    values = np.random.default_rng(0).normal(size=(10, 10_000))
    columns = {"episode": np.arange(10_000)} | {f"c{i}": row for i, row in enumerate(values)}
    record.add("plain", 0, columns, 0.0)
    table = record.read("plain", 0)
    np.testing.assert_array_equal([table[f"c{i}"] for i in range(10)], values)


# --- a record as it should be ---------------------------------------------------------------------
def test_a_record_is_read_as_it_was_written(record):
    again = Record(record.path)
    assert again.spec == SPEC
    assert again.seeds("plain") == (0, 1)
    assert again.has("plain", 1)
    assert not again.has("plain", 2)
    assert again.digest == record.digest
    assert again.seconds == 1.0
    assert again.tuning == {"tuned": {"tried": ["0.1", "0.3"], "areas": [2.0, None], "best": "0.1"}}
    assert again.surroundings == [PLACE]
    assert again.places("plain-seed01") == [PLACE]
    assert again.identities == {"plain": SPEC.identity("plain")}
    curves = again.curves("plain", "neu")
    assert curves.seeds == (0, 1)
    np.testing.assert_array_equal(curves.k, [0, 1, 2])
    np.testing.assert_array_equal(curves.samples[1], record.read("plain", 1)["neu"])
    again.verify()


def test_the_digest_knows_numbers_and_what_decides_them(tmp_path):
    """Order, times and places do not matter; a bit of a number does, and so does the tuning."""
    one, two, three = (Record.create(tmp_path / name, SPEC) for name in "abc")
    columns = {"episode": np.arange(2), "neu": np.array([1.0, 2.0])}
    for seed in (0, 1):
        one.add("plain", seed, columns, 1.0, places=[PLACE])
    for seed in (1, 0):
        two.add("plain", seed, columns, 2.0, places=[PLACE | {"processor": "another"}])
    three.add("plain", 0, columns, 1.0)
    three.add("plain", 1, columns | {"neu": np.array([1.0, np.nextafter(2.0, 3.0)])}, 1.0)
    assert one.digest == two.digest != three.digest
    two.set_tuning("tuned", Tuning(("0.1", "0.3"), (1.0, 2.0)))
    assert one.digest != two.digest == Record(two.path).digest
    four = Record.create(tmp_path / "d", replace(SPEC, discount=0.8))
    for seed in (0, 1):
        four.add("plain", seed, columns, 1.0)
    assert four.digest not in (one.digest, two.digest)


def test_diverged_runs_have_no_curve(tmp_path):
    record = Record.create(tmp_path, SPEC)
    # The one that diverged at once has no columns but the first.
    record.add("plain", 0, {"episode": np.arange(0)}, 0.1, diverged="in episode 1")
    nothing = record.curves("plain", "neu")
    assert nothing.seeds == ()
    assert nothing.diverged == {0: "in episode 1"}
    add(record, seed=1, rows=2, diverged="in episode 30")
    alone = record.curves("plain", "neu")
    assert alone.seeds == ()
    assert alone.samples.shape == (0, 0)
    add(record, seed=2)
    curves = record.curves("plain", "neu")
    assert curves.seeds == (2,)
    assert curves.samples.shape == (1, 3)
    assert curves.diverged == {0: "in episode 1", 1: "in episode 30"}
    assert len(record.read("plain", 1)["neu"]) == 2
    record.verify()


def test_what_is_not_there_is_told(record):
    with pytest.raises(KeyError, match=r"plain-seed07 is not recorded: .* has"):
        record.read("plain", 7)
    with pytest.raises(KeyError, match=r"'matched' is not recorded: .* has"):
        record.curves("matched", "neu")
    with pytest.raises(ValueError, match=r"column must be one of 'episode', 'neu': got 'x'"):
        record.curves("plain", "x")


@pytest.mark.parametrize("name", ["figure1-grid10", "figure2-cartpole"])
def test_surroundings_are_what_a_manifest_accepts(tmp_path, name):
    """Those of a run in this process, with the environment that it depends on."""
    spec = named(name, "smoke")
    record = Record.create(tmp_path, spec)
    record.add("plain", 0, {"episode": np.arange(1)}, 0.0)
    assert Record(tmp_path).surroundings == [surroundings(spec.environment)]


# --- another one's folder -------------------------------------------------------------------------
def test_another_kind_of_experiment_is_refused_without_a_list_of_all_fields(record):
    words = r"plain was run with another one: kind was 'gridworld', is 'reinforce'; choose"
    with pytest.raises(RecordError, match=words):
        Record.create(record.path, named("figure2-cartpole", "smoke"))


def test_another_specification_is_refused(record):
    other = named("figure1-grid10", "paper")
    before = files(record.path)
    words = r"belongs to another specification: plain .*: episodes was 40, is 1000, n was 4, is 10;"
    for look in (Record.create, Record):
        with pytest.raises(RecordError, match=words):
            look(record.path, other)
    assert files(record.path) == before


def test_a_folder_of_other_tables_is_refused(tmp_path):
    (tmp_path / "salaries.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RecordError, match=r"salaries.csv but no manifest.json: .* choose another"):
        Record.create(tmp_path, SPEC)
    assert [path.name for path in tmp_path.iterdir()] == ["salaries.csv"]


def test_a_folder_without_a_record_is_told(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(RecordError, match=r"no record in .*: got no manifest.json .*amgd run"):
            Record(path)


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Record.create(tmp_path / "file", SPEC)


# --- torn and edited tables -----------------------------------------------------------------------
def test_every_edit_of_a_table_is_found_and_named(record):
    path = record.path / "plain-seed01.csv"
    content = path.read_bytes()
    edits = [content[:n] for n in range(len(content))]
    edits += [content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :] for i in range(len(content))]
    edits += [content + b"\n", content.replace(b"\n", b"\r\n")]
    for edited in edits:
        path.write_bytes(edited)
        for look in (record.verify, lambda: record.read("plain", 1)):
            with pytest.raises(
                RecordError, match=r"plain-seed01.csv is torn or edited: got .*restore"
            ):
                look()
    path.write_bytes(content)
    record.verify()


def test_a_missing_table_is_named(record):
    (record.path / "plain-seed00.csv").unlink()
    with pytest.raises(RecordError, match=r"plain-seed00.csv is missing: got .*restore it"):
        record.verify()
    with pytest.raises(RecordError, match=r"plain-seed00.csv is missing"):
        record.curves("plain", "neu")


def test_an_extra_table_is_named(record):
    (record.path / "plain-seed02.csv").write_text("episode,neu\n")
    with pytest.raises(RecordError, match=r"plain-seed02.csv is not in the manifest: got .*repair"):
        record.verify()
    record.verify(unlisted=False)  # a kill between the two writes leaves it


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"k\nx\n",
        b"k,a\n1\n",
        b"k\n1.5e400,2\n",
        b"k\nnan\n",
        b'"',
        b"\xff\n1\n",
        b"k\n\x00\n",
    ],
    ids=["empty", "no header", "word", "short row", "long row", "nan", "quote", "bytes", "null"],
)
def test_a_table_with_a_fitting_checksum_must_hold_numbers(record, content):
    (record.path / "plain-seed00.csv").write_bytes(content)
    data = manifest(record)
    data["files"]["plain-seed00"]["sha256"] = hashlib.sha256(content).hexdigest()
    put(record, data)
    with pytest.raises(RecordError, match=r"plain-seed00"):
        Record(record.path).verify()


# --- torn and edited manifests --------------------------------------------------------------------
def test_a_torn_manifest_is_named(record):
    path = record.path / "manifest.json"
    content = path.read_bytes()
    length = len(content.rstrip())
    for n in [*range(0, length, 9), *range(length - 20, length)]:
        path.write_bytes(content[:n])
        with pytest.raises(RecordError, match=r"manifest.json is torn or edited: .*restore"):
            Record(record.path)


def edit(*keys, value):
    """Return a function that sets data[key][key]... to a value."""

    def apply(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return apply


def rehashed(key, value):
    """Return a function that sets an entry of the specification, and its hash."""

    def apply(data):
        data["spec"][key] = value
        data["hash"] = plain_hash(data["spec"])

    return apply


ENTRY = ("files", "plain-seed00")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (edit("extra", value=1), "expected a table with"),
        (
            edit("format", value=FORMAT + 1),
            "has format 3: expected 2; .* by the version of amgd that",
        ),
        (edit("format", value=1), "has format 1: expected 2; `amgd repair` rewrites an older one"),
        (edit("format", value="2"), "has format '2'"),
        (edit("format", value=True), "has format True"),
        (edit("format", value=2.0), "format of it has got 2.0"),
        (edit("hash", value="0" * 64), r"was edited: got a specification with hash .*restore it"),
        (edit("hash", value=None), "hash of it has got None"),
        (edit("spec", value=[]), "spec of it has got"),
        (edit("spec", "n", value=5), "was edited: got a specification with hash"),
        (rehashed("n", 5), "was edited: its specification has other runs .*: n was 4, is 5"),
        (rehashed("n", -5), "specification that this version refuses: n must"),
        (rehashed("new", 5), "specification that this version refuses: .*no field 'new'"),
        (rehashed("kind", "mine"), "specification that this version refuses: kind must be one of"),
        (edit("identities", value=[]), "identities of it has got"),
        (edit("identities", value={}), "a run plain-seed00 without an identity"),
        (edit("identities", "plain", value=None), "identities has got None"),
        (edit("identities", "plain", "rate", value=1.0), r"has other runs .*: rate was 1.0, is 0"),
        (edit("identities", "plain", "more", value=1.0), r"has other runs .*: more was 1.0, is N"),
        (edit("files", value=[]), "files of it has got"),
        (edit("files", "../../etc/passwd", value={}), r"got a run '../../etc/passwd'"),
        (edit("files", "plain-seed0", value={}), "got a run 'plain-seed0'"),
        (edit("files", "/etc/x-seed00", value={}), "got a run '/etc/x-seed00'"),
        (edit("files", "plain-seed02", value={}), r"plain-seed02 has got \[\]"),
        (edit("files", "plain-seed02", value=None), "plain-seed02 has got 'NoneType'|NoneType"),
        (edit(*ENTRY, "more", value=1), "plain-seed00 has got"),
        (edit(*ENTRY, "sha256", value=5), "sha256 of plain-seed00 has got 5 .expected str"),
        (edit(*ENTRY, "rows", value="3"), "rows of plain-seed00 has got '3'"),
        (edit(*ENTRY, "rows", value=3.0), "rows of plain-seed00 has got 3.0"),
        (edit(*ENTRY, "seconds", value="1"), "seconds of plain-seed00 has got '1'"),
        (edit(*ENTRY, "seconds", value=-1), "got -1 seconds .* for plain-seed00"),
        (edit(*ENTRY, "seconds", value=float("nan")), "got nan seconds"),
        (edit(*ENTRY, "seconds", value=float("inf")), "got inf seconds"),
        (edit(*ENTRY, "seconds", value=10**400), "got 1000.* seconds .* for plain-seed00"),
        (edit(*ENTRY, "rows", value=10**400), "1000.* rows .* for plain-seed00"),
        (edit(*ENTRY, "finished", value="\x1b[31mnow"), "Invalid isoformat string"),
        (edit(*ENTRY, "finished", value=5), "finished of plain-seed00 has got 5"),
        (edit(*ENTRY, "diverged", value=False), "diverged of plain-seed00 has got False"),
        (edit(*ENTRY, "surroundings", value=0), "surroundings of plain-seed00 has got 0"),
        (edit(*ENTRY, "surroundings", value=[]), r"in surroundings \[\] for plain-seed00"),
        (edit(*ENTRY, "surroundings", value=[0, 1]), r"in surroundings \[0, 1\] for plain-seed00"),
        (edit(*ENTRY, "surroundings", value=[-1]), r"in surroundings \[-1\] for plain-seed00"),
        (edit(*ENTRY, "surroundings", value=[False]), "surroundings has got False"),
        (edit("surroundings", 0, value="here"), "surroundings has got 'here'"),
        (edit("surroundings", 0, value={}), "revision of an entry of surroundings has got None"),
        (edit("surroundings", 0, "versions", value=[]), "versions of an entry of surroundings"),
        (edit("surroundings", 0, "more", value=2), "more of surroundings has got 2"),
        (
            edit("surroundings", 0, "versions", "numpy", value=2),
            "versions of surroundings has got 2",
        ),
        (edit("tuning", value=None), "tuning of it has got None"),
        (edit("tuning", "tuned", value=[]), "tuning of tuned has got list"),
        (edit("tuning", "tuned", "tried", 0, value=0.1), "tried has got 0.1"),
        (edit("tuning", "tuned", "areas", 0, value="2"), "areas has got '2'"),
        (edit("tuning", "tuned", "areas", value=[1.0]), "expected an area for each"),
        (edit("tuning", "tuned", "areas", value=[1.0] * 3), "expected an area for each"),
        (edit("tuning", "tuned", "best", value="9"), "the smallest as the best"),
        (edit("tuning", "tuned", "best", value="0.3"), "the smallest as the best"),
        (edit("tuning", "tuned", value={"tried": [], "areas": [], "best": ""}), "an area for each"),
    ],
)
def test_an_edited_manifest_is_named(record, change, words):
    data = manifest(record)
    change(data)
    put(record, data)
    with pytest.raises(RecordError, match=words) as caught:
        Record(record.path)
    assert "manifest.json" in str(caught.value)


def test_rows_that_do_not_fit_are_found(record):
    data = manifest(record)
    data["files"]["plain-seed00"]["rows"] = 4
    put(record, data)
    with pytest.raises(RecordError, match=r"manifest.json was edited: got 4 rows .*expected 3"):
        Record(record.path).verify()


def test_a_divergence_that_is_edited_away_is_found(record):
    add(record, seed=2, rows=2, diverged="in episode 20")
    data = manifest(record)
    data["files"]["plain-seed02"]["diverged"] = None
    put(record, data)
    with pytest.raises(RecordError, match="got other rows of plain-seed02 than of plain-seed00"):
        Record(record.path).curves("plain", "neu")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(data, path=()):
    """Return the keys that lead to each value within plain data."""
    found = [path] if path else []
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            found += places(value, (*path, key))
    return found


def look(path):
    """Do with a record all that reading can do."""
    found = Record(path)
    found.verify()
    assert isinstance(found.digest, str)
    for stem in found.files:
        assert not changes(found.places(stem)[0], found.places(stem)[-1]).program
    assert found.seconds >= 0
    for variant in found.spec.variants:
        if found.seeds(variant):
            with contextlib.suppress(ValueError):  # a column that is not there
                found.curves(variant, "neu")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_manifest_with_anything_in_it_is_read_or_named(record, data):
    whole = manifest(record)
    broken = json.loads(json.dumps(whole))
    keys = data.draw(st.sampled_from(places(whole)))
    edit(*keys, value=data.draw(plain))(broken)
    put(record, broken)
    try:
        with contextlib.suppress(RecordError):
            look(record.path)
    finally:
        put(record, whole)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | plain.map(lambda data: json.dumps(data).encode()))
def test_anything_in_place_of_a_manifest_is_named(record, content):
    path = record.path / "manifest.json"
    whole = path.read_bytes()
    path.write_bytes(content)
    try:
        with pytest.raises(RecordError, match=r"manifest.json"):
            Record(record.path)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000, '{"format": 1e999}'])
def test_json_that_breaks_parsers_is_named(record, content):
    (record.path / "manifest.json").write_text(content)
    with pytest.raises(RecordError, match=r"manifest.json"):
        Record(record.path)


# --- disks ----------------------------------------------------------------------------------------
def failing(error, at):
    """Return a function that raises an OSError when it is called for the `at`-th time."""
    calls = iter(range(10**6))

    def wrap(real):
        def call(*arguments, **options):
            if next(calls) == at:
                raise OSError(error, os.strerror(error))
            return real(*arguments, **options)

        return call

    return wrap


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("function", ["builtins.open", "os.fsync", "os.replace"])
@pytest.mark.parametrize("at", [0, 1], ids=["the table", "the manifest"])
def test_a_write_that_fails_loses_nothing(record, monkeypatch, error, function, at):
    before = files(record.path)
    module, name = function.split(".")
    # fsync is called for the file and for its folder.
    wrap = failing(error, 2 * at if name == "fsync" else at)
    with monkeypatch.context() as patch:
        target = sys.modules[module]
        patch.setattr(target, name, wrap(getattr(target, name)))
        with pytest.raises(OSError, match=r"manifest.json|matched-seed00.csv") as caught:
            add(record, "matched")
    assert caught.value.errno == error
    assert caught.value.filename.endswith("manifest.json" if at else "matched-seed00.csv")
    after = files(record.path)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"matched-seed00.csv"}
    again = Record(record.path)
    again.verify(unlisted=False)
    assert not again.has("matched", 0)
    add(again, "matched")  # there is room again
    Record(record.path).verify()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("options", ["size=16k", "ro"], ids=["full", "read-only"])
def test_a_real_disk_that_is_full_or_read_only(tmp_path, options):
    """On a small disk, and on one that is read-only from now on."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    command = [
        "mount",
        "-t",
        "tmpfs",
        "-o",
        options.replace("ro", "size=1m"),
        "tmpfs",
        str(mounted),
    ]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("this system lets nobody mount")
    try:
        record = Record.create(mounted / "mine", SPEC)
        add(record)
        if options == "ro":
            subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
        before = files(record.path)
        with pytest.raises(OSError, match=r"matched-seed00.csv") as caught:
            add(record, "matched", rows=2000)
        assert caught.value.errno == (errno.EROFS if options == "ro" else errno.ENOSPC)
        assert files(record.path) == before
        Record(record.path).verify()
        if options == "ro":
            with pytest.raises(OSError, match="other"):
                Record.create(mounted / "other", SPEC)
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("after", [False, True], ids=["before renaming", "after renaming"])
def test_an_interrupted_write_leaves_no_rubbish(tmp_path, monkeypatch, error, after):
    path = tmp_path / "a.txt"
    write_atomic(path, b"one")
    rename = os.replace

    def interrupted(*arguments):
        if after:
            rename(*arguments)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(error):
            write_atomic(path, b"two")
    assert files(tmp_path) == {"a.txt": b"two" if after else b"one"}


@pytest.mark.parametrize(("umask", "rights"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_rights_that_the_umask_leaves(tmp_path, umask, rights):
    before = os.umask(umask)
    try:
        add(Record.create(tmp_path / "mine", SPEC))
        write_checkpoint(tmp_path / "mine" / "plain-seed01.pt", {"state": {}})
    finally:
        os.umask(before)
    found = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "mine").iterdir()}
    names = ("manifest.json", "plain-seed00.csv", "plain-seed01.pt")
    assert found == dict.fromkeys(names, rights)


FSYNC = os.fsync


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES])
@pytest.mark.parametrize("function", ["open", "fsync"])
def test_a_folder_that_cannot_be_flushed_is_tolerated(tmp_path, monkeypatch, number, function):
    """As on some network file systems; its files are flushed all the same."""
    flushed = []

    def refused(what, *rest):
        if function == "open" or stat.S_ISDIR(os.fstat(what).st_mode):
            raise OSError(number, os.strerror(number))
        flushed.append(what)
        FSYNC(what)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, refused)
        write_atomic(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert len(flushed) == (function == "fsync")


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_folder_whose_flush_fails_is_told(tmp_path, monkeypatch, number):
    def fails(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        FSYNC(handle)

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match=os.strerror(number)):
        write_atomic(tmp_path / "a", b"one")


def test_writing_beside_a_missing_folder_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a.txt"):
        write_atomic(tmp_path / "missing" / "a.txt", b"")
