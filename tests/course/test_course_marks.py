"""Marks are never lost: the tables that people edit, and totals after any sequence of events."""

import csv
import io
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("nbgrader", reason="the coursework needs the extra 'teach'")
pytest.importorskip("resource", reason="grading needs process limits (Linux, macOS)")

import small_course
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.course import marks

COLUMNS = ("student", "assignment", "cell", "points", "comment")
ROW = {"student": "ann", "assignment": "1_small", "cell": "s-why", "comment": ""}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    small_course.make(folder)
    return folder


def graded(out: Path, student: str, answer: str | None, tests: float = 3.0) -> None:
    """What a run of the grader leaves of a submission."""
    answers = {} if answer is None else {"s-why": answer}
    tests = {"s-double-hidden": tests}
    result = {"state": "graded", "tests": tests, "answers": answers}
    marks.save_result(out, student, "1_small", result)


@pytest.fixture
def out(tmp_path, course) -> Path:
    for student, answer in (("ann", "first"), ("ben", "other"), ("cai", None)):
        graded(tmp_path, student, answer)
    marks.export(tmp_path, course)
    return tmp_path


def table(out: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in marks.read_table(out / "to_grade.csv")}


# ---------------------------------------------------------------- what spreadsheets save


def saved(separator: str, comma: bool, encoding: str, newline: str = "\r\n") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=newline)
    points = "1,5" if comma else "1.5"
    writer.writerows([COLUMNS, ("ann", "1_small", "s-why", points, "good – übrigens: „ja“; a, b")])
    return text.getvalue().encode(encoding)


@pytest.mark.parametrize(
    "content",
    [
        saved(",", False, "utf8"),
        saved(",", False, "utf8", "\n"),
        saved(",", True, "utf-8-sig"),
        saved(";", True, "utf-8-sig"),
        saved(";", True, "cp1252"),
        saved(";", False, "cp1252"),
        saved("\t", True, "utf-16"),
        b"sep=;\r\n" + saved(";", True, "cp1252"),
        saved(",", False, "utf8") + b",,,,\r\n",
        saved(",", False, "utf8").replace(b"student,", b"Student ,"),
    ],
    ids=["utf8", "unix", "mark", "semicolons", "cp1252", "points", "utf16", "sep", "empty", "head"],
)
def test_marks_of_any_spreadsheet_are_read(out, course, content) -> None:
    (out / "to_grade.csv").write_bytes(content)
    assert marks.enter_marks(out, marks.read_table(out / "to_grade.csv"), course) == 1
    (mark,) = marks.ledger(out)
    assert (mark["points"], mark["answer"]) == ("1.5", "first")
    assert mark["comment"] == "good – übrigens: „ja“; a, b"


def test_a_table_without_a_column_is_refused(out) -> None:
    (out / "to_grade.csv").write_text("student;points\nann;1\n")
    with pytest.raises(ValueError, match=r"lacks the columns \['assignment', 'cell'\]: got"):
        marks.read_table(out / "to_grade.csv", COLUMNS[:4])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "'quoted", "a\nb", 'say "a, b"', "\tx"])
def test_a_comment_comes_back_and_is_no_formula(out, text) -> None:
    marks.write_table(out / "a.csv", ("comment",), [{"comment": text}])
    (row,) = marks.read_table(out / "a.csv")
    assert row == {"comment": text}
    assert not (out / "a.csv").read_text("utf8").splitlines()[1].startswith(marks.FORMULA)


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"points": "7"}, "0 to 2"),
        ({"points": "-1"}, "0 to 2"),
        ({"points": "nan"}, "0 to 2"),
        ({"points": "many"}, "must be a number"),
        ({"student": "nobody"}, "no such answer"),
        ({"student": "cai"}, "no such answer"),
        ({"cell": "s-what"}, "no cell 's-what'"),
        ({"assignment": "2_large"}, "no cell"),
        ({"answer": "never given"}, "no such answer"),
    ],
)
def test_a_wrong_row_is_named_and_no_mark_is_entered(out, course, change, says) -> None:
    good = ROW | {"student": "ben", "points": "1"}
    with pytest.raises(ValueError, match=r"to_grade\.csv.*" + says):
        marks.enter_marks(out, [good, ROW | {"points": "1"} | change], course)
    assert marks.ledger(out) == []


@pytest.mark.parametrize(
    ("points", "reason", "says"), [("1", " ", "reason"), ("9", "x", "0 to 3"), ("", "x", "number")]
)
def test_a_wrong_override_is_refused(out, course, points, reason, says) -> None:
    row = ROW | {"cell": "s-double-hidden", "points": points, "reason": reason}
    row.pop("comment")
    marks.write_table(out / "overrides.csv", marks.OVERRIDES, [row])
    with pytest.raises(ValueError, match=r"overrides\.csv.*" + says):
        marks.export(out, course)


# ---------------------------------------------------------------- kept


def test_points_that_are_typed_and_not_entered_stay(out, course) -> None:
    rows = marks.read_table(out / "to_grade.csv")
    rows[0] |= {"points": "0,5", "comment": "later"}
    marks.write_table(out / "to_grade.csv", marks.TO_GRADE, rows)
    typed = (out / "to_grade.csv").read_bytes()
    graded(out, "dan", "late")
    marks.export(out, course)
    assert (table(out)["ann"]["points"], table(out)["ann"]["comment"]) == ("0,5", "later")
    assert table(out)["dan"]["state"] == "waits"
    copies = [p.read_bytes() for p in (out / "before").glob("to_grade.*.csv")]
    assert typed in copies


def test_a_mark_belongs_to_the_answer_that_was_read(out, course) -> None:
    old = marks.read_table(out / "to_grade.csv")[0] | {"points": "2", "comment": "fine"}
    graded(out, "ann", "second")  # handed in again, before the mark was entered
    marks.enter_marks(out, [old], course)
    marks.export(out, course)
    assert (table(out)["ann"]["points"], table(out)["ann"]["answer"]) == ("", "second")
    assert table(out)["ann"]["state"] == "changed since a mark of 2"


def test_an_answer_that_changes_back_has_its_mark_again(out, course) -> None:
    marks.enter_marks(out, [ROW | {"points": "2", "comment": "fine"}], course)
    states = []
    for answer in ("first", "second", "first"):
        graded(out, "ann", answer)
        marks.export(out, course)
        states.append((table(out)["ann"]["points"], table(out)["ann"]["state"]))
    assert states == [("2", "marked"), ("", "changed since a mark of 2"), ("2", "marked")]


def test_a_mark_can_be_changed_and_both_stay_on_record(out, course) -> None:
    for points in ("1", "1", "1.5"):
        marks.enter_marks(out, [ROW | {"points": points}], course)
    assert [m["points"] for m in marks.ledger(out)] == ["1", "1.5"]
    rows = {r["student"]: r for r in marks.export(out, course)}
    assert (rows["ann"]["points"], rows["ann"]["by_hand"]) == (4.5, 1.5)


# ---------------------------------------------------------------- any sequence of events

STUDENTS = st.sampled_from(["ann", "ben", "eve"])
ANSWERS = st.sampled_from([None, "a", "b"])
EVENT = st.one_of(
    st.tuples(st.just("grade"), STUDENTS, ANSWERS, st.sampled_from([0.0, 3.0])),
    st.tuples(st.just("mark"), STUDENTS, st.sampled_from([0.0, 0.5, 2.0])),
    st.tuples(
        st.just("override"),
        STUDENTS,
        st.sampled_from(["s-why", "s-double-hidden"]),
        st.sampled_from([0.0, 1.5]),
    ),
    st.tuples(st.just("unreadable"), STUDENTS),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(EVENT, max_size=10))
def test_totals_are_right_after_any_sequence(course, events) -> None:
    """Against a model with plain dictionaries: what is handed in, what was said of each text."""
    now: dict[str, tuple[str | None, float]] = {}
    said: dict[tuple[str, str], float] = {}
    instead: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for what, student, *rest in events:
            if what == "grade":
                answer, tests = rest
                graded(out, student, answer, tests)
                now[student] = answer, tests
            elif what == "unreadable":
                marks.save_result(out, student, "1_small", {"state": "unreadable"})
                now[student] = None, 0.0
            elif what == "override":
                cell, points = rest
                instead[student, cell] = points
                rows = [
                    {
                        "student": s,
                        "assignment": "1_small",
                        "cell": c,
                        "points": f"{p}",
                        "reason": "x",
                    }
                    for (s, c), p in instead.items()
                ]
                marks.write_table(out / "overrides.csv", marks.OVERRIDES, rows)
            elif now.get(student, (None,))[0] is not None:
                answer = now[student][0]
                marks.export(out, course)
                rows = marks.read_table(out / "to_grade.csv")
                for row in rows:
                    if row["student"] == student:
                        row["points"] = f"{rest[0]}"
                marks.write_table(out / "to_grade.csv", marks.TO_GRADE, rows)
                marks.enter_marks(out, marks.read_table(out / "to_grade.csv"), course)
                if (student, "s-why") not in instead:  # such an answer needs no mark
                    said[student, answer] = rest[0]
            found = {row["student"]: row for row in marks.export(out, course)}
            assert set(found) == set(now)
            for name, (answer, tests) in now.items():
                waits = answer is not None and (name, answer) not in said
                by_hand = said.get((name, answer), 0.0)
                if (name, "s-why") in instead:
                    waits, by_hand = False, instead[name, "s-why"]
                by_tests = instead.get((name, "s-double-hidden"), tests)
                row = found[name]
                assert (row["by_tests"], row["by_hand"]) == (by_tests, by_hand)
                assert row["points"] == by_tests + by_hand
                assert (row["of"], row["waiting"]) == (12, waits)
                may = by_tests + by_hand + 2 * waits
                passed = "yes" if row["points"] >= 6 else "open" if may >= 6 else "no"
                assert row["passed"] == passed
