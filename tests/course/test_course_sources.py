"""The text of the assignments: shape, generated notebooks, leaks, and what the self-checks say."""

import json
import re
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="the coursework needs the extra 'teach'")

import small_course

from tools.course import adversary, build, rates, similar
from tools.course.same import HERE, SHAPE, TYPE
from tools.course.submissions import is_hidden, is_test

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = build.assignments()
YEAR = build.settings()["year"]
HEAD = re.compile(
    r"^Points: (\d+) \((\d+) visible tests, (\d+) hidden tests, (\d+) by hand\)\. "
    r"Pass: (\d+) points\. Time: at most (\d+) hours\. Run time: under (\d+) minutes?\.$",
    re.M,
)
FEWEST = 20  # years of a rate; `make course-rates` brings all to a hundred
HELPER = "from tools.course.same import same"  # stands in many hidden tests
LEAK = 20  # shorter lines (`return total`) say nothing


@pytest.fixture(params=ASSIGNMENTS, ids=lambda a: a.name)
def assignment(request) -> build.Assignment:
    return request.param


PAPERS = [
    pytest.param((a, choice), id=f"{a.name}-{n + 1}")
    for a in ASSIGNMENTS
    for n, choice in enumerate(small_course.papers(a))
]
SECRETS = [f"a secret of the year {year}" for year in range(2027, 2032)]


@pytest.fixture
def source(assignment) -> nbformat.NotebookNode:
    return assignment.read()


@pytest.fixture
def release(source) -> nbformat.NotebookNode:
    return build.release_notebook(source)


def entry(cell) -> dict:
    return build.nbgrader_entry(cell)


def secret_lines(cell) -> list[str]:
    """Lines of a source cell that no release may hold."""
    lines = cell.source.splitlines()
    marks = [
        i for i, line in enumerate(lines) if re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)", line)
    ]
    if marks:
        regions = zip(marks[::2], marks[1::2], strict=True)
        lines = [line for start, end in regions for line in lines[start + 1 : end]]
    elif not entry(cell).get("solution"):
        return []
    told = (line.strip() for line in lines)
    return [line for line in told if len(line) >= LEAK and line != HELPER]


# ---------------------------------------------------------------- generated notebooks


def test_notebooks_are_what_their_text_gives() -> None:
    assert build.stale() == [], "run make course"


def test_generation_is_deterministic(assignment, source) -> None:
    again = assignment.read()
    assert build.written(again) == build.written(source)
    assert build.written(build.release_notebook(again)) == build.written(
        build.release_notebook(source)
    )


def test_a_source_survives_editing_as_a_notebook(assignment, tmp_path) -> None:
    everything = build.written(assignment.everything())
    (tmp_path / "a.ipynb").write_text(everything, "utf8")
    text = build.notebook_text(tmp_path / "a.ipynb")
    assert build.written(build.source_notebook(text, YEAR)) == everything


def test_the_year_changes_data_in_all_notebooks(assignment) -> None:
    later = build.source_notebook(assignment.text.read_text("utf8"), YEAR + 1)
    lines = [c.source for c in build.release_notebook(later).cells]
    assert any(f"YEAR = {YEAR + 1}" in s for s in lines)
    assert not any(f"YEAR = {YEAR}\n" in s for s in lines)


# ---------------------------------------------------------------- leaks


def leaks(source, release) -> dict[str, str]:
    """Secret lines that can be read in a release, by the cell they come from."""
    secrets = {line: c.id for c in source.cells for line in secret_lines(c)}
    assert len(secrets) > 20
    public = json.loads(build.written(release))["cells"]
    text = "\n".join(line.strip() for c in public for line in "".join(c["source"]).split("\n"))
    return {cell: line for line, cell in secrets.items() if line in text}


def test_no_secret_stands_in_a_release(assignment, source, release) -> None:
    assert leaks(assignment.everything(), release) == {}
    whole = build.written(release)
    for mark in ("SOLUTION", "HIDDEN TESTS", "Rubric.", "Common mistakes"):
        assert mark not in whole
    for planted in assignment.wrong + assignment.right:
        assert f"{planted.stem}.py" not in whole


@pytest.mark.parametrize("kind", ["solution", "hidden test", "model answer"])
def test_the_leak_test_sees_a_leak(source, release, kind) -> None:
    """A secret line that a question repeats is found, whatever it comes from."""
    of_kind = {
        "solution": lambda c: c.cell_type == "code" and entry(c).get("solution"),
        "hidden test": is_hidden,
        "model answer": lambda c: c.cell_type == "markdown" and entry(c).get("solution"),
    }[kind]
    cell, secret = next((c, s) for c in source.cells if of_kind(c) for s in secret_lines(c))
    release.cells[0].source += f"\nHint: write {secret}."
    assert cell.id in leaks(source, release)


def test_every_answer_of_a_release_is_open(release) -> None:
    for cell in release.cells:
        if entry(cell).get("solution"):
            stub = "NotImplementedError" if cell.cell_type == "code" else "Write your answer here"
            assert stub in cell.source, cell.id


# ---------------------------------------------------------------- shape


@pytest.fixture(params=PAPERS)
def one_paper(request) -> nbformat.NotebookNode:
    """A source notebook with one variant of each question."""
    assignment, choice = request.param
    return build.chosen(assignment.everything(), choice)


def test_the_head_tells_points_time_and_pass_rule(one_paper) -> None:
    head = HEAD.search(one_paper.cells[0].source)
    assert head, "the first cell must hold the line 'Points: ... Run time: ...'"
    total, visible, hidden, by_hand, needed, hours, minutes = map(int, head.groups())
    graded = [c for c in one_paper.cells if entry(c).get("grade")]
    points = {c.id: entry(c)["points"] for c in graded}
    assert total == 40 == sum(points.values())
    assert visible == sum(points[c.id] for c in graded if is_test(c) and not is_hidden(c))
    assert hidden == sum(points[c.id] for c in graded if is_test(c) and is_hidden(c))
    assert by_hand == sum(points[c.id] for c in graded if not is_test(c))
    assert needed == build.settings()["pass_share"] * total
    assert hours <= 3
    assert minutes <= 5


def test_hidden_tests_are_announced_and_hold_nothing_else(one_paper) -> None:
    for before, cell in zip(one_paper.cells, one_paper.cells[1:], strict=False):
        if not is_hidden(cell):
            continue
        said = before.source.strip().splitlines()[-1]
        assert re.match(rf"Hidden test, {entry(cell)['points']} points?: .{{10,}}\.$", said), (
            cell.id
        )
        visible = [line for line in cell.source.splitlines() if line.strip()]
        assert visible[0].startswith("# hidden test, ")
        assert visible[1] == "### BEGIN HIDDEN TESTS"
        assert visible[-1] == "### END HIDDEN TESTS"


def test_visible_tests_explain_themselves(one_paper) -> None:
    import ast

    for cell in one_paper.cells:
        if is_test(cell):
            asserts = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Assert)]
            assert asserts, cell.id
            assert [ast.unparse(n) for n in asserts if n.msg is None] == [], cell.id
            if not is_hidden(cell):
                said = [ast.unparse(n.msg).lstrip("f").strip("\"'") for n in asserts]
                assert [m for m in said if not m.startswith((TYPE, SHAPE, HERE))] == [], cell.id


def test_cells_are_named_once_and_locked(one_paper) -> None:
    names = [entry(c)["grade_id"] for c in one_paper.cells if entry(c)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", n) for n in names)
    for cell in one_paper.cells:
        assert entry(cell).get("locked", False) == (is_test(cell) or "YEAR = " in cell.source), (
            cell.id
        )


def test_one_question_is_judged_by_hand_with_a_rubric(one_paper) -> None:
    (manual,) = [c for c in one_paper.cells if c.cell_type == "markdown" and entry(c).get("grade")]
    assert entry(manual)["solution"]
    assert "\nRubric.\n" in manual.source
    assert "Common mistakes:" in manual.source
    awarded = [int(n) for n in re.findall(r"^\(\w\) (\d+) points?:", manual.source, re.M)]
    assert sum(awarded) == entry(manual)["points"]


def test_tests_use_only_set_up_and_answers(one_paper) -> None:
    """A test cell must not need what another test cell, or a cell that only draws, has defined."""
    tester = pytest.importorskip("tools.course.tester")
    setup = "\n".join(
        c.source for c in one_paper.cells if entry(c).get("locked") and not is_test(c)
    )
    answers = [c for c in one_paper.cells if c.cell_type == "code" and not entry(c).get("locked")]
    drawn = [c for c in answers if rates.SKIP in c.metadata.get("tags", [])]
    given = defined(setup) | {n for c in answers if c not in drawn for n in defined(c.source)}
    for cell in one_paper.cells:
        if is_test(cell):
            assert set(tester.names_in(cell.source)) <= given, cell.id
    assert set(tester.names_in(setup)) == set(), "set-up must not use answers"


def defined(code: str) -> set[str]:
    import symtable

    symbols = symtable.symtable(code, "cell", "exec").get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()}


# ---------------------------------------------------------------- variants


BANKED = [a for a in ASSIGNMENTS if build.bank(a.everything())]


def test_variants_may_stand_for_each_other(assignment) -> None:
    """Equal points, and no name of one variant is needed outside of it."""
    known = build.bank(assignment.everything())
    assert all(len(set(variants.values())) == 1 for variants in known.values())
    assert all(len(variants) >= 2 for variants in known.values())
    tester = pytest.importorskip("tools.course.tester")
    needed: dict[tuple[str, str], set[str]] = {}
    made: dict[tuple[str, str], set[str]] = {}
    for cell, *place in build.places(assignment.everything()):
        if cell.cell_type == "code":
            needed.setdefault(tuple(place), set()).update(tester.names_in(cell.source))
            if not is_test(cell):
                made.setdefault(tuple(place), set()).update(defined(cell.source))
    given = set(made.get(("", ""), set()))
    for question, variants in known.items():
        given |= set.intersection(*(made[question, name] for name in variants))
    for place, names in needed.items():
        others = {n for other, own in made.items() if other != place for n in own}
        tests = {n for n in names if n in others}
        assert tests <= given | made.get(place, set()), place


def test_each_programming_question_has_variants(assignment) -> None:
    answers = [(c, q) for c, q, _ in build.places(assignment.everything()) if entry(c)]
    alone = {c.id for c, q in answers if not q and c.cell_type == "code" and entry(c)["solution"]}
    assert (alone == set()) == (assignment in BANKED)


@pytest.mark.parametrize("assignment", BANKED, ids=lambda a: a.name)
def test_a_secret_chooses_a_paper(assignment) -> None:
    everything = assignment.everything()
    known = build.bank(everything)
    public = build.choose(known, assignment.name, "")
    assert public == {question: next(iter(names)) for question, names in known.items()}
    found = [build.choose(known, assignment.name, secret) for secret in SECRETS]
    assert len({tuple(choice.items()) for choice in found}) >= 3
    for secret, choice in zip(SECRETS, found, strict=True):
        assert choice == build.choose(known, assignment.name, secret), "the same secret, the same"
        same = sum(known[q][name] for q, name in choice.items() if name == public[q])
        assert 3 * same <= sum(known[q][name] for q, name in choice.items())


def test_hidden_tests_draw_from_the_secret(assignment) -> None:
    """Each hidden test that draws gets a seed of its own, which no release holds."""
    one, other = (build.paper(assignment.everything(), assignment.name, s) for s in SECRETS[:2])
    seeds = {}
    for cell in one.cells:
        if is_hidden(cell):
            drawn = cell.source.count("default_rng(")
            told = re.findall(r"\[YEAR, (\d{6,}), ", cell.source)
            assert bool(told) == bool(drawn), cell.id
            assert not re.search(r"YEAR\]|rng\(YEAR", cell.source), cell.id
            seeds |= dict.fromkeys(told, cell.id)
    assert len(seeds) == len(set(seeds.values())) >= 5
    texts = [build.written(n) for n in (other, build.release_notebook(one))]
    assert not [seed for seed in seeds for text in texts if seed in text]


def named(code: str) -> list[str]:
    """Functions and classes that an answer defines."""
    import ast

    return [n.name for n in ast.parse(code).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]


def as_asked(answer: str, wanted: str) -> str:
    """A public answer under the names, and with as many arguments, as another variant asks for."""
    code = f"import inspect\n{answer}\n"
    for n, name in enumerate(named(wanted)):
        old = named(answer)[min(n, len(named(answer)) - 1)]
        code += f"""
def {name}(*given, answer={old}, count=len(inspect.signature({old}).parameters)):
    return answer(*given[:count])
"""
    return code


@pytest.mark.parametrize("secret", SECRETS[:2])
@pytest.mark.parametrize("assignment", BANKED, ids=lambda a: a.name)
def test_public_answers_score_a_third_at_most(assignment, secret, monkeypatch) -> None:
    """Also if somebody gives them the names that are asked for."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    everything = assignment.everything()
    papers = [assignment.read(), build.paper(everything, assignment.name, secret)]
    question_of = {cell.id: question for cell, question, _ in build.places(everything)}
    public: dict[str, dict[str, str]] = {}
    asked: dict[str, dict[str, str]] = {}
    for notebook, answers in zip(papers, (public, asked), strict=True):
        for cell in notebook.cells:
            if cell.cell_type == "code" and entry(cell).get("solution"):
                answers.setdefault(question_of[cell.id], {})[cell.id] = cell.source
    handed_in = {}
    for question, cells in asked.items():
        old = list(public[question].items())
        for n, (cell, code) in enumerate(cells.items()):
            name, answer = old[min(n, len(old) - 1)]
            handed_in[cell] = answer if name == cell else as_asked(answer, code)
    points = {c.id: entry(c)["points"] for c in papers[1].cells if is_test(c)}
    run = rates.Script(assignment, YEAR, handed_in, secret)
    assert {name for name, is_a_test, _ in run.cells if is_a_test} == set(points)
    failed = {f.cell for f in run.failures()}
    assert 3 * sum(p for cell, p in points.items() if cell not in failed) <= sum(points.values())


@pytest.mark.parametrize("secret", SECRETS[:2])
@pytest.mark.parametrize("assignment", BANKED, ids=lambda a: a.name)
def test_model_answers_pass_the_paper_of_a_secret(assignment, secret, monkeypatch) -> None:
    """Variants of different questions go together, and other seeds of hidden tests are fair."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert list(rates.Script(assignment, YEAR, secret=secret).failures()) == []


# ---------------------------------------------------------------- planted answers


def planted(kind: str) -> list:
    return [
        pytest.param(a, path, id=f"{a.name}-{path.stem}")
        for a in ASSIGNMENTS
        for path in getattr(a, kind)
    ]


@pytest.mark.parametrize(("assignment", "path"), planted("wrong") + planted("right"))
def test_a_planted_solution_replaces_answers_only(assignment, path: Path) -> None:
    answers = {c.id: c.source for c in assignment.everything().cells if entry(c).get("solution")}
    for cell, code in rates.read_planted(path).cells.items():
        assert cell in answers
        assert code != answers[cell]
        compile(code, cell, "exec")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("wrong", '"""A mistake."""\n# %% s-double\npass'),
        ("wrong", '"""A mistake.\n\ncaught by: s-double-check\n"""\npass'),
        ("right", '"""A style.\n\ncaught by: s-double-check\n"""\n# %% s-double\npass'),
        ("right", '"""A style.\n\nsays: no\n"""\n# %% s-double\npass'),
        ("right", "# %% s-double\npass"),
        ("right", '"""A style."""\npass'),
    ],
)
def test_a_planted_solution_that_tells_too_little_or_too_much_is_refused(
    kind, text, tmp_path
) -> None:
    path = tmp_path / kind / "1_small" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ValueError, match="must have a docstring"):
        rates.read_planted(path)


@pytest.mark.parametrize(("assignment", "path"), planted("right"))
def test_a_right_solution_passes(assignment, path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert list(rates.Script(assignment, YEAR, rates.read_planted(path).cells).failures()) == []


def test_each_question_is_answered_in_other_styles(assignment) -> None:
    right = [rates.read_planted(p) for p in assignment.right]
    assert len(right) >= 4
    assert len({r.about for r in right}) == len(right)
    for cell in assignment.everything().cells:
        if cell.cell_type == "code" and entry(cell).get("solution"):
            answers = {r.cells[cell.id] for r in right if cell.id in r.cells}
            assert len(answers) >= 2, cell.id


@pytest.mark.parametrize(("assignment", "path"), planted("wrong"))
def test_a_wrong_solution_fails_and_is_told_why(assignment, path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    wrong = rates.read_planted(path)
    failure = next(iter(rates.Script(assignment, YEAR, wrong.cells).failures(first_only=True)))
    assert failure.cell == wrong.caught_by
    assert (wrong.says or "") in failure.message
    assert "AssertionError" in failure.message or wrong.says, "the test breaks instead of failing"


def test_each_visible_test_names_three_mistakes(assignment) -> None:
    wrong = [rates.read_planted(p) for p in assignment.wrong]
    assert len(wrong) >= 6
    everything = assignment.everything()
    for cell in everything.cells:
        named = [w for w in wrong if w.caught_by == cell.id]
        if is_test(cell) and not is_hidden(cell):
            assert len(named) >= 3, f"{cell.id} has {len(named)} wrong answers"
            assert all(w.says for w in named)
            assert len({w.says for w in named}) >= 3, (
                f"{cell.id} says the same of different mistakes"
            )
    hidden = {c.id for c in everything.cells if is_hidden(c)}
    assert sum(w.caught_by in hidden for w in wrong) >= 3


# ---------------------------------------------------------------- empty answers


def test_no_empty_answer_passes_and_no_sequence_fails(assignment) -> None:
    found = adversary.measure(assignment)
    hidden = [c for c in assignment.everything().cells if is_hidden(c)]
    for kind, verdicts in found.items():
        told = verdicts["pass"] + verdicts["fail"]
        if kind != adversary.REPEATED:
            assert {name.split()[0] for name in told} == {c.id for c in hidden}, kind
        assert verdicts["fail" if kind in adversary.EQUAL else "pass"] == [], kind
    recorded = json.loads(adversary.RECORD.read_text("utf8"))[assignment.name]
    assert recorded == adversary.counts(found), "run python -m tools.course.adversary"


def test_the_adversary_finds_a_hole(tmp_path) -> None:
    """The small course compares without a look at shapes: answers without rows pass there."""
    found = adversary.measure(small_course.make(tmp_path))
    passing = {k for k, v in found.items() if "s-double-hidden double" in v["pass"]}
    assert passing - set(adversary.EQUAL) == {"none of the right shape", "one axis too many"}


# ---------------------------------------------------------------- answers that resemble others


def test_other_styles_do_not_resemble_each_other(assignment) -> None:
    found = similar.false_alarms(assignment)
    assert found == json.loads(similar.RECORD.read_text("utf8"))[assignment.name]
    assert found["pairs"] >= 40
    assert found["alarms"] <= 0.02 * found["pairs"]


def disguised(code: str) -> str:
    """The same code with other names, numbers, words and comments."""
    import ast
    import builtins

    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            node.id = f"my_{node.id}"
        elif isinstance(node, ast.arg):
            node.arg = f"my_{node.arg}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = f"mine: {node.value}"
    return "# all mine\n" + ast.unparse(tree)


def test_a_copy_under_other_names_is_told(assignment, tmp_path) -> None:
    """Each long answer, copied from the repository or from a neighbour."""
    public = similar.public_answers(assignment)
    model = public.pop("the model answer")
    long = {cell for cell, code in model.items() if similar.shape(code)}
    assert len(long) >= 3
    paths = {}
    for student, change in (("ann", disguised), ("ben", lambda code: f"helper = 1\n{code}")):
        cells = [{"id": c, "source": change(code)} for c, code in model.items()]
        (tmp_path / student).write_text(json.dumps({"cells": cells}))
        paths[student] = str(tmp_path / student)
    found = similar.findings(paths, public)
    assert {f["cell"] for f in found["ann"]} == long
    assert all(f["detail"].startswith("ben's") for f in found["ann"])
    found = similar.findings({"ann": paths["ann"]}, {"the model answer": model})
    assert {f["cell"]: f["detail"] for f in found["ann"]} == dict.fromkeys(
        long, "the model answer (100%)"
    )


# ---------------------------------------------------------------- fairness


def test_the_reference_passes_this_year(assignment, monkeypatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert list(rates.Script(assignment, YEAR).failures()) == []


def test_measured_rates_are_fair_and_current(assignment) -> None:
    entry = json.loads(rates.RATES.read_text("utf8"))[assignment.name]
    assert entry["year"] <= YEAR < entry["year"] + 100
    reference = entry["reference"]
    assert reference["runs"] >= 100
    solutions = [(None, reference)]
    solutions += [(p, entry["right"].get(p.name, {})) for p in rates.rights(assignment)]
    wrong = map(rates.read_planted, assignment.wrong)
    solutions += [(p, entry["wrong"].get(p.name, {})) for p in wrong]
    old = [s and s.name for s, rate in solutions if not rates.current(assignment, s, rate, FEWEST)]
    assert old == [], f"run python -m tools.course.rates {assignment.name}"
    assert all(rate.items() >= rates.told(s).items() for s, rate in solutions)
    assert reference["passed"] >= 0.99 * reference["runs"]
    assert set(entry["wrong"]) == {p.stem for p in assignment.wrong}
    assert {k: w for k, w in entry["wrong"].items() if w["failed"] < 0.95 * w["runs"]} == {}
    assert set(entry["right"]) == {p.name for p in rates.rights(assignment)}
    for right in entry["right"].values():
        assert right["passed"] == right["runs"] >= FEWEST
        assert right["refused_by"] == {}


def test_a_rate_counts_what_fails(monkeypatch, tmp_path) -> None:
    """A right solution that one test refuses and a wrong one that passes show in the numbers."""
    small = small_course.make(tmp_path)
    for kind, head in (
        ("wrong", "Not double.\n\ncaught by: s-total-check\n"),
        ("right", "A style."),
    ):
        for name, code in (
            ("passes", "def double(x):\n    return x + x"),
            ("fails", "def double(x):\n    return x"),
        ):
            path = tmp_path / kind / small.name / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'"""{head}"""\n\n# %% s-double\n{code}\n')
    years = [2030, 2031, 2032]
    entry = rates.measure(small, years, jobs=1)
    assert entry["reference"] == {"passed": 3, "runs": 3, "digest": rates.digest(small)}
    assert {k: w["failed"] for k, w in entry["wrong"].items()} == {"passes": 0, "fails": 3}
    assert {k: r["passed"] for k, r in entry["right"].items()} == {"passes": 3, "fails": 0}
    assert entry["right"]["fails"]["refused_by"] == {"s-double-check": 3}
    assert entry["right"]["passes"]["refused_by"] == {}

    def measured_again() -> set[str]:
        """Solutions that are run once more: with a rate that cannot be, only those are mended."""
        forged = json.loads(
            json.dumps(entry).replace(": 3", ": 2").replace('"runs": 2', '"runs": 3')
        )
        forged["wrong"]["fails"] = entry["wrong"]["fails"]
        again = rates.measure(small, years, 1, forged)
        kinds = [(k, n) for k in ("wrong", "right") for n in again[k]]
        new = {f"{k} {n}" for k, n in kinds if again[k][n] != forged[k][n]}
        return new | ({"reference"} if again["reference"] != forged["reference"] else set())

    assert measured_again() == set()
    path.write_text(path.read_text().replace("return x", "return 3 * x"))
    assert measured_again() == {"right fails"}, "an edited solution is measured anew"
    text = small.text.read_text("utf8")
    small.text.write_text(text.replace("total == 3", "3 == total"), "utf8")
    assert measured_again() == {"reference", "right passes", "right fails", "wrong passes"}, (
        "a new test is run by all that come as far"
    )


def test_a_cell_that_only_draws_is_no_part_of_the_rates(tmp_path) -> None:
    small = small_course.make(tmp_path)
    text, before = small.text.read_text("utf8"), rates.digest(small)
    for head, counts in ((f":tags: [{rates.SKIP}]\n\n", False), ("", True)):
        small.text.write_text(f"{text}\n```{{code-cell}} ipython3\n{head}1 + 1\n```\n", "utf8")
        assert (rates.digest(small) != before) == counts


def test_the_place_of_a_name_is_no_part_of_the_rates(tmp_path) -> None:
    small = small_course.make(tmp_path)
    text, before = small.text.read_text("utf8"), rates.digest(small)
    cell = "```{code-cell} ipython3\n"
    head, _, rest = text.partition(cell)
    for line, counts in (("from math import tau\n", False), ("tau = 6\n", True)):
        start, blank, code = rest.partition("\n\n") if rest.startswith(":") else ("", "", rest)
        small.text.write_text(f"{head}{cell}{start}{blank}{line}{code}", "utf8")
        assert (rates.digest(small) != before) == counts
