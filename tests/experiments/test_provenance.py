"""Where a run took place: every key counts, sources are those that run, old records say less."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import amgd
from amgd.errors import EnvironmentFault
from amgd.experiments.provenance import SETTINGS, _environment, changes, surroundings

PACKAGE = Path(amgd.__file__).parent
RESULTS = PACKAGE.parent / "book" / "results"
PLACE = {
    "revision": "a" * 40,
    "source": "b" * 64,
    "environment": {"module": "mine", "source": "c" * 64},
    "python": "3.11.7",
    "system": "Linux x86_64",
    "libc": "glibc 2.36",
    "processor": "one",
    "simd": "X86_V2",
    "blas": {"numpy": "openblas 0.3.31 Zen", "scipy": "openblas 0.3.30 Zen"},
    "torch": "AVX2",
    "settings": {},
    "versions": {"amgd": "0.1.0", "numpy": "2.4.1", "torch": "2.13.0"},
}


def elsewhere(code="", *, env=(), environment=None, path=()):
    """Surroundings in a process of its own, after some code."""
    text = (
        f"{code}\nimport json\nfrom amgd.experiments.provenance import surroundings\n"
        f"print(json.dumps(surroundings({environment!r})))"
    )
    search = os.pathsep.join([*map(str, path), str(PACKAGE.parent)])
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", text],
        env=os.environ | {"PYTHONPATH": search} | dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- what is written down -------------------------------------------------------------------------
@pytest.mark.parametrize("environment", [None, "CartPole-v0", "Swimmer-v5", "amgd/GridWorld-v0"])
def test_surroundings_are_plain_and_the_same_again(environment):
    place = surroundings(environment)
    assert json.loads(json.dumps(place)) == place == surroundings(environment)
    assert set(place) == set(PLACE)
    for value in place.values():
        entries = value.values() if isinstance(value, dict) else [value]
        assert all(entry is None or isinstance(entry, str) for entry in entries)
    assert not any(changes(place, place))


def test_surroundings_belong_to_the_caller():
    place = surroundings()
    place["versions"]["numpy"] = place["blas"]["numpy"] = "1"
    assert surroundings()["versions"]["numpy"] == np.__version__
    assert surroundings()["blas"]["numpy"] != "1"


def test_another_process_is_at_the_same_place():
    assert elsewhere() == surroundings()
    assert elsewhere(environment="CartPole-v0") == surroundings("CartPole-v0")


def test_the_grid_world_does_not_load_torch_nor_a_robot_its_renderer():
    code = """
import sys
from amgd.experiments.provenance import surroundings
assert surroundings()["torch"] is None and surroundings()["environment"] is None
assert not {"torch", "matplotlib", "mujoco"} & set(sys.modules)
assert surroundings("Ant-v5")["environment"]["module"] == "gymnasium.envs.mujoco.ant_v5"
assert "gymnasium.envs.mujoco" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# --- every key counts -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "value", "kind", "words"),
    [
        ("python", "3.12.0", "place", "Python 3.11.7 there, 3.12.0 here"),
        ("system", "Darwin arm64", "place", "system Linux x86_64 there, Darwin arm64 here"),
        ("libc", "musl 1.2", "place", "C library glibc 2.36 there, musl 1.2 here"),
        ("processor", "two", "place", "processor one there, two here"),
        ("simd", "X86_V2 X86_V3", "place", "NumPy's instruction sets X86_V2 there, X86_V2 X86_V3"),
        ("torch", "AVX512", "place", "PyTorch's instruction set AVX2 there, AVX512 here"),
        ("torch", None, "place", "PyTorch's instruction set AVX2 there, none here"),
        (
            "blas",
            PLACE["blas"] | {"numpy": "openblas 0.3.31 SkylakeX"},
            "place",
            "BLAS kernel of numpy openblas 0.3.31 Zen there, openblas 0.3.31 SkylakeX here",
        ),
        ("blas", {"scipy": "openblas 0.3.30 Zen"}, "place", "of numpy .* Zen there, none here"),
        ("settings", {"MKL_CBWR": "AVX2"}, "place", "MKL_CBWR none there, AVX2 here"),
        (
            "versions",
            PLACE["versions"] | {"numpy": "2.5.0"},
            "place",
            "numpy 2.4.1 there, 2.5.0 here",
        ),
        ("versions", PLACE["versions"] | {"minigrid": "3"}, "place", "minigrid none there, 3 here"),
        ("source", "d" * 64, "program", "source of amgd bbbbbbbbbbbb there, dddddddddddd here"),
        (
            "environment",
            {"module": "mine", "source": "d" * 64},
            "program",
            "source of the environment mine cccccccccccc there, mine dddddddddddd here",
        ),
        (
            "environment",
            {"module": "yours", "source": "c" * 64},
            "program",
            "environment mine cccccccccccc there, yours",
        ),
        ("environment", None, "program", "source of the environment mine c* there, none here"),
        (
            "environment",
            {"module": "__main__", "source": None},
            "unrecorded",
            "source of the environment not recorded here",
        ),
    ],
)
def test_a_change_is_told_and_is_of_one_kind(key, value, kind, words):
    found = changes(PLACE, PLACE | {key: value})
    assert {name for name in found._fields if getattr(found, name)} == {kind}
    (told,) = getattr(found, kind)
    assert re.match(words, told) or re.search(words, told)
    back = changes(PLACE | {key: value}, PLACE)
    assert {name for name in back._fields if getattr(back, name)} == {kind}


def test_the_commit_and_the_version_of_amgd_are_left_to_its_source():
    other = PLACE | {"revision": "z" * 40, "versions": PLACE["versions"] | {"amgd": "9"}}
    assert not any(changes(PLACE, other))


@pytest.mark.parametrize("key", sorted(PLACE.keys() - {"revision"}))
def test_what_is_missing_is_neither_equal_nor_different(key):
    less = {name: value for name, value in PLACE.items() if name != key}
    for pair, side in (((less, PLACE), "there"), ((PLACE, less), "here"), ((less, less), "either")):
        found = changes(*pair)
        assert found.place == found.program == []
        (told,) = found.unrecorded
        assert told.endswith(
            f"not recorded {side}" if side != "either" else "not recorded in either"
        )


def test_several_changes_are_all_told():
    other = PLACE | {"processor": "two", "libc": "musl", "source": "e" * 64}
    found = changes(PLACE, other)
    assert len(found.place) == 2
    assert len(found.program) == 1


@pytest.mark.parametrize(
    "manifest", sorted(RESULTS.glob("*/manifest.json")), ids=lambda p: p.parent.name
)
def test_old_records_say_what_they_lack(manifest):
    for place in json.loads(manifest.read_text("utf8"))["surroundings"]:
        found = changes(place, PLACE)
        lacking = {"libc", "simd", "blas", "torch", "settings", "source", "environment"} - set(
            place
        )
        assert len(found.unrecorded) == len(lacking)
        assert any(word.startswith("processor") for word in found.place)


# --- kernels --------------------------------------------------------------------------------------
@pytest.mark.skipif("X86" not in surroundings()["simd"], reason="names kernels of x86")
def test_another_kernel_of_openblas_is_another_place():
    if "openblas" not in surroundings()["blas"].get("numpy", ""):
        pytest.skip("numpy has another BLAS")
    places = [elsewhere(env={"OPENBLAS_CORETYPE": kernel}) for kernel in ("Haswell", "Nehalem")]
    found = changes(*places)
    assert len(found.place) == len(places[0]["blas"])
    for word in found.place:
        assert re.fullmatch(r"BLAS kernel of \w+ .* Haswell there, .* Nehalem here", word)
    assert not found.program
    assert not found.unrecorded


def test_another_instruction_set_of_torch_is_another_place():
    place = elsewhere(env={"ATEN_CPU_CAPABILITY": "default"}, environment="CartPole-v0")
    assert place["torch"] == "DEFAULT"
    here = surroundings("CartPole-v0")
    if here["torch"] != "DEFAULT":
        assert changes(here, place).place == [
            f"PyTorch's instruction set {here['torch']} there, DEFAULT here"
        ]


def test_another_instruction_set_of_numpy_is_another_place():
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    if not found:
        pytest.skip("this processor has the baseline alone")
    place = elsewhere(env={"NPY_DISABLE_CPU_FEATURES": found[-1]})
    (word,) = changes(surroundings(), place).place
    assert word.startswith("NumPy's instruction sets")
    assert found[-1] not in place["simd"]


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_kernels_are_another_place(name):
    value = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2"}.get(name, "AVX2")
    place = elsewhere(env={name: value})
    assert place["settings"][name] == value
    assert f"{name} none there, {value} here" in changes(surroundings(), place).place


# --- the program ----------------------------------------------------------------------------------
@pytest.fixture
def package(tmp_path):
    """A copy of the package, in a folder of its own."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "amgd", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def git(folder, *arguments):
    author = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    command = ["git", *author, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("td/learning.py", b"import", b"import "),
        ("errors.py", b"", b"# a word\n"),
        ("new.py", None, b""),
        ("reinforce/baselines.py", b"", None),
    ],
    ids=["edited", "added to", "new", "deleted"],
)
def test_an_edit_of_the_package_is_another_program(package, name, old, new):
    before = elsewhere(path=[package])
    assert before["source"] == surroundings()["source"]
    file = package / "amgd" / name
    if new is None:
        file.unlink()
    else:
        file.write_bytes(b"" if old is None else file.read_bytes().replace(old, new, 1))
    after = elsewhere(path=[package])
    assert changes(before, after).program == [
        f"source of amgd {before['source']:.12} there, {after['source']:.12} here"
    ]
    assert not changes(before, after).place


def test_another_name_of_a_file_is_another_program(package):
    before = elsewhere(path=[package])
    file = package / "amgd" / "td" / "features.py"
    file.rename(file.with_stem("featurez"))
    assert elsewhere(path=[package])["source"] != before["source"]


def test_other_files_and_other_ends_of_lines_are_the_same_program(package):
    before = elsewhere(path=[package])
    (package / "amgd" / "notes.txt").write_text("a word")
    for file in (package / "amgd").rglob("*.py"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert elsewhere(path=[package])["source"] == before["source"]


def test_a_process_has_the_source_that_it_imported(package):
    edit = f"""
import amgd.experiments.provenance
from pathlib import Path
file = Path({str(package / "amgd" / "errors.py")!r})
file.write_text(file.read_text() + "# later")
"""
    before = elsewhere(path=[package])["source"]
    assert elsewhere(edit, path=[package])["source"] == before
    assert elsewhere(path=[package])["source"] != before


def test_the_commit_is_that_of_the_package(package):
    assert elsewhere(path=[package])["revision"] == "not a git checkout"
    git(package, "init", "-q")
    # Installed inside of some other repository, the package does not claim its commit.
    git(package, "commit", "-q", "--allow-empty", "-m", "other")
    assert elsewhere(path=[package])["revision"] == "not a git checkout"
    git(package, "add", ".")
    git(package, "commit", "-q", "-m", "amgd")
    head = git(package, "rev-parse", "HEAD")
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    assert elsewhere(path=[package], env=env)["revision"] == head
    (package / "other").write_text("")
    assert elsewhere(path=[package], env=env)["revision"] == head
    (package / "amgd" / "errors.py").write_text((package / "amgd" / "errors.py").read_text() + "#")
    assert elsewhere(path=[package], env=env)["revision"] == head + "+changes"
    assert elsewhere(path=[package], env={"PATH": ""})["revision"] == "not a git checkout"


# --- the source of an environment -----------------------------------------------------------------
MINE = """
import gymnasium
{imports}

class Mine(gymnasium.Env):
    pass

gymnasium.register("Mine-v0", entry_point={entry})
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Sources of an environment in `tmp_path`, as a new process sees them."""
    monkeypatch.syspath_prepend(tmp_path)
    modules, registered = dict(sys.modules), dict(gymnasium.registry)

    def forget():  # the next look imports again
        for table, before in ((sys.modules, modules), (gymnasium.registry, registered)):
            for key in set(table) - set(before):
                del table[key]
        _environment.cache_clear()
        importlib.invalidate_caches()

    def look(name):
        module, digest, versions = _environment(name)
        forget()
        return PLACE | {"environment": {"module": module, "source": digest}, "versions": versions}

    yield look
    forget()


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def mine(imports="", entry="Mine"):
    return MINE.format(imports=imports, entry=entry)


@pytest.mark.parametrize(
    ("name", "files", "edited", "counts"),
    [
        ("mine:Mine-v0", {"mine.py": mine()}, "mine.py", True),
        ("mine:Mine-v0", {"mine.py": mine(entry="'mine:Mine'")}, "mine.py", True),
        ("mine:Mine-v0", {"mine.py": mine(), "other.py": ""}, "other.py", False),
        ("mine:Mine-v0", {"mine.py": mine("import other"), "other.py": ""}, "other.py", True),
        (
            "mine:Mine-v0",
            {
                "mine.py": mine("def f():\n    from a import b"),
                "a.py": "import c\nb = 1",
                "c.py": "",
            },
            "c.py",
            True,
        ),
        (
            "names:Mine-v0",
            {"names.py": mine(entry="'world:Mine'"), "world.py": mine()},
            "world.py",
            True,
        ),
        (
            "names:Mine-v0",
            {"names.py": mine(entry="'world:Mine'"), "world.py": mine()},
            "names.py",
            True,
        ),
        (
            "kit.worlds.mine:Mine-v0",
            {
                "kit/__init__.py": "",
                "kit/worlds/__init__.py": "",
                "kit/worlds/mine.py": mine("from ..physics import step"),
                "kit/physics.py": "from . import constants\nstep = 1",
                "kit/constants.py": "",
                "kit/plots.py": "",
            },
            "kit/constants.py",
            True,
        ),
        (
            "kit.mine:Mine-v0",
            {"kit/__init__.py": "", "kit/mine.py": mine(), "kit/plots.py": ""},
            "kit/__init__.py",
            True,
        ),
        (
            "kit.mine:Mine-v0",
            {"kit/__init__.py": "", "kit/mine.py": mine(), "kit/plots.py": ""},
            "kit/plots.py",
            False,
        ),
        ("kit.mine:Mine-v0", {"kit/mine.py": mine()}, "kit/mine.py", True),  # no __init__.py
        (
            "mine:Mine-v0",
            {
                "mine.py": mine(
                    "from gymnasium.envs.registration import WrapperSpec\n"
                    "wrapper = WrapperSpec('W', 'wraps:W', {})",
                    "Mine, additional_wrappers=(wrapper,)",
                ),
                "wraps.py": "",
            },
            "wraps.py",
            True,
        ),
        (
            "mine:Mine-v0",
            {"mine.py": mine("import functools", "functools.partial(Mine)")},
            "mine.py",
            True,
        ),
    ],
    ids=[
        "class",
        "string",
        "not imported",
        "imported",
        "imported twice removed, inside a function",
        "entry elsewhere",
        "registered elsewhere",
        "relative in a package",
        "around it in a package",
        "not imported in a package",
        "namespace package",
        "wrapper",
        "partial",
    ],
)
def test_an_edit_of_an_environment_is_another_program(
    tmp_path, source, name, files, edited, counts
):
    write(tmp_path, files)
    before = source(name)
    (tmp_path / edited).write_text((tmp_path / edited).read_text() + "\n# edited")
    found = changes(before, source(name))
    assert (bool(found.program), found.place, found.unrecorded) == (counts, [], [])


def test_the_folder_of_an_environment_does_not_count(tmp_path, source, monkeypatch):
    """As a cluster has it elsewhere than the machine that looks at its records."""
    found = []
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        write(folder, {"mine.py": mine("import other"), "other.py": ""})
        monkeypatch.syspath_prepend(folder)
        found.append(source("mine:Mine-v0"))
    assert found[0] == found[1]
    (folder / "other.py").write_text("# edited")
    assert source("mine:Mine-v0") != found[1]


def test_an_installed_environment_has_the_version_of_its_distribution(
    tmp_path, source, monkeypatch
):
    site = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(site)
    write(
        site,
        {
            "worlds/__init__.py": mine(),
            "many_worlds-1.5.dist-info/METADATA": "Metadata-Version: 2.1\n"
            "Name: many-worlds\nVersion: 1.5\n",
            "many_worlds-1.5.dist-info/RECORD": "worlds/__init__.py,,\n",
            "many_worlds-1.5.dist-info/top_level.txt": "worlds\n",
        },
    )
    place = source("worlds:Mine-v0")
    assert place["versions"]["many-worlds"] == "1.5"
    assert place["environment"]["module"] == "worlds"


def test_an_environment_without_a_file_has_no_source(source):
    """As one that a notebook defines."""
    gymnasium.register("Mine-v0", type("Mine", (gymnasium.Env,), {"__module__": "cell_3"}))
    assert source("Mine-v0")["environment"] == {"module": "cell_3", "source": None}


def test_an_environment_that_is_not_there_is_told():
    with pytest.raises(ValueError, match="'CartPol-v0'; did you mean CartPole-v0"):
        surroundings("CartPol-v0")
    with pytest.raises(EnvironmentFault, match="there is no module nowhere"):
        surroundings("nowhere:CartPole-v0")


def test_gymnasiums_own_environments_have_the_source_of_their_module():
    sources = {
        name: surroundings(name)["environment"]
        for name in ("CartPole-v0", "CartPole-v1", "Acrobot-v1", "Swimmer-v5", "Ant-v4", "Ant-v5")
    }
    assert sources["CartPole-v0"] == sources["CartPole-v1"]
    assert len({place["source"] for place in sources.values()}) == 5
