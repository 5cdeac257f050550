"""What a user sees of a record: `amgd table`, `figure`, `status`, and the TOML they are given."""

import csv
import io
import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from commands import amgd, refused

from amgd.experiments.experiment import from_toml
from amgd.experiments.figures import record_figure
from amgd.experiments.records import MANIFEST, Record
from amgd.experiments.summaries import FORMATS, MEASURES, measured, summarise

MINE = """
kind = "reinforce"
variants = ["plain", "ghadimi_lan", "matched"]
seeds = 3
threshold = 12.5

[training]
environment = "CartPole-v0"
hidden = [4]
iterations = 3
batch = 2
evaluation_episodes = 2
horizon = 20
lr = 0.1
"""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A folder with mine.toml and results/mine, made from it."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.toml").write_text(MINE)
    amgd("run", folder / "mine.toml", "--jobs", 1, "--out", folder / "results")
    return folder


@pytest.fixture
def here(recorded, tmp_path, monkeypatch):
    """The working directory with that record in it."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def first_words(table):
    """The variants in the first column of a text table."""
    return [re.split(r"  +", line)[0] for line in table.split("\n\n")[1].splitlines()[2:]]


# --- the TOML that a command is given -------------------------------------------------------------
@pytest.mark.parametrize("command", ["table", "figure", "check", "status", "run"])
def test_a_file_that_is_not_there_is_refused(here, command):
    assert "nowhere/mine.toml: No such file" in refused(command, "nowhere/mine.toml")
    Path("bad.toml").write_text("kind = 1")
    assert "bad.toml: kind must be" in refused(command, "bad.toml")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("lr = 0.1", "lr = 0.2", "training.lr was 0.1, is 0.2"),
        ("hidden = [4]", "hidden = [5]", "training.hidden was [4], is [5]"),
        ('"CartPole-v0"', '"CartPole-v1"', "training.environment was 'CartPole-v0'"),
        ("[training]", "[rates]\nplain = [0.2]\n[training]", "training.lr was 0.1, is 0.2"),
    ],
)
@pytest.mark.parametrize("command", ["table", "figure", "check", "status"])
def test_a_file_with_other_runs_is_refused_and_told_what_differs(here, command, old, new, told):
    Path("mine.toml").write_text(MINE.replace(old, new))
    error = refused(command, "mine.toml")
    assert "results/mine belongs to another specification" in error
    assert told in error
    assert amgd(command, "mine").err == ""  # by the record's name it is still readable


def test_a_file_says_what_is_shown(here):
    whole = amgd("table", "mine.toml").out
    assert first_words(whole) == ["SGD", "AMGD with gamma_k = k beta / 2", "SGD with matched steps"]
    assert "reach 12.5" in whole
    Path("mine.toml").write_text(MINE.replace("12.5", "9"))
    assert "reach 9" in amgd("table", "mine.toml").out
    fewer = MINE.replace(', "matched"', "").replace("seeds = 3", "seeds = 2")
    Path("mine.toml").write_text(fewer)
    table = amgd("table", "mine.toml", "--format", "json").out
    assert [(row["variant"], row["n"]) for row in json.loads(table)["mine"]] == [
        ("plain", 2),
        ("ghadimi_lan", 2),
    ]
    amgd("figure", "mine.toml")
    assert re.findall(r"<!-- (.*\(n = \d+\)) -->", Path("mine.svg").read_text()) == [
        "SGD (n = 2)",
        r"AMGD with $\gamma_k=k\beta/2$ (n = 2)",
    ]
    assert amgd("status", "mine.toml").out.startswith("mine: 4 of 4 runs")
    assert re.findall(r": (\S+) is equal", amgd("check", "mine.toml", "--seeds", "0-1").out) == [
        f"{variant}-seed0{seed}" for variant in ("plain", "ghadimi_lan") for seed in (0, 1)
    ]
    Path("mine.toml").write_text(MINE.replace("seeds = 3", "seeds = 5"))
    assert amgd("status", "mine.toml").out.startswith("mine: 9 of 15 runs")
    assert Record("results/mine").spec == from_toml(MINE)  # to look changes nothing


@pytest.mark.parametrize(
    "name",
    ["mine", "mine.toml", "MINE.TOML", "results/mine", "results/mine/", "./results/mine",
     "{}/results/mine"],
)  # fmt: skip
def test_names_of_one_record(here, name):
    name = name.format(here)
    if name == "MINE.TOML":  # the record has the file's name
        Path(name).write_text(MINE)
        Path("results/mine").rename("results/MINE")
    stem = Path(name).stem
    assert first_words(amgd("table", name).out)[0] == "SGD"
    assert amgd("status", name).out.startswith(f"{stem}: 9 of 9 runs")
    assert amgd("figure", name).out == f"{stem}.svg\n"
    assert "plain-seed00 is equal, 2 rows" in amgd("check", name, "--rows", 2).out


# --- table ----------------------------------------------------------------------------------------
def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def parsed(text, form):
    """Tables by the name of their record, each a list of rows with the variant's words first."""
    if form == "json":
        return {
            name: [list(row.values())[1:] for row in rows]
            for name, rows in json.loads(text).items()
        }
    if form == "csv":
        head, *rows = csv.reader(io.StringIO(text), strict=True)
        assert {len(row) for row in rows} == {len(head)}
        assert head[:3] == ["record", "variant", "name"]
        return {name: [row[2:] for row in rows if row[0] == name] for name in {r[0] for r in rows}}
    parts = text.removesuffix("\n").split("\n\n")
    assert len(parts) % 3 == 0  # title, table, verdicts
    assert all(note.startswith("Verdicts on the ") for note in parts[2::3])
    tables = {}
    for title, table in zip(parts[::3], parts[1::3], strict=True):
        lines = table.splitlines()
        if form == "markdown":
            rows = [cells(line) for line in lines if set(line) - set("|-: ")]
        elif form == "latex":
            assert title.startswith("% ")
            title = title.removeprefix("% ")
            begin = re.fullmatch(r"\\begin\{tabular\}\{(l+)\}", lines[0])
            assert lines[-1] == r"\end{tabular}"
            rows = [
                re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in lines if "&" in line
            ]
            rows = [[cell.strip() for cell in row] for row in rows]
            assert {len(row) for row in rows} == {len(begin[1])}
            for cell in (cell for row in rows for cell in row):
                assert cell.count("$") % 2 == 0
                assert cell.count("{") == cell.count("}")
                assert not re.search(r"(?<!\\)[%#&]|±", cell)
                assert not re.search(r"(?<!\\)[_^]", re.sub(r"\$.*?\$", "", cell))
        else:
            starts = [found.start() for found in re.finditer("-+", lines[1])]
            fields = [slice(*ends) for ends in pairwise([*starts, None])]
            rows = [[line[one].strip() for one in fields] for line in (lines[0], *lines[2:])]
        assert {len(row) for row in rows} == {len(rows[0])}
        tables[title] = rows[1:]
    return tables


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_each_format_is_read_by_its_parser(copy, form, several):
    """For one panel and for the two of a figure; only Markdown and LaTeX have formulas."""
    first, second = "figure1-grid10-smoke", "figure1-grid50-smoke"
    shutil.copytree(copy / first, copy / second)
    name = ("figure1", "--preset", "smoke") if several else (first,)
    text = amgd("table", *name, "--out", copy, "--format", form).out
    tables = parsed(text, form)
    assert set(tables) == ({first, second} if several else {first})
    tex = form in ("markdown", "latex")
    for found in tables.values():
        expected = summarise(Record(copy / first))
        assert [row[0] for row in found] == [s.name if tex else s.text for s in expected]
    if form == "csv":
        means = [float(row["run_mean"]) for row in csv.DictReader(io.StringIO(text))]
    elif form == "json":
        means = [row["run_mean"] for rows in json.loads(text).values() for row in rows]
    else:
        return
    assert means == [float(s.area.mean) for _ in tables for s in expected]  # all digits


def test_a_table_of_cartpole_has_no_tex_where_none_is_read(made):
    name = ("figure2-cartpole-smoke", "--out", made[0])
    for form in ("text", "csv", "json"):
        assert not set("$\\") & set(amgd("table", *name, "--format", form).out)
    assert r"$\gamma_k=k\beta/2$" in amgd("table", *name, "--format", "latex").out
    assert amgd("table", *name).out == amgd("table", *name, "--format", "text").out


@pytest.mark.parametrize("measure", MEASURES)
def test_a_table_names_the_quantity_of_its_verdicts(made, measure):
    name, record = "figure2-cartpole-smoke", Record(made[0] / "figure2-cartpole-smoke")
    options = ("table", name, "--out", made[0], "--measure", measure, "--threshold", 14)
    words = {"mean": "mean over the run", "end": "end", "updates": "updates to 14.0"}[measure]
    text = amgd(*options).out
    # Three pairs have eight patterns of signs, two of which are the furthest.
    assert (
        f"Verdicts on the {words}: sign-flip tests, Holm's correction for m = 6, n = 3 pairs, "
        "smallest p 0.25." in " ".join(text.split())
    )
    assert "reach 14 " in text
    (rows,) = json.loads(amgd(*options, "--format", "json").out).values()
    plain, other = (
        measured(record, variant, measure=measure, threshold=14.0).values
        for variant in ("plain", "theorem1")
    )
    found = next(row for row in rows if row["variant"] == "theorem1")
    assert found["difference_mean"] == pytest.approx(np.mean([other[s] - plain[s] for s in plain]))
    assert (found["quantity"], found["comparisons"], found["smallest_p"]) == (words, 6, 0.25)


def test_updates_need_a_threshold(made):
    error = refused("table", "figure1-grid10-smoke", "--out", made[0], "--measure", "updates")
    assert "pass threshold" in error
    assert "--measure" in refused("table", "figure1-grid10-smoke", "--measure", "best", code=2)


@pytest.mark.parametrize("form", FORMATS)
def test_runs_that_all_diverge_at_their_first_row_have_a_table(tmp_path, form):
    spec = from_toml(MINE)
    record = Record.create(tmp_path / "wild", spec)
    for variant in ("plain", "matched"):
        for seed in range(3):
            rows = {"k": np.zeros(0, dtype=np.int64)}
            record.add(variant, seed, rows, 0.1, diverged="at iteration 0: return is not finite")
    text = amgd("table", "wild", "--out", tmp_path, "--format", form).out
    assert "3" in text
    assert "diverge" in text
    if form == "json":
        assert [row["diverged"] for row in json.loads(text)["wild"]] == [3, 3]
    for command in (("status",), ("figure", "--to", tmp_path / "a.svg")):
        amgd(command[0], "wild", "--out", tmp_path, *command[1:])


# --- figure ---------------------------------------------------------------------------------------
def png_size(path):
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


@pytest.mark.parametrize(("width", "dpi"), [(3.0, 100), (3.25, 200), (6.4, 50), (12, 30)])
def test_a_png_has_the_width_and_the_dots_that_were_asked_for(made, tmp_path, width, dpi):
    path = tmp_path / "a.png"
    amgd("figure", "figure2-cartpole-smoke", "--out", made[0], "--to", path, "--width", width,
         "--dpi", dpi)  # fmt: skip
    assert png_size(path)[0] == round(width * dpi)


@pytest.mark.parametrize(("option", "value"), [("--width", 1), ("--dpi", 0), ("--width", "wide")])
def test_widths_and_dots_that_nobody_can_draw_are_refused(made, option, value):
    assert option in refused("figure", "figure2-cartpole-smoke", option, value, code=2)


@pytest.mark.parametrize("width", [3.0, 3.4, 4.5, 5.2, 6.4, 10.0])
def test_no_word_leaves_a_figure_of_any_width(width):
    """Seven curves, a band, a threshold and small panels, as the record of the paper has them."""
    record = Record(Path(__file__).resolve().parents[2] / "book" / "results" / "figure2-cartpole")
    figure = record_figure(record, width=width)
    figure.draw_without_rendering()
    page = figure.bbox
    words = [text for axes in figure.axes for text in (*axes.texts, axes.title)]
    words += [text for axes in figure.axes if axes.get_legend() for text in axes.get_legend().texts]
    boxes = [text.get_window_extent() for text in words]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    titles = [axes.title.get_window_extent() for axes in figure.axes[1:]]
    assert not any(a.overlaps(b) for i, a in enumerate(titles) for b in titles[:i])
    plt.close(figure)


def test_a_picture_says_what_it_shows(made, tmp_path):
    """n, the band, the threshold, and the axes of the small panels, in its words."""
    path = tmp_path / "a.svg"
    amgd("figure", "figure2-cartpole-smoke", "--out", made[0], "--to", path)
    words = re.findall("<!-- (.*) -->", path.read_text())
    assert "SGD with matched steps (n = 3)" in words
    assert "90% t-band of the mean" in words
    assert "solved: 195" in words
    assert "CartPole-v0" in words
    panels = 7
    assert words.count("return") == 1 + 2  # two rows of small panels
    assert words.count("updates $k$") == 1 + 4  # the lowest panel of each of four columns
    assert sum(word in ("SGD", "SGD with matched steps") for word in words) == 2
    assert len([w for w in words if w.endswith("(n = 3)")]) == panels


@pytest.mark.parametrize(
    ("environment", "values", "least", "most"),
    [
        ("CartPole-v0", (1.0, 1.0, 200.0), 1.0, 200.0),
        ("Acrobot-v1", (-500.0, -500.0, 0.0), -500.0, 0.0),
        ("Acrobot-v1", (-500.0, 0.0, 0.0), -500.0, 0.0),
        ("Swimmer-v5", (-500.0, -500.0, 0.0), None, None),  # nothing is known of its returns
        ("CartPole-v1", (-500.0, -500.0, 0.0), None, None),  # an option has chosen other rewards
    ],
)
def test_a_band_ends_where_returns_do_and_the_picture_says_so(
    tmp_path, monkeypatch, environment, values, least, most
):
    option = "options = {sutton_barto_reward = true}\n" * (environment == "CartPole-v1")
    text = MINE.replace("CartPole-v0", environment).replace("horizon = 20\n", option)
    spec = from_toml(text)
    record = Record.create(tmp_path / "mine", spec)
    for seed, value in enumerate(values):
        rows = {"k": np.arange(4), "evaluation_return": np.full(4, value)}
        record.add("plain", seed, rows, 0.1)
    from amgd.experiments import figures

    drawn, draw = [], figures.record_figure
    monkeypatch.setattr(
        figures, "record_figure", lambda *a, **o: drawn.append(draw(*a, **o)) or drawn[0]
    )
    path = tmp_path / "a.svg"
    amgd("figure", "mine", "--out", tmp_path, "--to", path)
    band = drawn[0].axes[0].collections[0].get_paths()[0].vertices[:, 1]
    cut = "90% t-band of the mean, cut to the possible"
    words = re.findall("<!-- (.*) -->", path.read_text())
    if least is None:
        assert band.min() < -500
        assert band.max() > 0
        assert cut not in words
    else:
        assert (band.min(), band.max()) == (least, most)
        assert cut in words


def test_a_curve_that_hides_another_is_named(tmp_path):
    record = Record.create(tmp_path / "mine", from_toml(MINE))
    for variant in ("plain", "ghadimi_lan", "matched"):
        for seed in range(3):
            values = np.arange(4.0) + seed + (variant == "ghadimi_lan")
            record.add(variant, seed, {"k": np.arange(4), "evaluation_return": values}, 0.1)
    amgd("figure", "mine", "--out", tmp_path, "--to", tmp_path / "a.svg")
    words = re.findall(r"<!-- (.* \(n = 3\)) -->", (tmp_path / "a.svg").read_text())
    assert words == [
        "SGD (n = 3)",
        r"AMGD with $\gamma_k=k\beta/2$ (n = 3)",
        "SGD with matched steps, equal to SGD (n = 3)",
    ]


@pytest.mark.parametrize("file", ["a.PNG", "a.Pdf", "a.SVG"])
def test_endings_in_capitals(made, tmp_path, file):
    amgd("figure", "figure1-grid10-smoke", "--out", made[0], "--to", tmp_path / file)
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[file[2:].lower()]
    assert (tmp_path / file).read_bytes().startswith(start)


def test_fonts_of_a_pdf_are_truetype(made, tmp_path):
    """Type 3 fonts are refused by most journals."""
    path = tmp_path / "a.pdf"
    amgd("figure", "figure2-cartpole-smoke", "--out", made[0], "--to", path)
    content = path.read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content


# --- status ---------------------------------------------------------------------------------------
def test_a_figure_of_which_a_panel_is_missing_shows_the_others(copy, monkeypatch):
    monkeypatch.chdir(copy)
    for command in (("table",), ("figure",), ("check", "--variants", "plain")):
        done = amgd(command[0], "figure1", "--preset", "smoke", "--out", copy, *command[1:], code=1)
        assert "figure1-grid10-smoke" in done.out
        assert done.err.startswith(f"amgd: no record in {copy}/figure1-grid50-smoke")


def test_status_goes_on_behind_what_it_cannot_read(copy):
    shutil.copytree(copy / "figure1-grid10-smoke", copy / "another")
    (copy / "figure1-grid10-smoke" / MANIFEST).write_text("{")
    done = amgd("status", "--out", copy, code=1)
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "another",
        "figure2-cartpole-smoke",
    ]
    assert re.fullmatch(
        r"amgd: .*figure1-grid10-smoke/manifest.json is torn or edited.*\n", done.err
    )


@pytest.mark.parametrize("stem", ["plain-seed01", "tuning-0.03-seed1001"])
def test_status_says_when_a_record_mixes_surroundings_and_how_they_differ(copy, stem):
    folder = copy / "figure2-cartpole-smoke"
    name = folder.name
    assert "mixes" not in amgd("status", name, "--out", copy).out
    manifest = json.loads((folder / MANIFEST).read_text())
    place = dict(manifest["surroundings"][0])
    place |= {"processor": "Z80", "environment": {"module": "mine", "source": "f" * 64}}
    manifest["surroundings"].append(place)
    manifest["files"][stem]["surroundings"] = [0, 1]  # it went on elsewhere
    (folder / MANIFEST).write_text(json.dumps(manifest))
    assert "mixes 2 surroundings" in amgd("status", "--out", copy).out
    lines = amgd("status", name, "--out", copy).out.splitlines()
    assert lines[0].endswith("mixes 2 surroundings")
    variant = "plain" if stem.startswith("plain") else "tuned"
    assert [line.split()[0] for line in lines if "mixes" in line] == [f"{name}:", variant]
    mixture = (
        r"1 \(29 runs, there\) and 2 \(1 runs?, here\): processor .* there, Z80 here; "
        r"source of the environment gymnasium\S* \w{12} there, mine f{12} here"
    )
    assert re.search(f"{mixture}$", lines[-1])
