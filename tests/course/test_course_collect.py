"""Every student is somewhere: exports of learning platforms, and who is missing in them."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nbgrader", reason="the coursework needs the extra 'teach'")
pytest.importorskip("resource", reason="grading needs process limits (Linux, macOS)")

import small_course

from tools.course import grade, marks
from tools.course.collect import collect

ROSTER = """id;name;number
u1;Zoë Müller;901
u2;Seán O’Neill;902
u3;García López, José;903
u4;Li Wei;904
u5;Wei Li;905
u6;Nobody Here;906
"""
MOODLE = {
    "Zoë Müller_901_assignsubmission_file/small.ipynb": b"z",
    "O'Neill Seán_77_assignsubmission_file_/small (2).ipynb": b"s2",
    "O'Neill Seán_77_assignsubmission_file_/small.ipynb": b"s",
    "José García López_88_assignsubmission_file_/notes.pdf": b"%PDF",
    "Wei Li_905_assignsubmission_file_/my work.ipynb": b"w",
    "Eve Stranger_99_assignsubmission_file_/small.ipynb": b"e",
}
CANVAS = {
    "mullerzoe_901_5550_small.ipynb": b"z",
    "oneillsean_LATE_11_5551_small-2.ipynb": b"s2",
    "oneillsean_LATE_11_5551_small.ipynb": b"s",
    "garcialopezjose_12_5552_notes.pdf": b"%PDF",
    "liwei_905_5553_my work.ipynb": b"w",
    "strangereve_13_5554_small.ipynb": b"e",
}
PLAIN = {
    "zoe muller/small.ipynb": b"z",
    "SEÁN O'NEILL/1_small/small-2.ipynb": b"s2",
    "SEÁN O'NEILL/1_small/small.ipynb": b"s",
    "u3/notes.pdf": b"%PDF",
    "905.ipynb": b"w",
    "Eve Stranger.ipynb": b"e",
    "__MACOSX/u3/._small.ipynb": b"x",
    ".DS_Store": b"x",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    small_course.make(folder)
    return folder


def exported(folder: Path, files: dict[str, bytes], zipped: bool) -> Path:
    if zipped:
        with zipfile.ZipFile(folder / "export.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return folder / "export.zip"
    for name, content in files.items():
        (folder / "export" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "export" / name).write_bytes(content)
    return folder / "export"


def content(folder: Path) -> dict[str, bytes]:
    found = folder.glob("*/1_small/small.ipynb")
    return {p.parent.parent.name: p.read_bytes() for p in found}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("files", [MOODLE, CANVAS, PLAIN], ids=["moodle", "canvas", "plain"])
def test_everybody_is_somewhere(tmp_path, course, files, zipped) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER, "cp1252" if zipped else "utf-8-sig")
    source, target = exported(tmp_path, files, zipped), tmp_path / "in"
    told = collect(source, target, "1_small", roster, course)
    assert content(target) == {"u1": b"z", "u2": b"s2", "u5": b"w"}
    states = {r["id"]: r["state"] for r in told if r["state"] != "unknown"}
    expected = ["collected", "twice", "unreadable", "missing", "collected", "missing"]
    assert states == dict(zip(("u1", "u2", "u3", "u4", "u5", "u6"), expected, strict=True))
    (stranger,) = (r for r in told if r["state"] == "unknown")
    assert "tranger" in stranger["name"]
    assert marks.read_table(target / "collected.csv") == told


def test_late_submissions_are_added_and_nothing_is_lost(tmp_path, course) -> None:
    first = exported(tmp_path, {"ann/small.ipynb": b"1", "ben/small.ipynb": b"1"}, zipped=False)
    target = tmp_path / "in"
    collect(first, target, "1_small", None, course)
    collect(first, target, "1_small", None, course)
    assert not (target / ".before").exists()
    late = tmp_path / "late"
    late.mkdir()
    files = {"ben/small.ipynb": b"2", "cem/small.ipynb": b"1"}
    collect(exported(late, files, zipped=True), target, "1_small", None, course)
    assert content(target) == {"ann": b"1", "ben": b"2", "cem": b"1"}
    assert [p.read_bytes() for p in (target / ".before").rglob("*.ipynb")] == [b"1"]


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..\\evil", "a/../../b"])
def test_no_path_leads_out_of_the_folder(tmp_path, course, name) -> None:
    source = exported(tmp_path, {f"{name}.ipynb": b"x"}, zipped=True)
    collect(source, tmp_path / "place" / "in", "1_small", None, course)
    outside = [p for p in tmp_path.rglob("*.ipynb") if tmp_path / "place" / "in" not in p.parents]
    assert outside == []


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_costs_nobody_else(tmp_path, course, packed) -> None:
    path = tmp_path / "export.zip"
    noise = np.random.default_rng(0).bytes(2000)
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("ann/small.ipynb", noise)
        archive.writestr("ben/small.ipynb", b"y")
    raw = bytearray(path.read_bytes())
    raw[60:200] = bytes(b ^ 255 for b in raw[60:200])
    path.write_bytes(raw)
    told = collect(path, tmp_path / "in", "1_small", None, course)
    assert {r["id"]: r["state"] for r in told} == {"ann": "unreadable", "ben": "collected"}


def test_what_cannot_be_read_is_told(tmp_path, course) -> None:
    source = exported(tmp_path, {"ann/small.ipynb": b"x" * 1000, "ben/small.ipynb": b"y"}, True)
    raw = source.read_bytes()
    source.write_bytes(raw.replace(b"x" * 100, b"z" * 100, 1))
    told = collect(source, tmp_path / "in", "1_small", None, course)
    assert {r["id"]: r["state"] for r in told} == {"ann": "unreadable", "ben": "collected"}
    folder = exported(tmp_path, {"ben/small.ipynb": b"y"}, zipped=False)
    (folder / "ann").mkdir()
    (folder / "ann" / "small.ipynb").symlink_to(folder / "ben" / "small.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    told = collect(folder, tmp_path / "in2", "1_small", None, course)
    states = {r["id"]: r["state"] for r in told}
    assert states == {"ann": "unreadable", "ben": "collected", "pipe": "unreadable"}


@pytest.mark.parametrize(
    ("roster", "assignment", "says"),
    [
        (None, "9_none", "no assignment '9_none'"),
        ("id,name\na,A\na,B\n", "1_small", "must be different"),
        ("id,name\na/b,A\n", "1_small", "letters and digits"),
        ("name\nA\n", "1_small", "lacks the columns"),
    ],
)
def test_bad_input_is_refused(tmp_path, course, roster, assignment, says) -> None:
    source = exported(tmp_path, {"ann/small.ipynb": b"x"}, zipped=True)
    if roster:
        (tmp_path / "roster.csv").write_text(roster)
    path = tmp_path / "roster.csv" if roster else None
    with pytest.raises(ValueError, match=says):
        collect(source, tmp_path / "in", assignment, path, course)


def test_grading_reads_a_roster_as_collecting_does(tmp_path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("id;name\n u1;A\nu2 ;B\n")
    (tmp_path / "u1").mkdir()
    assert list(grade.students(tmp_path)[0]) == ["u1", "u2"]
    roster.write_text("id;name\n../u1;A\n")
    with pytest.raises(ValueError, match=r"roster: ids must .* got \['\.\./u1'\]"):
        grade.students(tmp_path)


def test_what_is_no_export_is_refused(tmp_path, course) -> None:
    with pytest.raises(ValueError, match="neither a folder nor a zip"):
        collect(Path(__file__), tmp_path / "in", "1_small", None, course)
