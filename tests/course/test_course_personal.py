"""Each student has data of their own, handed out and graded by the same number."""

import json
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="the coursework needs the extra 'teach'")
pytest.importorskip("resource", reason="grading needs process limits (Linux, macOS)")

from small_course import TEXT, TOML, make

from tools.course import build, grade, marks, personal
from tools.course.sandbox import FULL, isolation
from tools.course.submissions import is_test

ASSIGNMENTS = build.assignments()
OWN_DATA = {
    "data = np.arange(3.0)": f"data = {personal.DRAWN}.uniform(size=3)",
    "[0, 2, 4]": "[data[0] * 2, *(data[1:] * 2)]",
    "total == 3": "np.isclose(total, sum(data))",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The small course with data that are drawn, for each student anew."""
    folder = tmp_path_factory.mktemp("course")
    assignment = make(folder)
    text = TEXT
    for old, new in OWN_DATA.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    assignment.text.write_text(text, "utf8")
    told = 'secret = "a secret of this course"\nown_values = true\n'
    (folder / "course.toml").write_text(told + TOML)
    return folder


def setup(notebook) -> str:
    return next(c.source for c in notebook.cells if "YEAR = " in c.source)


def test_own_data_are_graded_as_they_were_handed_out(course, tmp_path) -> None:
    """Right answers pass with the data of each; a number that a neighbour has found does not."""
    (tmp_path / "roster.csv").write_text("id,name\nann,Ann A\nben,Ben B\ncleo,Cleo C\n")
    assert personal.hand_out(tmp_path / "roster.csv", tmp_path / "in", course) == 3
    (assignment,) = build.assignments(course)
    answers = {c.id: c.source for c in assignment.read().cells}
    paths = {p.parent.parent.name: p for p in (tmp_path / "in").rglob("*.ipynb")}
    notebooks = {s: nbformat.read(path, as_version=4) for s, path in paths.items()}
    assert len({setup(n) for n in notebooks.values()}) == 3
    space: dict = {}
    exec(setup(notebooks["ann"]), space)
    for student, notebook in notebooks.items():
        for cell in notebook.cells:
            if build.nbgrader_entry(cell).get("solution"):
                cell.source = answers[cell.id]
                if cell.id == "s-total" and student != "ben":
                    cell.source = f"total = {space['data'].sum()}"
        paths[student].write_text(build.written(notebook))
    isolated = isolation() == FULL
    rows = grade.grade(tmp_path / "in", tmp_path / "out", isolated=isolated, course=course)
    assert {r["student"]: r["by_tests"] for r in rows} == {"ann": 10, "ben": 10, "cleo": 9}
    told = marks.read_table(tmp_path / "out" / "review.csv")
    assert [r for r in told if r["what"] == "changed cell"] == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_data_of_each_assignment_are_drawn_in_its_set_up(assignment) -> None:
    release = build.release_notebook(assignment.read())
    ann, ben = (personal.personal(release, own) for own in (11, 12))
    assert setup(ann) != setup(ben) != setup(release)
    changed = [c.id for c, d in zip(ann.cells, release.cells, strict=True) if c != d]
    assert len(changed) == 1
    assert not any(is_test(c) for c in ann.cells if c.id in changed)
    assert build.written(personal.personal(release, None)) == build.written(release)


def test_without_own_values_all_get_the_same(tmp_path) -> None:
    make(tmp_path)
    assert personal.own_number(tmp_path, "ann") is None
    (tmp_path / "course.toml").write_text(f"own_values = true\n{TOML}")
    numbers = {s: personal.own_number(tmp_path, s) for s in ("ann", "ben")}
    (tmp_path / "course.toml").write_text(f'own_values = true\nsecret = "{"x" * 16}"\n{TOML}')
    others = {s: personal.own_number(tmp_path, s) for s in ("ann", "ben")}
    assert len({*numbers.values(), *others.values()}) == 4, json.dumps([numbers, others])


@pytest.mark.parametrize("secret", ['"short"', "7"])
def test_a_secret_that_can_be_guessed_is_refused(tmp_path, secret) -> None:
    make(tmp_path)
    (tmp_path / "course.toml").write_text(f"secret = {secret}\n{TOML}")
    with pytest.raises(ValueError, match=r"at least 16 characters: got \d; python -c"):
        build.settings(tmp_path)
